import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { RawClient, type RawMessage } from '../../helpers/raw-client.js';
import type { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';
import { freshName } from '../../helpers/services.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { connect, SETTINGS, startGatewayFor, startUpstream, textOf, uploadAll } from './lab.js';
import { asked, RawCall } from './raw-call.js';

const MODERN = '2026-07-28';
const [ONE, TWO, THREE, FOUR] = [8, 9, 10, 11].map(noisePng) as [Buffer, Buffer, Buffer, Buffer];
const BOTH = [
  ['one.png', ONE],
  ['two.png', TWO],
] as const;
const base64 = (...files: Buffer[]) => files.map((file) => file.toString('base64'));
const uriOf = (file: Buffer) => `data:image/png;base64,${file.toString('base64')}`;
const imagesIn = (result: unknown) => JSON.parse(textOf(result)).images;

/** A server over stdio whose tool takes a list. */
const STDIO_LIST = {
  command: [
    process.execPath,
    'test/helpers/recording-stdio.fixture.mjs',
    JSON.stringify({ type: 'array', items: { type: 'string' }, maxItems: 3 }),
  ],
  tools: { take: { files: { 'file[]': SETTINGS.take.files.file } } },
};

let upstream: RecordingUpstream;
let wharf: Wharf;

beforeAll(async () => {
  upstream = await startUpstream();
  wharf = await startGatewayFor(upstream);
});

afterAll(async () => {
  await wharf?.stop();
  await upstream?.stop();
});

const calls = () => upstream.with('tools/call').length;

async function begin(args: Record<string, unknown>, capabilities: Record<string, unknown>) {
  return asked(await RawCall.begin(wharf.mcp, 'few', args, { capabilities }));
}

const fieldsIn = (params: RawMessage['params']) =>
  ((params?.requestedSchema ?? {}) as { properties: Record<string, unknown> }).properties;

const endpointIn = (params: RawMessage['params']) =>
  ((params?.uploadEndpoints ?? {}) as { images: { url: string; uploadId: string } }).images;

interface UploadRequired {
  file: { uri: string };
  human: { url: string };
}

describe('a call that lacks a list of files', () => {
  it.each([
    ['a server over HTTP', () => wharf, 'few', 'images', 'images'],
    ['a server over stdio', async () => startWharf({ servers: { docs: STDIO_LIST } }), 'take', 'file', 'value'],
  ] as const)(
    'is finished with both that an SDK client’s user uploads, for %s',
    async (_to, start, name, argument, told) => {
      const gateway = await start();
      const { client, asked, completed } = await connect(gateway.mcp, async ({ url }) => {
        expect(await uploadAll(url, BOTH)).toBe(201);
        return { action: 'accept' };
      });
      const result = await client.callTool({ name, arguments: { [argument]: '@attach' } });
      expect(JSON.parse(textOf(result))[told]).toEqual(base64(ONE, TWO));
      expect(asked).toHaveLength(1);
      expect(completed).toEqual([asked[0]?.elicitationId]);
      await client.close();
      if (gateway !== wharf) await gateway.stop();
    },
  );

  it('says how many, of which size, and together', async () => {
    const { call, answer, question } = await begin({ images: ['@attach'] }, { elicitation: { url: {} } });
    const { id, params } = await question();
    expect(params?.message).toMatch(
      /'few' of the server "docs" needs files for its argument 'images': 2 to 3 files of type image\/png, each of at most 1 MB, together of at most 3\.1 MB\. Open the page to choose and upload them\.$/,
    );
    const state = await fetch(String(params?.url), { headers: { accept: 'application/json' } });
    expect(await state.json()).toMatchObject({ status: 'open', minFiles: 2, maxFiles: 3 });
    await answer(id, { action: 'decline' });
    expect((await call.result()).isError).toBe(true);
    expect(await uploadAll(String(params?.url), BOTH)).toBe(410);
  });

  it('takes neither too few nor too many, and stores nothing of them (1306-26)', async () => {
    const { call, answer, question } = await begin({}, { elicitation: { url: {} } });
    const { id, params } = await question();
    const url = String(params?.url);
    const four = [...BOTH, ['3.png', THREE], ['4.png', FOUR]] as const;
    expect(await uploadAll(url, BOTH.slice(1))).toBe(400);
    expect(await uploadAll(url, four)).toBe(400);
    expect(await uploadAll(url, [...BOTH, ['words.txt', Buffer.from('words')]])).toBe(415);
    const state = await fetch(url, { headers: { accept: 'application/json' } });
    expect(await state.json()).toMatchObject({ status: 'open' });
    expect(await uploadAll(url, four.slice(1))).toBe(201);
    expect(await uploadAll(url, BOTH)).toBe(409);
    expect(imagesIn(await call.result())).toEqual(base64(TWO, THREE, FOUR));
    await answer(id, { action: 'accept' });
  });

  it.each([
    ['by results, for a server over HTTP', () => wharf, 'few', 'images', 'images', { mode: { pin: MODERN } }],
    [
      'on the stream, for a server over stdio',
      () => startWharf({ servers: { docs: STDIO_LIST } }),
      'take',
      'file',
      'value',
      undefined,
    ],
  ] as const)('of an SDK client of the next generation is asked for %s (FB-03, K6)', async (...row) => {
    const [, start, name, argument, told, versionNegotiation] = row;
    const gateway = await start();
    const client = new Client(
      { name: 'asked', version: '1' },
      { capabilities: { elicitation: { url: {} } }, ...(versionNegotiation && { versionNegotiation }) },
    );
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      expect(await uploadAll('url' in params ? String(params.url) : '', BOTH)).toBe(201);
      return { action: 'accept' };
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(gateway.mcp)));
    const result = await client.callTool({ name, arguments: { [argument]: '@attach' } });
    expect(JSON.parse(textOf(result))[told]).toEqual(base64(ONE, TWO));
    await client.close();
    if (gateway !== wharf) await gateway.stop();
  });

  it('of a server over stdio is asked for by results, too (FB-03)', async () => {
    const gateway = await startWharf({ servers: { docs: STDIO_LIST } });
    const about = { capabilities: { elicitation: { url: {} } } };
    const client = RawClient.stateless(gateway.mcp, MODERN, about);
    const call = (more: object = {}) =>
      client.request('tools/call', { name: 'take', arguments: { file: ['@attach'] }, ...more });
    const { result } = await call();
    const { requestState, inputRequests } = result as {
      requestState: string;
      inputRequests: Record<string, { params: { url: string } }>;
    };
    const key = 'wharf-file-1';
    expect(await uploadAll(inputRequests[key]?.params.url, BOTH)).toBe(201);
    const done = await call({ requestState, inputResponses: { [key]: { action: 'accept' } } });
    expect(JSON.parse(textOf(done.result))).toEqual({ value: base64(ONE, TWO) });
    await gateway.stop();
  });

  it('of a client with forms is asked for a list, of which one that cannot be used is asked for again (2356-13)', async () => {
    const { call, answer, question } = await begin({}, { elicitation: { form: {} }, fileInputs: {} });
    const { id, params } = await question();
    expect(fieldsIn(params)).toEqual({
      images: {
        type: 'array',
        title: 'images',
        items: { type: 'string', format: 'uri', 'x-mcp-file': { accept: ['image/png'], maxSize: 1_048_576 } },
        minItems: 2,
        maxItems: 3,
      },
    });
    await answer(id, { action: 'accept', content: { images: [uriOf(ONE)] } });
    const again = await question(2);
    expect(again.params?.message).toMatch(/^The file was not taken: The number of files is 1, and at least 2 are/);
    await answer(again.id, { action: 'accept', content: { images: [uriOf(ONE), uriOf(TWO)] } });
    expect(imagesIn(await call.result())).toEqual(base64(ONE, TWO));
  });

  it('of a client that uploads by itself takes them in one form, and the answer for each (1306-11, 1306-26, 1306-32, 1306-39)', async () => {
    const { call, answer, question } = await begin({}, { elicitation: { binary: {} } });
    const { id, params } = await question();
    expect(fieldsIn(params).images).toMatchObject({ type: 'file', multiple: true, maxSize: 1_048_576 });
    const { url, uploadId } = endpointIn(params);
    expect(await uploadAll(url, BOTH)).toBe(201);
    const said = BOTH.map(([name, { length }]) => ({ name, size: length, mimeType: 'image/png', uploadId }));
    await answer(id, { action: 'accept', content: { images: said } });
    expect(imagesIn(await call.result())).toEqual(base64(ONE, TWO));
  });

  it.each([
    ['fewer files', (said: object[]) => said.slice(1)],
    ['another size', (said: object[]) => said.map((one, at) => (at === 0 ? { ...one, size: 1 } : one))],
    ['another upload', (said: object[]) => said.map((one) => ({ ...one, uploadId: 'other' }))],
  ])('is asked for them again where the answer names %s (1306-33)', async (_what, wrong) => {
    const before = calls();
    const { call, answer, question } = await begin({}, { elicitation: { binary: {} } });
    const first = await question();
    await uploadAll(endpointIn(first.params).url, BOTH);
    const saidFor = (asked: RawMessage) =>
      BOTH.map(([, { length }]) => ({ size: length, uploadId: endpointIn(asked.params).uploadId }));
    await answer(first.id, { action: 'accept', content: { images: wrong(saidFor(first)) } });
    const second = await question(2);
    expect(calls()).toBe(before);
    await answer(second.id, { action: 'accept', content: { images: saidFor(second) } });
    expect(imagesIn(await call.result())).toEqual(base64(ONE, TWO));
  });
});

