import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Peer, startPeer } from '../../contract/transfer/peer.js';
import { trusting } from '../../helpers/client-files.js';
import { PIXEL } from '../../helpers/pixel.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const SECRET = 'sig-4711';

const TOOLS = [
  { name: 'ocr', inputSchema: { type: 'object', properties: { image: { type: 'string' }, name: { type: 'string' } } } },
  {
    name: 'join',
    inputSchema: { type: 'object', properties: { parts: { type: 'array', items: { type: 'string' } } } },
  },
];

describe('a file that a client of OpenAI hands over', () => {
  let peer: Peer;
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  let client: RawClient;

  beforeAll(async () => {
    peer = await startPeer();
    upstream = await RecordingUpstream.start({ tools: TOOLS });
    const image = { encoding: 'base64', name: 'name', maxSize: '100KiB' };
    wharf = await startWharf({
      servers: {
        s: {
          url: upstream.url,
          transport: 'streamable-http',
          tools: { ocr: { files: { image } }, join: { files: { 'parts[]': { encoding: 'object', template: TYPED } } } },
        },
      },
      adapters: trusting(peer),
    });
    // the object is read from any client
    client = await RawClient.connect(wharf.mcp);
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
    await peer.close();
  });

  beforeEach(() => peer.answer((_request, response) => response.end(PIXEL)));

  const TYPED = { type: '$mime', name: '$name', data: '$text' };
  const url = (path = 'file_1') => `${peer.https}/${path}?sig=${SECRET}`;
  const told = (error: unknown) => (error as { text: string }).text;

  /** What a refused call says, and that the server heard nothing of it. */
  async function refusalOf(image: unknown) {
    const before = upstream.with('tools/call').length;
    const { result, answer } = await client.call('ocr', { image });
    expect(result?.isError).toBe(true);
    expect(upstream.with('tools/call')).toHaveLength(before);
    expect(answer.text).not.toContain(SECRET);
    expect(answer.text).not.toContain('file_1');
    const meta = result?._meta as { 'dev.wharf/fileError': Record<string, unknown> };
    return { ...meta['dev.wharf/fileError'], text: told(result?.content?.[0]) };
  }

  it('is fetched at once, and the server gets what it always took (OAI-08, OAI-13, K5)', async () => {
    const image = { download_url: url(), file_id: 'file_1', mime_type: 'image/png', file_name: 'scan.png' };
    const { result } = await client.call('ocr', { image });
    expect(result?.isError).toBeUndefined();
    expect(upstream.lastArguments).toEqual({ image: PIXEL.toString('base64'), name: 'scan.png' });
    expect(upstream.with('tools/call').at(-1)?.body.includes(SECRET)).toBe(false);
    expect(wharf.logged()).not.toContain(SECRET);
    expect(peer.seen[0]?.headers).not.toHaveProperty('authorization');
  });

  it('the two required members are enough, and others of the host’s are no matter (OAI-06, OAI-07)', async () => {
    const image = {
      download_url: url(),
      file_id: 'file_1',
      uri: 'sediment://file_1',
      file_size_bytes: 70,
      library_file_id: null,
    };
    await client.call('ocr', { image });
    expect(upstream.lastArguments.image).toBe(PIXEL.toString('base64'));
  });

  it('the type is what the client says, else what the host says, else what the bytes say (OAI-12)', async () => {
    const types: string[] = [];
    const ask = async (said: string | undefined, sent: string | undefined, body: string) => {
      peer.answer((_request, response) => response.writeHead(200, sent ? { 'content-type': sent } : {}).end(body));
      const part = { download_url: url(), file_id: 'file_1', ...(said && { mime_type: said }) };
      await client.call('join', { parts: [part] });
      types.push((upstream.lastArguments.parts as { type: string }[])[0]?.type as string);
    };
    await ask('text/csv', 'text/plain', 'a,b,c');
    await ask(undefined, 'text/csv', 'a,b,d');
    await ask(undefined, undefined, '%PDF-1.7 and so on');
    await ask(undefined, undefined, '\u0001 what is this');
    expect(types).toEqual(['text/csv', 'text/csv', 'application/pdf', 'application/octet-stream']);
  });

  it('several in an array, in their order, beside other spellings (OAI-05)', async () => {
    peer.answer((request, response) => response.end(`file ${request.url?.slice(1, 2)}`));
    const file = (name: string) => ({ download_url: url(name), file_id: name, file_name: `${name}.txt` });
    await client.call('join', { parts: [file('b'), `data:text/plain;name=c.txt;base64,${btoa('file c')}`, file('a')] });
    expect(upstream.lastArguments.parts).toEqual(
      ['b', 'c', 'a'].map((name) => ({
        type: 'text/plain',
        name: `${name}.txt`,
        data: `file ${name}`,
      })),
    );
  });

  it.each([{}, { uri: 'sediment://file_1' }])('has no address beside its id: %j (OAI-06)', async (more) => {
    expect(await refusalOf({ file_id: 'of-the-host', ...more })).toMatchObject({
      reason: 'malformedUri',
      text: expect.stringContaining('has no download_url'),
    });
  });

  it.each([403, 404, 410, 500])('HTTP %i asks for the file again (OAI-09)', async (status) => {
    peer.answer((_request, response) => response.writeHead(status).end(`no ${SECRET}`));
    expect(await refusalOf({ download_url: url(), file_id: 'x' })).toMatchObject({
      reason: 'unreachable',
      argument: 'image',
      text: expect.stringMatching(new RegExp(`^Argument 'image' .*HTTP ${status}.*Attach the file again\\.$`)),
    });
  });

  it.each([
    ['http:', 'http://files.example/x'],
    ['userinfo', 'https://me:secret@files.example/x'],
    ['loopback', 'https://127.0.0.1/x'],
    ['a private address', 'https://10.0.0.1/x'],
    ['link-local', 'https://169.254.169.254/latest/meta-data'],
    ['IPv6 loopback', 'https://[::1]/x'],
    ['a name that leads inside', 'https://inside.example/x'],
    ['a mapped one', 'https://[::ffff:10.0.0.1]/x'],
  ])('%s is refused without a connection (OAI-10)', async (_what, address) => {
    const refusal = await refusalOf({ download_url: `${address}?sig=${SECRET}`, file_id: 'x' });
    expect(refusal).toMatchObject({ reason: 'unreachable', argument: 'image' });
    expect(peer.connections()).toBe(0);
  });

  it('more than three redirects, or one to another host, are not followed (OAI-10)', async () => {
    peer.answer((request, response) => response.writeHead(302, { location: `${request.url}0` }).end());
    expect(await refusalOf({ download_url: url(), file_id: 'x' })).toMatchObject({ reason: 'unreachable' });
    expect(peer.seen).toHaveLength(4);
    peer.answer((_request, response) => response.writeHead(302, { location: `${peer.http}/x` }).end());
    expect(await refusalOf({ download_url: url(), file_id: 'x' })).toMatchObject({ reason: 'unreachable' });
  });

  it.each([true, false])('a file over the limit is broken off (announced: %s) (OAI-11)', async (isAnnounced) => {
    const body = Buffer.alloc(300_000);
    peer.answer((_request, response) => {
      if (isAnnounced) response.setHeader('content-length', body.length);
      response.write(body.subarray(0, 150_000));
      response.end(body.subarray(150_000));
    });
    expect(await refusalOf({ download_url: url(), file_id: 'x' })).toMatchObject({
      reason: 'maxSizeExceeded',
      argument: 'image',
      maxSize: 102_400,
      text: expect.stringMatching(/takes files of at most 102\.4 kB/),
    });
  });

  it.each([
    ['no address', { file_id: 'file_1' }, 'malformedUri'],
    ['an address that is no text', { download_url: 7, file_id: 'file_1' }, 'malformedUri'],
    ['an address of another kind', { download_url: 'sediment://file_1', file_id: 'file_1' }, 'schemeNotAllowed'],
    ['no URL at all', { download_url: 'https://', file_id: 'x' }, 'unreachable'],
  ])('an object with %s is refused (OAI-03)', async (_what, image, reason) => {
    expect(await refusalOf(image)).toMatchObject({ reason, argument: 'image' });
  });

  it('one bad item refuses the call, and is named (OAI-05)', async () => {
    const parts = ['data:,fine', { download_url: 'https://10.0.0.1/b', file_id: 'b' }];
    const before = upstream.with('tools/call').length;
    const { result } = await client.call('join', { parts });
    expect(result?._meta).toMatchObject({ 'dev.wharf/fileError': { argument: 'parts[1]', reason: 'unreachable' } });
    expect(upstream.with('tools/call')).toHaveLength(before);
  });
});

describe('addresses from hosts that the operator did not name (OAI-18)', () => {
  it('are refused', async () => {
    const upstream = await RecordingUpstream.start({ tools: TOOLS });
    const wharf = await startWharf({
      servers: {
        s: {
          url: upstream.url,
          transport: 'streamable-http',
          tools: { ocr: { files: { image: { encoding: 'base64' } } } },
        },
      },
      config: { fetch: { allowedHosts: ['*.oaiusercontent.com'] } },
    });
    const client = await RawClient.connect(wharf.mcp);
    const image = { download_url: `https://files.example.org/made-up?sig=${SECRET}`, file_id: 'x' };
    const { result, answer } = await client.call('ocr', { image });
    expect(result).toMatchObject({ isError: true, _meta: { 'dev.wharf/fileError': { reason: 'unreachable' } } });
    expect(answer.text).toContain('files.example.org');
    expect(answer.text).not.toContain(SECRET);
    expect(upstream.with('tools/call')).toHaveLength(0);
    await wharf.stop();
    await upstream.stop();
  });
});
