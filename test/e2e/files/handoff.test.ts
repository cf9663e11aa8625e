import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash, sha256, sha256Url } from '../../helpers/bytes.js';
import { backToNow, later } from '../../helpers/later.js';
import { PIXEL } from '../../helpers/pixel.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { freshName } from '../../helpers/services.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { announced, image, photo } from './handoff-lab.js';

const SHOT = image();
const PHOTO = photo();
const block = (bytes: Buffer, name: string, mimeType = 'image/png') => ({
  type: 'resource',
  resource: { uri: `doc://shots/${name}`, mimeType, blob: bytes.toString('base64') },
});

const RESULTS: Record<string, Record<string, unknown>> = {
  shot: { content: [block(SHOT, 'shot.png')] },
  photo: { content: [block(PHOTO, 'photo.jpg', 'image/jpeg')] },
  small: { content: [{ type: 'image', mimeType: 'image/png', data: PIXEL.toString('base64') }] },
};

const TEXT = { type: 'string' };
const TAKE = {
  name: 'ocr',
  inputSchema: {
    type: 'object',
    properties: { image: TEXT, name: TEXT, type: TEXT, note: TEXT, images: { type: 'array', items: TEXT }, names: {} },
  },
};
const SETTINGS = {
  ocr: {
    files: {
      image: { encoding: 'base64', accept: ['image/png'], name: 'name', mimeType: 'type' },
      'images[]': { encoding: 'base64', name: 'names[]' },
    },
  },
};

const KEYS = { alice: 'alice-key-0123456789abcdef', bob: 'bob-key-0123456789abcdefgh' };

let giving: RecordingUpstream;
let taking: RecordingUpstream;

beforeAll(async () => {
  const names = Object.keys(RESULTS);
  giving = await RecordingUpstream.start({
    tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })),
    methods: { 'tools/call': ({ name }) => RESULTS[String(name)] },
  });
  taking = await RecordingUpstream.start({
    tools: [TAKE],
    methods: { 'prompts/get': ({ arguments: args }) => ({ messages: [], description: JSON.stringify(args) }) },
  });
});

afterAll(async () => {
  await giving.stop();
  await taking.stop();
});

const servers = () => ({
  a: { url: giving.url, transport: 'streamable-http' },
  c: { url: giving.url, transport: 'streamable-http' },
  b: { url: taking.url, transport: 'streamable-http', tools: SETTINGS },
});

const client = (wharf: Wharf, server: string, key?: string) =>
  RawClient.connect(`${wharf.url}/${server}/mcp`, '2025-06-18', {
    ...(key && { headers: { authorization: `Bearer ${key}` } }),
  });

async function give(wharf: Wharf, tool: string, server = 'a', key?: string) {
  return announced((await (await client(wharf, server, key)).call(tool)).result);
}

const fileError = (result: Record<string, unknown> | undefined) =>
  (result?._meta as Record<string, Record<string, unknown>> | undefined)?.['dev.wharf/fileError'];

afterEach(backToNow);

describe('a handle on its way from one server to another', () => {
  let wharf: Wharf;
  let to: RawClient;

  beforeAll(async () => {
    wharf = await startWharf({ servers: servers() });
    to = await client(wharf, 'b');
  });

  afterAll(() => wharf.stop());

  it('brings its name and type (HO-10)', async () => {
    const { uri } = await give(wharf, 'shot');
    await to.call('ocr', { image: uri });
    expect(taking.lastArguments).toEqual({ image: SHOT.toString('base64'), name: 'shot.png', type: 'image/png' });
  });

  it('meets the limits of where it goes: both types are told, the server is not asked (HO-09)', async () => {
    const before = taking.with('tools/call').length;
    const { uri } = await give(wharf, 'photo');
    const { result } = await to.call('ocr', { image: uri });
    expect(result?.isError).toBe(true);
    expect(result?.content?.[0]?.text).toMatch(/image\/jpeg.*image\/png/);
    expect(fileError(result)).toMatchObject({ reason: 'mimeTypeNotAccepted', actualType: 'image/jpeg' });
    expect(taking.with('tools/call')).toHaveLength(before);
  });

  it('stands in one array with those of other servers, in their order (HO-11)', async () => {
    const [one, two] = [await give(wharf, 'shot', 'a'), await give(wharf, 'photo', 'c')];
    await to.call('ocr', {
      images: [two.uri, one.uri, `data:image/png;name=s.png;base64,${PIXEL.toString('base64')}`],
    });
    const { images, names } = taking.lastArguments as { images: string[]; names: string[] };
    expect(images.map((text) => sha256(Buffer.from(text, 'base64')))).toEqual([PHOTO, SHOT, PIXEL].map(sha256));
    expect(names).toEqual(['photo.jpg', 'shot.png', 's.png']);
  });

  it('may be used by several calls at once (HO-14)', async () => {
    const { uri } = await give(wharf, 'shot');
    const before = taking.with('tools/call').length;
    const clients = await Promise.all([1, 2, 3, 4].map(() => client(wharf, 'b')));
    const answers = await Promise.all(clients.map((one) => one.call('ocr', { image: uri })));
    expect(answers.map(({ result }) => result?.isError)).toEqual(answers.map(() => undefined));
    const calls = taking.with('tools/call').slice(before);
    expect(calls.map(({ params }) => (params.arguments as { image: string }).image.length)).toEqual(
      calls.map(() => SHOT.toString('base64').length),
    );
  });

  it('in an argument that is not a file it stays what it is, byte for byte (HO-18)', async () => {
    const { uri } = await give(wharf, 'shot');
    const { result } = await to.call('ocr', { note: `see ${uri}` });
    expect(result?.isError).toBeUndefined();
    expect(taking.lastArguments).toEqual({ note: `see ${uri}` });
  });

  it('in the arguments of a prompt it is never resolved (HO-21)', async () => {
    const { uri } = await give(wharf, 'shot');
    const { result } = await to.request('prompts/get', { name: 'p', arguments: { image: uri } });
    expect(result?.description).toBe(JSON.stringify({ image: uri }));
  });

  it('names the bytes that were captured, whatever the server gives later (HO-05)', async () => {
    const first = await give(wharf, 'shot');
    const before = RESULTS.shot;
    RESULTS.shot = { content: [block(image(), 'shot.png')] };
    const second = await give(wharf, 'shot');
    RESULTS.shot = before as Record<string, unknown>;
    expect(second.uri).not.toBe(first.uri);
    await to.call('ocr', { image: first.uri });
    expect(sha256(Buffer.from(String(taking.lastArguments.image), 'base64'))).toBe(sha256(SHOT));
  });

  it('a small image stays inline, byte for byte, and is announced nowhere (HO-03)', async () => {
    const { result } = await (await client(wharf, 'a')).call('small');
    expect(result).toEqual(RESULTS.small);
  });

  it('the log says once what went where, by digest and size (HO-19)', async () => {
    const { uri } = await give(wharf, 'shot');
    const before = wharf.lines.length;
    await to.call('ocr', { image: uri });
    const told = wharf.lines.slice(before).filter(({ text }) => text === 'a file was handed over');
    expect(told.map(({ fields }) => fields)).toEqual([
      expect.objectContaining({
        file: uri.slice(uri.lastIndexOf('/') + 1),
        from: 'a',
        to: 'b',
        argument: 'image',
        size: SHOT.length,
        digest: sha256Url(SHOT),
      }),
    ]);
  });
});

