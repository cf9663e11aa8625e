import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const PROGRAM = fileURLToPath(new URL('../../helpers/fake-stdio-server.js', import.meta.url));

const base64 = (bytes: Buffer) => bytes.toString('base64');
const text = (value: unknown): Json => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
});
const many = Array.from({ length: 10_001 }, (_, index) => index);

/** What a server writes a file as, and how many bytes it has: all of them stay in their message as they came. */
const KNOWN: Record<string, [size: number, (bytes: Buffer) => Json]> = {
  'an image of a few bytes': [9, (b) => ({ content: [{ type: 'image', mimeType: 'image/png', data: base64(b) }] })],
  'a sound of a few bytes': [10, (b) => ({ content: [{ type: 'audio', mimeType: 'audio/wav', data: base64(b) }] })],
  'an embedded resource of a few bytes': [
    11,
    (b) => ({ content: [{ type: 'resource', resource: { uri: 'a://b', blob: base64(b) } }] }),
  ],
  'a string in a JSON text, beside a media type': [
    60,
    (b) => text({ pages: [{ mimeType: 'application/pdf', body: base64(b) }] }),
  ],
  'the data of a block in a JSON text': [60, (b) => text([{ type: 'image', data: base64(b) }])],
  'the blob of a resource in a JSON text': [60, (b) => text({ uri: 'a://b', blob: base64(b) })],
  'a data: URI in a JSON text': [60, (b) => text({ icon: `data:image/png;base64,${base64(b)}` })],
  'any base64 of a kibibyte in a JSON text': [1024, (b) => text({ payload: base64(b) })],
  'such base64 in lines': [1200, (b) => text({ payload: base64(b).replaceAll(/.{76}/g, '$&\r\n') })],
  'such base64 in the other alphabet, without its end': [1201, (b) => text({ payload: b.toString('base64url') })],
  'such base64 with escapes on both levels': [
    1202,
    (b) => text(`{"payload":"${base64(b).replaceAll('/', '\\/').replaceAll('A', '\\u0041')}"}`),
  ],
  'such base64 in a JSON text of too many values to be parsed': [1203, (b) => text({ many, payload: base64(b) })],
  'such base64 in a JSON text that is too long to be parsed': [
    1207,
    (b) => text({ payload: base64(b), prose: 'Some words. '.repeat(400_000) }),
  ],
  'long base64 in a JSON text that nothing calls a file': [50_000, (b) => text({ payload: base64(b) })],
  'base64 of a kibibyte in structuredContent': [
    1025,
    (b) => ({ content: [], structuredContent: { payload: base64(b) } }),
  ],
  'long base64 in structuredContent that nothing calls a file': [
    50_001,
    (b) => ({ content: [], structuredContent: { payload: base64(b) } }),
  ],
};

/** What docs/how-to/flow.md says is not known. */
const UNKNOWN: typeof KNOWN = {
  'a text that is base64 from its beginning to its end': [1204, (b) => text(base64(b))],
  'base64 within a sentence': [1205, (b) => text(`Here it is: ${base64(b)} and that was it.`)],
  'short base64 in a JSON text that nothing calls a file': [700, (b) => text({ payload: base64(b) })],
  'short base64 in structuredContent': [701, (b) => ({ content: [], structuredContent: { payload: base64(b) } })],
  'base64 in JSON that is a string in a JSON text': [
    1206,
    (b) => text({ body: JSON.stringify({ payload: base64(b) }) }),
  ],
};

const TAKE = { name: 'take', inputSchema: { type: 'object', properties: { file: { type: 'string' } } } };

let giving: RecordingUpstream;
let taking: RecordingUpstream;
let wharf: Wharf;
let next: Json = {};
let blob = '';

beforeAll(async () => {
  giving = await RecordingUpstream.start({
    tools: [{ name: 'give', inputSchema: { type: 'object' } }],
    capabilities: { resources: {}, prompts: {} },
    methods: {
      'tools/call': () => next,
      'resources/read': ({ uri }) => ({ contents: [{ uri, blob }] }),
      'prompts/get': () => ({
        messages: [{ role: 'user', content: { type: 'image', mimeType: 'image/png', data: blob } }],
      }),
    },
  });
  taking = await RecordingUpstream.start({ tools: [TAKE] });
  wharf = await start([{ deny: { from: 'hr', to: 'web' } }]);
});

afterAll(async () => {
  await wharf?.stop();
  await giving?.stop();
  await taking?.stop();
});

