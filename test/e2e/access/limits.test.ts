import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { type RawAnswer, RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { ROOT } from '../cli-process.js';

const KEYS = { small: 'small-0123456789', free: 'free-0123456789' };
type Name = keyof typeof KEYS;
type Json = Record<string, unknown>;

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const CSV = Buffer.from('name,age\nada,36\n');

let folder: string;
let upstream: RecordingUpstream;
let wharf: Wharf;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-limits-'));
  const inputSchema = { type: 'object', properties: { doc: { type: 'string' }, docs: { type: 'array' } } };
  upstream = await RecordingUpstream.start({
    tools: [
      { name: 'ocr', inputSchema },
      { name: 'draw', inputSchema },
    ],
    methods: {
      'tools/call': ({ name, arguments: args }) => {
        const { size = 0, text = '' } = args as { size?: number; text?: string };
        if (name !== 'draw') return { content: [{ type: 'text', text: `seen ${text.length}` }] };
        if (text !== '') return { content: [{ type: 'text', text: 'x'.repeat(Number(text)) }] };
        const data = Buffer.concat([PNG, Buffer.alloc(size)]).toString('base64');
        return { content: [{ type: 'image', data, mimeType: 'image/png' }] };
      },
    },
  });
  const files = { doc: { encoding: 'base64' }, 'docs[]': { encoding: 'base64' } };
  wharf = await startWharf({
    servers: {
      hr: { url: upstream.url, tools: { ocr: { files } } },
      one: { url: upstream.url, limits: { accept: ['image/png'] }, tools: { ocr: { files } } },
      local: { command: [process.execPath, `${ROOT}dist/test/helpers/fake-stdio-server.js`] },
    },
    config: {
      audit: { use: 'file', path: join(folder, 'audit.jsonl') },
      auth: {
        use: 'apiKeys',
        keys: [
          {
            name: 'small',
            hash: keyHash(KEYS.small),
            limits: {
              message: '2KiB',
              response: '4KiB',
              inlineImage: 100,
              inlineArgument: 64,
              filesPerArgument: 1,
              accept: ['text/csv'],
              sessions: 2,
              processes: 1,
            },
          },
          { name: 'free', hash: keyHash(KEYS.free) },
        ],
      },
      ceiling: { inlineImage: '20kB' },
      clients: [{ match: { name: 'tiny' }, limits: { inlineImage: 50 } }],
    },
  });
});

afterAll(async () => {
  await wharf?.stop();
  await upstream?.stop();
  await rm(folder, { recursive: true });
});

const connect = (name: Name, server = 'hr', client = 'raw') =>
  RawClient.connect(`${wharf.url}/${server}/mcp`, '2025-06-18', {
    name: client,
    headers: { authorization: `Bearer ${KEYS[name]}` },
  });

const call = async (client: RawClient, name: string, args: object): Promise<RawAnswer> =>
  (await client.request('tools/call', { name, arguments: args })).answer;
const statusOf = async (client: RawClient) => (await client.request('ping')).answer.status;

const errorOf = ({ messages: [message] }: RawAnswer) => message?.error?.data;
const kinds = ({ messages: [message] }: RawAnswer) => message?.result?.content?.map(({ type }) => type);
const metrics = () => fetch(`${wharf.adminUrl}/metrics`).then((answer) => answer.text());

