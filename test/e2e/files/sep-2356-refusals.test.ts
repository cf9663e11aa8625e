import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RpcError } from '../../helpers/recording-upstream.js';
import { startWharf } from '../../helpers/wharf.js';
import { F1, F2, factsOf, type Json, type Lab, lab } from './recording-lab.js';
import { dataUri, declared, EARLY, PDF, tool } from './sep-2356-lab.js';

const PLAIN = { type: 'string', format: 'uri' };
const TOOLS = [
  tool('image', { image: declared({ accept: ['image/*'], maxSize: 1000 }) }),
  tool('eleven', { image: declared({ maxSize: 11 }) }),
  tool('twelve', { image: declared({ maxSize: 12 }) }),
  tool('loose', { image: declared({ accept: ['.pdf'] }) }),
  tool('strict', { image: declared({ accept: ['.pdf', 'application/pdf'] }) }),
  tool('early', { image: PLAIN }, { inputFiles: { image: { accept: ['image/*'], maxSize: 1000 } } }),
];

describe('SEP-2356: files that are refused before the server is asked', () => {
  let refusing: Lab;
  let early: RawClient;

  beforeAll(async () => {
    refusing = await lab(TOOLS);
    early = await RawClient.connect(refusing.wharf.mcp, '2025-06-18', { capabilities: EARLY });
    await refusing.client.request('tools/list');
  });

  afterAll(() => refusing.stop());

  it('maxSize is that of the decoded bytes (2356-07)', async () => {
    const image = dataUri('text/plain', F1);
    expect(await refusing.refused('eleven', { image })).toMatchObject({ maxSize: 11, actualSize: 12 });
    expect(await refusing.sent('twelve', { image })).toEqual({ image });
  });

  it('what is too large for the server never reaches it (2356-26)', async () => {
    const image = dataUri('image/png', Buffer.concat([F2, Buffer.alloc(2000)]));
    expect(await refusing.refused('image', { image })).toMatchObject({ reason: 'maxSizeExceeded' });
    expect(await refusing.refused('early', { image })).toMatchObject({ reason: 'maxSizeExceeded' });
  });

  it('a refusal is a tool error that names argument, constraint and numbers (2356-27)', async () => {
    const { result, error } = await refusing.client.call('eleven', { image: dataUri('text/plain', F1) });
    expect(error).toBeUndefined();
    expect(result).toEqual({
      isError: true,
      content: [
        {
          type: 'text',
          text: "Argument 'image' is a file of 12 bytes, and this tool takes files of at most 11 bytes there.",
        },
      ],
      _meta: {
        'dev.wharf/fileError': { reason: 'maxSizeExceeded', argument: 'image', maxSize: 11, actualSize: 12 },
      },
    });
  });

  it('in 2026-07-28 too (2356-27)', async () => {
    const client = RawClient.stateless(refusing.wharf.mcp, '2026-07-28', {});
    const { result } = await client.call('eleven', { image: dataUri('text/plain', F1) });
    expect(result).toMatchObject({ resultType: 'complete', isError: true });
    expect(result).not.toHaveProperty('structuredContent');
  });

  it.each([
    ['an address', 'https://example.com/a.png', 'schemeNotAllowed'],
    ['a file address', 'file:///etc/passwd', 'schemeNotAllowed'],
    ['a script', 'javascript:alert(1)', 'schemeNotAllowed'],
    ['a handle of another gateway', 'mcp-file://other/f_AAAAAAAAAAAAAAAAAAAAAA', 'fileNotFound'],
  ])('%s is refused (2356-18)', async (_what, image, reason) => {
    expect(await refusing.refused('image', { image })).toMatchObject({ reason, argument: 'image' });
  });

  it("no address is asked for, not even the server's own (2356-18)", async () => {
    const before = refusing.upstream.requests.length;
    await refusing.refused('image', { image: `${refusing.upstream.origin}/a.png` });
    expect(refusing.upstream.requests).toHaveLength(before);
  });

  it.each(['/etc/passwd', './a.png', 'C:\\a.png', '~/a.png'])('the path %s is refused (2356-47)', async (image) => {
    expect(await refusing.refused('image', { image })).toMatchObject({ argument: 'image' });
  });

  it.each(['word', F2.toString('base64'), F2.toString('base64').replace('A', '\nA'), 'not a file'])(
    '%s is not a file where the server never took base64 (2356-49)',
    async (image) => {
      expect(await refusing.refused('image', { image })).toMatchObject({ reason: 'malformedUri' });
    },
  );

  it.each([
    ['IMAGE/PNG;charset=x', true],
    ['image/svg+xml', true],
    ['imagex/png', false],
    ['text/plain', false],
  ])('for image/*, %s is accepted: %s (2356-29)', async (type, isAccepted) => {
    const image = `data:${type};base64,AAEC/f7/`;
    if (isAccepted) expect(await refusing.sent('image', { image })).toEqual({ image });
    else expect(await refusing.refused('image', { image })).toMatchObject({ reason: 'mimeTypeNotAccepted' });
  });

  it('extensions alone refuse nothing, beside types the types count (2356-30)', async () => {
    const image = dataUri('text/plain', F1);
    expect(await refusing.sent('loose', { image })).toEqual({ image });
    expect(await refusing.refused('strict', { image })).toMatchObject({ reason: 'mimeTypeNotAccepted' });
    const pdf = dataUri('application/pdf', PDF);
    expect(await refusing.sent('strict', { image: pdf })).toEqual({ image: pdf });
  });

  it('the bytes are looked at, whatever the type says (2356-31)', async () => {
    const image = dataUri('image/png', PDF);
    expect(await refusing.refused('image', { image })).toMatchObject({ actualType: 'application/pdf' });
  });

  it('accept holds for every client (2356-32)', async () => {
    const { error } = await early.call('image', { image: dataUri('text/plain', F1) });
    expect(error?.data).toMatchObject({ reason: 'file_type_rejected' });
  });

  it('neither results nor the log repeat what was sent (2356-22)', async () => {
    const secret = Buffer.from('a secret that nobody is to see');
    for (const type of ['image/png', 'text/plain']) {
      const { answer } = await refusing.client.call('eleven', { image: dataUri(type, secret) });
      expect(answer.text).not.toContain(secret.toString('base64').slice(0, 16));
    }
    expect(refusing.wharf.logged()).not.toContain(secret.toString('base64').slice(0, 16));
  });

  it('a client of the early revisions gets a JSON-RPC error (2356o-13)', async () => {
    const { result, error } = await early.call('eleven', { image: dataUri('text/plain', F1) });
    expect(result).toBeUndefined();
    expect(error?.code).toBe(-32602);
    expect(error?.data).toEqual({ reason: 'file_too_large', argument: 'image', maxSize: 11, receivedSize: 12 });
  });

  it.each([
    ['file_too_large', 'eleven', dataUri('text/plain', F1)],
    ['file_type_rejected', 'image', dataUri('text/plain', F1)],
    ['file_uri_malformed', 'image', 'data:image/png;base64,%%%'],
    ['file_scheme_unsupported', 'image', 'https://example.com/a.png'],
  ])('the reason is %s (2356o-14)', async (reason, name, image) => {
    const { error } = await early.call(name, { image });
    expect(error).toMatchObject({ code: -32602, data: { reason, argument: 'image' } });
  });

  it('for a reason of a later time there is a tool error (2356o-14)', async () => {
    const answer = await early.call('image', { image: 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA' });
    expect(answer.result).toMatchObject({ isError: true });
    expect(factsOf(answer)).toMatchObject({ reason: 'fileNotFound' });
  });

  it.each(['https://example.com/a.png', 'file:///tmp/a.png'])(
    'the value %s is refused (2356o-16, 2356o-24)',
    async (image) => {
      expect(await refusing.refused('image', { image })).toMatchObject({ reason: 'schemeNotAllowed' });
    },
  );

  it('also by a client that has not listed the tools, for file addresses (2356o-24)', async () => {
    const fresh = await lab(TOOLS);
    const refused = await fresh.refused('image', { image: 'file:///etc/passwd' });
    expect(refused).toMatchObject({ reason: 'schemeNotAllowed' });
    await fresh.stop();
  });
});

describe('SEP-2356: files that the server refuses', () => {
  const SCHEMA = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
  const FACTS = { reason: 'file_too_large', argument: 'image', maxSize: 10, receivedSize: 70 };
  let answering: Lab;
  let early: RawClient;
  let answer: () => Json;

  beforeAll(async () => {
    const image = { image: PLAIN };
    const sidecar = { inputFiles: { image: {} } };
    answering = await lab(
      [tool('early', image, sidecar), tool('typed', image, { ...sidecar, outputSchema: SCHEMA }), tool('other', {})],
      { methods: { 'tools/call': () => answer() } },
    );
    early = await RawClient.connect(answering.wharf.mcp, '2025-06-18', { capabilities: EARLY });
    await answering.client.request('tools/list');
  });

  afterAll(() => answering.stop());

  const call = (name: string, client = answering.client, image: unknown = dataUri('image/png', F2)) =>
    client.call(name, { image });
  const refuse = (data: Json = FACTS) => {
    answer = () => {
      throw new RpcError(-32602, 'File exceeds maximum size', data);
    };
  };

  it('its error is a tool error for clients of today (2356o-15)', async () => {
    refuse();
    const told = await call('early');
    expect(told.error).toBeUndefined();
    expect(told.result).toMatchObject({ isError: true });
    expect(told.result?.content).toEqual([
      {
        type: 'text',
        text: "Argument 'image' was refused by the server: File exceeds maximum size (it has 70 bytes; at most 10 bytes allowed)",
      },
    ]);
    expect(factsOf(told)).toEqual({ reason: 'maxSizeExceeded', argument: 'image', maxSize: 10, actualSize: 70 });
  });

  it('a client of 2026-07-28 hears that the result is complete (2356o-15)', async () => {
    refuse();
    const { result } = await call('early', RawClient.stateless(answering.wharf.mcp, '2026-07-28', {}));
    expect(result).toMatchObject({ resultType: 'complete', isError: true });
  });

  it('a client of the early revisions gets it as it came (2356o-15)', async () => {
    refuse();
    const { error } = await call('early', early);
    expect(error).toEqual({ code: -32602, message: 'File exceeds maximum size', data: FACTS });
  });

  it.each([
    ['of another reason', { reason: 'no_such_user', argument: 'image' }],
    ['that names no argument', { reason: 'file_too_large' }],
    ['without data', undefined],
  ])('an error %s passes as it came (2356o-15)', async (_what, data) => {
    answer = () => {
      throw new RpcError(-32602, 'No', data);
    };
    const { error } = await call('early');
    expect(error).toEqual(data ? { code: -32602, message: 'No', data } : { code: -32602, message: 'No' });
  });

  it('so does one whose status says that there is no result (2356o-15)', async () => {
    answer = () => {
      throw new RpcError(-32602, 'File exceeds maximum size', FACTS, 400);
    };
    const told = await call('early');
    expect(told.answer.status).toBe(400);
    expect(told.error?.data).toEqual(FACTS);
  });

  it('so does one for a call without files (2356o-15)', async () => {
    refuse();
    expect((await answering.client.call('other', {})).error).toMatchObject({ code: -32602 });
    expect((await answering.client.call('early', {})).error).toMatchObject({ code: -32602 });
  });

  it('a server on stdio is understood as well, whichever clients share its process (2356o-15)', async () => {
    const fixture = fileURLToPath(new URL('../../../../test/helpers/scripted-stdio.fixture.mjs', import.meta.url));
    const wharf = await startWharf({ servers: { early: { command: [process.execPath, fixture, 'refusing'] } } });
    const clients = [await RawClient.connect(wharf.mcp), RawClient.stateless(wharf.mcp, '2026-07-28', {})];
    for (const client of clients) {
      await client.request('tools/list');
      expect(factsOf(await call('early', client))).toEqual({ reason: 'mimeTypeNotAccepted', argument: 'image' });
    }
    await wharf.stop();
  });

  it('a reason in structuredContent is told in _meta as well (2356o-23)', async () => {
    const content = [{ type: 'text', text: 'Too large.' }];
    answer = () => ({ isError: true, content, structuredContent: FACTS, _meta: { own: 1 } });
    expect((await call('early')).result).toEqual({
      isError: true,
      content,
      structuredContent: FACTS,
      _meta: {
        own: 1,
        'dev.wharf/fileError': { reason: 'maxSizeExceeded', argument: 'image', maxSize: 10, actualSize: 70 },
      },
    });
  });

  it('and taken away where the outputSchema does not foresee it (2356o-23)', async () => {
    answer = () => ({ isError: true, content: [], structuredContent: FACTS });
    const told = await call('typed');
    expect(told.result).not.toHaveProperty('structuredContent');
    expect(factsOf(told)).toMatchObject({ reason: 'maxSizeExceeded' });
  });

  it('a result that is no error is not touched (2356o-23)', async () => {
    const result = { content: [], structuredContent: { ...FACTS, text: 'x' } };
    answer = () => result;
    expect((await call('typed')).result).toEqual(result);
  });
});
