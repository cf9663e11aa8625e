import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { type RawAnswer, RawClient, type RawMessage } from '../../helpers/raw-client.js';
import { RecordingUpstream, RpcError } from '../../helpers/recording-upstream.js';
import { noise, noisePng } from '../../helpers/sdk-servers-bytes.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const KEYS = { ada: 'ada-0123456789', low: 'low-0123456789' };
const PNG = noisePng(16);
const EXTENSION = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const sound = (bytes: number, seed = 1) => ({
  type: 'audio',
  mimeType: 'audio/wav',
  data: noise(bytes, seed).toString('base64'),
});

/** What the task of each tool ends with. */
const RESULTS: Record<string, Json> = {
  picture: { content: [{ type: 'image', mimeType: 'image/png', data: PNG.toString('base64') }] },
  sound: { content: [sound(60_000)] },
  words: { content: [{ type: 'text', text: 'a word '.repeat(1000) }] },
  many: { content: [sound(40_000, 1), sound(40_000, 2)] },
  types: { content: [sound(100)] },
};
const LIMITS: Record<string, Json> = {
  picture: { inlineImage: 500 },
  sound: { file: '50kB' },
  words: { response: '4KiB' },
  many: { files: 1 },
  types: { acceptResults: ['image/*'] },
};

const task = (tool: string) => ({
  taskId: `task-of-${tool}`,
  status: 'working',
  createdAt: '2026-01-01T00:00:00Z',
  ttl: 60_000,
});
const resultOf = (taskId: unknown) => RESULTS[String(taskId).replace(/^task-of-(?:free-)?/, '')] ?? {};
const authorized = (name: keyof typeof KEYS) => ({ headers: { authorization: `Bearer ${KEYS[name]}` } });