/** A result without what is new in each offer: the ticket, the handle it will have, its end and its code. */
function withoutOffer(result: unknown): string {
  return JSON.stringify(result).replace(
    /\/u\/[\w-]{43}|f_[\w-]{22}|\d{4}-\d\d-\d\dT[\d:.]+Z|\b[A-Z0-9]{3}-[A-Z0-9]{3}\b/g,
    '…',
  );
}

describe('who may use a handle, and where', () => {
  it('another principal’s is as unknown as one that never was (HO-06, HO-20)', async () => {
    const keys = Object.entries(KEYS).map(([name, key]) => ({ name, hash: keyHash(key) }));
    const wharf = await startWharf({ servers: servers(), config: { auth: { use: 'apiKeys', keys } } });
    const { uri, url } = await give(wharf, 'shot', 'a', KEYS.alice);
    const bob = await client(wharf, 'b', KEYS.bob);
    const before = taking.with('tools/call').length;
    const foreign = await bob.call('ocr', { image: uri });
    const none = await bob.call('ocr', { image: 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA' });
    expect(withoutOffer(foreign.result)).toEqual(withoutOffer(none.result));
    expect(fileError(foreign.result)).toMatchObject({ reason: 'fileNotFound' });
    expect(taking.with('tools/call')).toHaveLength(before);
    const linked = await bob.call('ocr', { image: url });
    const unlinked = await bob.call('ocr', { image: String(url).replace(/.{8}$/, 'AAAAAAAA') });
    expect(withoutOffer(linked.result)).toEqual(withoutOffer(unlinked.result));
    expect(fileError(linked.result)).toMatchObject({ reason: 'schemeNotAllowed' });
    expect(taking.with('tools/call')).toHaveLength(before);
    const alice = await client(wharf, 'b', KEYS.alice);
    for (const image of [uri, url]) expect((await alice.call('ocr', { image })).result?.isError).toBeUndefined();
    await wharf.stop();
  });

  it('the operator may forbid it between two servers, and the rule is named (HO-07)', async () => {
    const handoff = [
      { from: 'a', to: 'b', allow: false },
      { from: '*', to: 'b', allow: true },
    ];
    const wharf = await startWharf({ servers: servers(), config: { handoff } });
    const to = await client(wharf, 'b');
    const before = taking.with('tools/call').length;
    const { result } = await to.call('ocr', { image: (await give(wharf, 'shot', 'a')).uri });
    expect(fileError(result)).toMatchObject({ reason: 'handoffDenied', argument: 'image' });
    expect(result?.content?.[0]?.text).toMatch(/from "a" to "b"/);
    expect(taking.with('tools/call')).toHaveLength(before);
    await until(() => wharf.logged().includes('handoffDenied'));
    expect((await to.call('ocr', { images: [(await give(wharf, 'photo', 'c')).uri] })).result?.isError).toBeUndefined();
    await wharf.stop();
  });

  it('an expired one says so, and what to do (HO-15)', async () => {
    const wharf = await startWharf({ servers: servers(), config: { retention: '1m', links: { ttl: '1m' } } });
    const to = await client(wharf, 'b');
    const { uri } = await give(wharf, 'shot');
    later(2 * 60_000);
    const { result } = await to.call('ocr', { image: uri });
    expect(fileError(result)).toMatchObject({ reason: 'fileExpired' });
    expect(result?.content?.[0]?.text).toMatch(/run the tool that gave it again/);
    await wharf.stop();
  });

  it('one from another replica works (HO-16)', async () => {
    const shared = { bucket: freshName('handoff'), keyPrefix: `${freshName('handoff')}:` };
    const options = { servers: servers(), stores: 's3+redis', ...shared } as const;
    const [one, two] = [await startWharf(options), await startWharf(options)];
    const { uri } = await give(one, 'shot');
    await (await client(two, 'b')).call('ocr', { image: uri });
    expect(sha256(Buffer.from(String(taking.lastArguments.image), 'base64'))).toBe(sha256(SHOT));
    await one.stop();
    await two.stop();
  });
});