function start(flow: unknown[]): Promise<Wharf> {
  const web = {
    url: taking.url,
    transport: 'streamable-http',
    tools: { take: { files: { file: { encoding: 'base64' } } } },
  };
  return startWharf({ servers: { hr: { url: giving.url, transport: 'streamable-http' }, web }, config: { flow } });
}

const client = (at: Wharf, server: string) => RawClient.connect(`${at.url}/${server}/mcp`);

/** Whether the server `web` gets these bytes. */
async function reachesWeb(at: Wharf, bytes: Buffer): Promise<boolean> {
  const before = taking.with('tools/call').length;
  await (await client(at, 'web')).call('take', { file: base64(bytes) });
  return taking.with('tools/call').length > before;
}

describe('With deny: { from: hr, to: web }, a file of hr that stays in its message', () => {
  it.each(Object.keys(KNOWN))('is known when it comes back: %s', async (name) => {
    const [size, write] = KNOWN[name] as (typeof KNOWN)[string];
    const bytes = randomBytes(size);
    expect(await reachesWeb(wharf, bytes)).toBe(true);
    next = write(bytes);
    expect((await (await client(wharf, 'hr')).call('give')).result).toEqual(next);
    expect(await reachesWeb(wharf, bytes)).toBe(false);
  });

  it.each([
    ['resources/read', { uri: 'a://b' }],
    ['prompts/get', { name: 'p' }],
  ])('is known when it comes back: some bytes in the answer to %s', async (method, params) => {
    const bytes = randomBytes(12);
    blob = base64(bytes);
    expect(JSON.stringify((await (await client(wharf, 'hr')).request(method, params)).result)).toContain(blob);
    expect(await reachesWeb(wharf, bytes)).toBe(false);
  });

  it.each(Object.keys(UNKNOWN))('is not known, as the documents say: %s', async (name) => {
    const [size, write] = UNKNOWN[name] as (typeof UNKNOWN)[string];
    const bytes = randomBytes(size);
    next = write(bytes);
    await (await client(wharf, 'hr')).call('give');
    expect(await reachesWeb(wharf, bytes)).toBe(true);
  });

  it('is not one of more than limits.files: then the message is refused, not its rest unknown', async () => {
    const data = base64(randomBytes(3));
    const images = (length: number) => ({
      content: Array.from({ length }, () => ({ type: 'image', mimeType: 'image/png', data })),
    });
    next = images(100);
    expect((await (await client(wharf, 'hr')).call('give')).error).toBeUndefined();
    next = images(101);
    const { error } = await (await client(wharf, 'hr')).call('give');
    expect(error).toMatchObject({ data: { code: 'too_many_files', limit: 'limits.files' } });
    next = text(Array.from({ length: 101 }, () => ({ mimeType: 'image/png', data: base64(randomBytes(60)) })));
    const inText = await (await client(wharf, 'hr')).call('give');
    expect(inText.error).toMatchObject({ data: { code: 'too_many_files', limit: 'limits.files' } });
  });
});

describe('With deny: { from: local, to: web }, where local is a program on standard streams', () => {
  it('an image of a few bytes is known when it comes back', async () => {
    const local = { command: [process.execPath, PROGRAM] };
    const web = {
      url: taking.url,
      transport: 'streamable-http',
      tools: { take: { files: { file: { encoding: 'base64' } } } },
    };
    const flow = [{ deny: { from: 'local', to: 'web' } }];
    const at = await startWharf({ servers: { local, web }, config: { flow } });
    const { result } = await (await client(at, 'local')).call('blob', { size: 20, type: 'image' });
    const { data } = (result as unknown as { content: { data: string }[] }).content[0] ?? { data: '' };
    expect(Buffer.from(data, 'base64')).toHaveLength(20);
    expect(await reachesWeb(at, Buffer.from(data, 'base64'))).toBe(false);
    expect(await reachesWeb(at, randomBytes(20))).toBe(true);
    await at.stop();
  });
});

describe('Without a rule', () => {
  it('nothing is counted, and everything passes as it came', async () => {
    const free = await start([]);
    const data = base64(randomBytes(3));
    next = { content: Array.from({ length: 500 }, () => ({ type: 'image', mimeType: 'image/png', data })) };
    expect((await (await client(free, 'hr')).call('give')).result).toEqual(next);
    expect(await reachesWeb(free, Buffer.from(data, 'base64'))).toBe(true);
    await free.stop();
  });
});