describe('the handle of several files', () => {
  /** A call that is not asked, and what it is told. */
  async function offered() {
    const client = await RawClient.connect(wharf.mcp, '2025-11-25', { capabilities: {} });
    const { result } = await client.call('few', {});
    const meta = (result?._meta ?? {}) as Record<string, UploadRequired>;
    const required = meta['dev.wharf/uploadRequired'] as UploadRequired;
    const call = async (images: unknown) => (await client.call('few', { images })).result;
    return { client, text: textOf(result), required, call };
  }

  it('stands in the words that a call gets, and later for all of them', async () => {
    const { text, required, call } = await offered();
    const { uri } = required.file;
    expect(uri).toMatch(/^mcp-file:\/\/wharf\/b_[\w-]{22}$/);
    expect(required).toMatchObject({ minFiles: 2, maxFiles: 3 });
    expect(text).toContain("needs files in the argument 'images', and was given none. It takes 2 to 3 files");
    expect(text).toContain('-F file=@FILE1 -F file=@FILE2');
    expect(text).toContain(uri);
    const early = await call(uri);
    expect(early?.isError).toBe(true);
    expect(textOf(early)).toMatch(/is a handle whose file has not been uploaded yet/);
    expect(await uploadAll(required.human.url, BOTH)).toBe(201);
    expect(imagesIn(await call(uri))).toEqual(base64(ONE, TWO));
    expect(imagesIn(await call([uri]))).toEqual(base64(ONE, TWO));
    expect(imagesIn(await call([uriOf(THREE), `<${uri}>`]))).toEqual(base64(THREE, ONE, TWO));
  });

  it('counts once against limits.message, as does a file beside it', async () => {
    const gateway = await startGatewayFor(upstream, { config: { limits: { message: '4kB', inlineArgument: '64kB' } } });
    try {
      const client = await RawClient.connect(gateway.mcp, '2025-11-25', { capabilities: {} });
      const asked = (await client.call('few', {})).result?._meta as Record<string, UploadRequired>;
      const { file, human } = asked['dev.wharf/uploadRequired'] as UploadRequired;
      expect(await uploadAll(human.url, BOTH)).toBe(201);
      const sent = async (images: readonly string[], note: string) => {
        const { messages } = await client.post({
          jsonrpc: '2.0',
          id: 9,
          method: 'tools/call',
          params: { name: 'few', arguments: { images, note } },
        });
        return messages[0]?.error?.data ?? imagesIn(messages[0]?.result);
      };
      const third = noisePng(60);
      const beside = uriOf(third);
      for (const images of [
        [file.uri, beside],
        [beside, file.uri],
      ]) {
        const order = images[0] === beside ? base64(third, ONE, TWO) : base64(ONE, TWO, third);
        expect(await sent(images, 'y '.repeat(1800))).toEqual(order);
        const refused = { code: 'message_too_large', limit: 'limits.message', allowed: 4000 };
        expect(await sent(images, 'y '.repeat(2100))).toMatchObject(refused);
      }
    } finally {
      await gateway.stop();
    }
  });

  it('leaves what is beside it the place that the client has given it, in what is said of it', async () => {
    const { required, call } = await offered();
    const { uri } = required.file;
    await uploadAll(required.human.url, BOTH);
    for (const wrong of ['data:text/plain,x', '/etc/passwd']) {
      const refused = await call([uri, wrong]);
      expect([textOf(refused), refused?.isError]).toEqual([expect.stringContaining("'images[1]'"), true]);
    }
  });

  it('counts as many as it has, and is not the handle of one', async () => {
    const { client, required, call } = await offered();
    const { uri } = required.file;
    await uploadAll(required.human.url, BOTH);
    const many = await call([uri, uri]);
    expect(textOf(many)).toMatch(/'images' has 4 files; it takes at most 3/);
    const one = await client.call('take', { file: uri });
    expect(textOf(one.result)).toMatch(/takes one file, and this is the handle of several/);
    const unknown = await call('mcp-file://wharf/b_AAAAAAAAAAAAAAAAAAAAAA');
    expect(textOf(unknown)).toMatch(/is not the handle of a file of yours/);
  });

  it('is not authorized for one download or read as one file: each has its own handle, which the error names (2631-05)', async () => {
    const { client, required } = await offered();
    const { uri } = required.file;
    const authorize = async (one: string) => (await client.request('files/authorizeDownload', { uri: one })).error;
    expect((await authorize(uri))?.data).toMatchObject({ reason: 'uploadIncomplete' });
    await uploadAll(required.human.url, BOTH);
    const error = await authorize(uri);
    expect(error).toMatchObject({ code: -32602, data: { reason: 'tooManyFiles' } });
    const handles = error?.message.match(/mcp-file:\/\/wharf\/f_[\w-]{22}/g) ?? [];
    const bytes = handles.map(async (handle) => {
      const { result } = await client.request('files/authorizeDownload', { uri: handle });
      const { url } = (result?.download ?? {}) as { url: string };
      return Buffer.from(await (await fetch(url)).arrayBuffer());
    });
    expect(await Promise.all(bytes)).toEqual([ONE, TWO]);
    const read = await client.request('resources/read', { uri });
    expect(read.error?.message).toContain(
      `This handle stands for 2 files; use the handle of each: ${handles.join(', ')}.`,
    );
    const unknown = await authorize('mcp-file://wharf/b_AAAAAAAAAAAAAAAAAAAAAA');
    expect(unknown?.data).toMatchObject({ reason: 'fileNotFound' });
  });

  it('is authorized where its link has brought one file (2631-46)', async () => {
    const gateway = await startWharf({ servers: { docs: STDIO_LIST } });
    try {
      const client = await RawClient.connect(gateway.mcp, '2025-11-25', { capabilities: {} });
      const meta = (await client.call('take', { file: '@attach' })).result?._meta as Record<string, UploadRequired>;
      const { file, human } = meta['dev.wharf/uploadRequired'] as UploadRequired;
      expect(await uploadAll(human.url, BOTH.slice(1))).toBe(201);
      const { result } = await client.request('files/authorizeDownload', { uri: file.uri });
      expect(result).toMatchObject({ file: { uri: file.uri, name: 'two.png', size: TWO.length } });
      const { url } = (result?.download ?? {}) as { url: string };
      expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(TWO);
    } finally {
      await gateway.stop();
    }
  });
});