describe('the limits of a tool', () => {
  let folder: string;
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  /** Ends the calls that the server works on. */
  let finish: (() => void)[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-tool-limits-'));
    const names = Object.keys(RESULTS);
    upstream = await RecordingUpstream.start({
      tools: [...names, ...names.map((name) => `free-${name}`), 'slow', 'slow-too'].map((name) => ({
        name,
        inputSchema: { type: 'object' },
      })),
      methods: {
        'tools/call': async ({ name, task: asTask, _meta, arguments: args }) => {
          const { how } = (args ?? {}) as { how?: string };
          if (how === 'fails') throw new RpcError(-32603, 'it fails');
          if (String(name).startsWith('slow') && how === undefined)
            await new Promise<void>((resolve) => finish.push(resolve));
          if (asTask) return { task: task(String(name)) };
          return _meta && String(name) in RESULTS ? { resultType: 'task', ...task(String(name)) } : { content: [] };
        },
        'tasks/result': ({ taskId }) => resultOf(taskId),
        'tasks/get': ({ taskId }) => ({
          resultType: 'complete',
          ...task(String(taskId)),
          taskId,
          status: 'completed',
          result: resultOf(taskId),
        }),
      },
    });
    const limited = Object.entries(LIMITS).map(([name, limits]) => [name, { limits }]);
    wharf = await startWharf({
      servers: {
        s: {
          url: upstream.url,
          transport: 'streamable-http',
          tools: { ...Object.fromEntries(limited), 'slow*': { limits: { exchanges: 1 } } },
        },
      },
      config: {
        audit: { use: 'file', path: join(folder, 'audit.jsonl') },
        auth: {
          use: 'apiKeys',
          keys: Object.entries(KEYS).map(([name, key]) => ({ name, hash: keyHash(key) })),
        },
      },
    });
  });

  afterAll(async () => {
    for (const end of finish) end();
    await wharf?.stop();
    await upstream?.stop();
    await rm(folder, { recursive: true });
  });

  /** The answer that holds the result of a task of the tool. */
  async function ended(tool: string): Promise<RawMessage> {
    const client = await RawClient.connect(wharf.mcp, '2025-11-25', authorized('ada'));
    const { result } = await client.request('tools/call', { name: tool, arguments: {}, task: { ttl: 60_000 } });
    return client.request('tasks/result', { taskId: (result?.task as Json | undefined)?.taskId });
  }

  const cases: [string, Json][] = [
    ['sound', { code: 'file_too_large', limit: 'limits.file', allowed: 50_000, actual: 60_000 }],
    ['words', { code: 'response_too_large', limit: 'limits.response', allowed: 4096 }],
    ['many', { code: 'too_many_files', limit: 'limits.files', allowed: 1, actual: 2 }],
  ];

  it.each(cases)('refuse the result of a task of %s, and say where they are set', async (tool, facts) => {
    const { error } = await ended(tool);
    const source = `servers.s.tools.${tool}.limits.${String(facts.limit).slice('limits.'.length)}`;
    expect(error?.data).toMatchObject({ ...facts, source });
    expect((await ended(`free-${tool}`)).result?.content).toBeDefined();
  });

  it("decide what stays in a task's result, and which media types it may have", async () => {
    expect((await ended('picture')).result?.content?.map(({ type }) => type)).toContain('resource_link');
    expect((await ended('free-picture')).result).toEqual(RESULTS.picture);
    expect((await ended('types')).result?.content?.[0]).toMatchObject({ text: expect.stringMatching(/is left out/) });
    expect((await ended('free-types')).result).toEqual(RESULTS.types);
  });

  it.each(cases)('2026-07-28: refuse the result of %s inside its task', async (tool, facts) => {
    const about = { capabilities: EXTENSION, ...authorized('ada') };
    const client = RawClient.stateless(wharf.mcp, '2026-07-28', about);
    const { result } = await client.call(tool, {});
    expect(result?.taskId).toBe(`task-of-${tool}`);
    const { error } = await client.request('tasks/get', { taskId: result?.taskId });
    expect(error?.data).toMatchObject(facts);
  });

  it('count calls under way at one time, those of all tools of one entry together', async () => {
    const ada = await RawClient.connect(wharf.mcp, '2025-11-25', authorized('ada'));
    const low = await RawClient.connect(wharf.mcp, '2025-11-25', authorized('low'));
    finish = [];
    const call = (client: RawClient, name: string): Promise<RawAnswer> =>
      client.post({ jsonrpc: '2.0', id: `${name}-${Math.random()}`, method: 'tools/call', params: { name } });
    const first = call(ada, 'slow');
    await until(async () => finish.length === 1);
    for (const name of ['slow', 'slow-too']) {
      const second = await call(ada, name);
      expect(second.status).toBe(429);
      expect(second.headers.get('retry-after')).toBe('5');
      expect(second.messages[0]?.error?.data).toMatchObject({
        code: 'requests_limited',
        limit: 'limits.exchanges',
        allowed: 1,
        actual: 2,
        source: 'servers.s.tools["slow*"].limits.exchanges',
      });
    }
    const other = call(low, 'slow');
    await until(async () => finish.length === 2);
    expect((await call(ada, 'free-types')).status).toBe(200);
    for (const end of finish) end();
    expect([(await first).status, (await other).status]).toEqual([200, 200]);
    expect(upstream.with('tools/call').filter(({ params }) => String(params.name).startsWith('slow'))).toHaveLength(2);

    const third = call(ada, 'slow-too');
    await until(async () => finish.length === 3);
    finish[2]?.();
    expect((await third).status).toBe(200);
    const rule = JSON.stringify('servers.s.tools["slow*"].limits.exchanges');
    await until(async () => (await readFile(join(folder, 'audit.jsonl'), 'utf8')).includes(`"rule":${rule}`));
  });

  it('give a place back when the caller has gone, or the server has failed', async () => {
    finish = [];
    const ada = await RawClient.connect(wharf.mcp, '2025-11-25', authorized('ada'));
    const status = async (how: string) => (await ada.call('slow', { how })).answer.status;
    expect([await status('fails'), await status('fails')]).toEqual([200, 200]);
    const leaving = new AbortController();
    const left = ada.open('tools/call', { name: 'slow' }, {}, leaving.signal).catch(() => undefined);
    await until(async () => finish.length === 1);
    expect(await status('at once')).toBe(429);
    leaving.abort();
    await left;
    await until(async () => (await status('at once')) === 200);
  });
});