describe('the limits of one caller among others', () => {
  it('are those of its messages, each named with its value and the actual one', async () => {
    const [small, free] = [await connect('small'), await connect('free')];
    const long = { text: 'x'.repeat(3000) };
    expect(errorOf(await call(small, 'ocr', long))).toMatchObject({ limit: 'limits.message', allowed: 2048 });
    expect((await call(free, 'ocr', long)).status).toBe(200);
    const answer = await call(small, 'draw', { text: '5000' });
    expect(errorOf(answer)).toMatchObject({ code: 'response_too_large', limit: 'limits.response', allowed: 4096 });
    expect(kinds(await call(free, 'draw', { text: '5000' }))).toEqual(['text']);
    expect(await metrics()).toMatch(/wharf_limits_total\{limit="limits\.response"\} 1/);
    const audited = () => readFile(join(folder, 'audit.jsonl'), 'utf8');
    // a refusal does not wait for its line
    await until(async () => /"allowed":false,"principal":"small",.*"rule":"limits\.response"/.test(await audited()));
  });

  it('decide what stays in a result, under a ceiling for all and the least of what its host takes', async () => {
    const [small, free, tiny] = [await connect('small'), await connect('free'), await connect('free', 'hr', 'tiny')];
    const isInline = async (client: RawClient, size: number) =>
      kinds(await call(client, 'draw', { size }))?.[0] === 'image';
    expect([await isInline(small, 80), await isInline(small, 200)]).toEqual([true, false]);
    expect([await isInline(free, 200), await isInline(free, 30_000)]).toEqual([true, false]);
    expect([await isInline(tiny, 30), await isInline(tiny, 80)]).toEqual([true, false]);
  });

  it('hold for files in arguments: their bytes, their number and their types', async () => {
    const [small, free] = [await connect('small'), await connect('free')];
    const csv = `data:text/csv;base64,${CSV.toString('base64')}`;
    const png = `data:image/png;base64,${PNG.toString('base64')}`;
    expect((await call(small, 'ocr', { doc: csv })).text).toContain('seen 0');
    expect((await call(small, 'ocr', { doc: png })).text).toContain('is image/png; you may send: text/csv');
    expect((await call(free, 'ocr', { doc: png })).text).toContain('seen 0');
    const longer = `data:text/csv;base64,${Buffer.concat([CSV, Buffer.alloc(100, 'a')]).toString('base64')}`;
    expect((await call(small, 'ocr', { doc: longer })).text).toContain('at most 64 bytes may be inside a call');
    expect((await call(small, 'ocr', { docs: [csv, csv] })).text).toContain('has 2 files; it takes at most 1');
    expect((await call(free, 'ocr', { docs: [csv, csv] })).text).toContain('seen 0');
  });

  it('are shown with the argument that takes files, to each caller its own', async () => {
    const shownTo = async (client: RawClient) => {
      const { result } = await client.request('tools/list');
      const [tool] = (result?.tools ?? []) as { inputSchema: { properties: Record<string, Json> } }[];
      const doc = tool?.inputSchema.properties.doc;
      return { ...(doc?.['x-mcp-file'] as Json), description: doc?.description };
    };
    const small = await shownTo(await connect('small'));
    expect(small).toMatchObject({ accept: ['text/csv'], description: expect.stringContaining('text/csv') });
    // after the other caller, whose list is kept
    expect(await shownTo(await connect('free'))).not.toHaveProperty('accept');
    expect(await shownTo(await connect('free', 'one'))).toMatchObject({ accept: ['image/png'] });
    // its own list and that of the server have no type in common
    expect(await shownTo(await connect('small', 'one'))).toHaveProperty('accept');
  });

  it('hold for uploads by a link, too', async () => {
    const { text } = await call(await connect('small'), 'request_file_upload', {});
    const [, code, url] = /-H 'Wharf-Code: ([\w-]+)' -T FILE (\S+?)\\n/.exec(text) ?? [];
    const send = (body: Buffer, type: string) =>
      fetch(String(url), { method: 'PUT', body, headers: { 'wharf-code': String(code), 'content-type': type } });
    const refused = await send(PNG, 'image/png');
    expect([refused.status, await refused.text()]).toEqual([415, expect.stringContaining('accepted: text/csv')]);
    expect((await send(CSV, 'text/csv')).status).toBeLessThan(300);
  });

  it('join the types that a server takes', async () => {
    const [small, free] = [await connect('small', 'one'), await connect('free', 'one')];
    const csv = `data:text/csv;base64,${CSV.toString('base64')}`;
    expect((await call(free, 'ocr', { doc: csv })).text).toContain('you may send: image/png');
    expect((await call(small, 'ocr', { doc: csv })).text).toContain('you may send: image/png');
  });

  it('end the session that it has not used for longest when it opens one too many', async () => {
    const [first, second] = [await connect('small'), await connect('small')];
    const third = await connect('small');
    expect(await statusOf(first)).toBe(404);
    expect(await statusOf(second)).toBe(200);
    expect(await statusOf(third)).toBe(200);
  });

  it('let it have one process, which an idle session of its own gives up', async () => {
    const first = await connect('small', 'local');
    const second = await connect('small', 'local');
    expect(await statusOf(first)).toBe(404);
    expect(await statusOf(second)).toBe(200);
    const others = [await connect('free', 'local'), await connect('free', 'local')];
    for (const one of others) expect(await statusOf(one)).toBe(200);
  });
});