it('a list that is uploaded at another replica, a file at each, finishes the call that waits', async () => {
  const shared = { stores: 's3+redis', bucket: freshName('several'), keyPrefix: `${freshName('several')}:` } as const;
  const [waiting, other] = [await startGatewayFor(upstream, shared), await startGatewayFor(upstream, shared)];
  const call = await RawCall.begin(waiting.mcp, 'few', {}, { capabilities: { elicitation: { url: {} } } });
  const { params } = await call.message(({ method }) => method === 'elicitation/create');
  const page = String(params?.url);
  const at = (gateway: Wharf, ticket: string) => new URL(ticket, page.replace(waiting.url, gateway.url)).href;
  const put = async (gateway: Wharf, bytes: Buffer) => {
    const added = await fetch(`${at(gateway, page)}?add`, { method: 'POST' });
    const { id, ticket } = (await added.json()) as { id: string; ticket: string };
    const stored = await fetch(at(gateway, ticket), { method: 'PUT', body: new Uint8Array(bytes) });
    expect([added.status, stored.status]).toEqual([201, 201]);
    return id;
  };
  const ids = await Promise.all([put(waiting, ONE), put(other, TWO), put(other, THREE)]);
  const again = await fetch(`${at(waiting, page)}?add`, { method: 'POST' });
  expect([again.status, ((await again.json()) as { error: { message: string } }).error.message]).toEqual([
    400,
    'The number of files is 4, and at most 3 are taken here.',
  ]);
  // of several that say it is all, at whichever replica, one is heard
  const finish = (gateway: Wharf) =>
    fetch(`${at(gateway, page)}?finish`, { method: 'POST', body: JSON.stringify(ids.toReversed()) });
  const statuses = (await Promise.all([finish(waiting), finish(other)])).map(({ status }) => status);
  expect(statuses.sort()).toEqual([201, 409]);
  expect(imagesIn(await call.result())).toEqual(base64(THREE, TWO, ONE));
  await waiting.stop();
  await other.stop();
});
