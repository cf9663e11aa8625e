import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { sha256 } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { until } from '../../helpers/wait.js';
import { STORES, startWharf, type Wharf } from '../../helpers/wharf.js';
import { announced, image } from './handoff-lab.js';

type Json = Record<string, unknown>;

const TEXT = { type: 'string' };
const PICTURE = image();
const SCAN = randomBytes(60_000);
const UNKNOWN = { image: 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA' };
const TASK = { taskId: 'task-1', status: 'working', createdAt: '2026-01-01T00:00:00Z', ttl: 60_000 };
/** What the tool would have answered at once. */
const RESULT = {
  content: [{ type: 'image', mimeType: 'image/png', data: PICTURE.toString('base64') }],
  structuredContent: { scans: [{ data: SCAN.toString('base64') }] },
};
/** Each call that names files has a task of its own. */
const taskOf = ({ path, files }: Json) => (files ? 'task-of-two' : path ? 'task-of-one' : 'task-1');
/** Of a tool that is given two paths. */
const OF_TWO = {
  content: [PICTURE, image()].map((data) => ({ type: 'image', mimeType: 'image/png', data: data.toString('base64') })),
};
const EXTENSION = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

describe.each(STORES)('a call that runs as a task (%s)', (stores) => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      tools: [{ name: 'ocr', inputSchema: { type: 'object', properties: { image: TEXT, name: TEXT } } }],
      methods: {
        'tools/call': ({ task, _meta, arguments: args }) => {
          const begun = { ...TASK, taskId: taskOf(args as Json) };
          if (task) return { task: begun };
          return _meta ? { resultType: 'task', ...begun } : RESULT;
        },
        'tasks/result': () => ({ ...RESULT, _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'task-1' } } }),
        'tasks/get': ({ taskId, _meta }) => {
          const result = taskId === 'task-of-two' ? OF_TWO : RESULT;
          return _meta ? { resultType: 'complete', ...TASK, taskId, status: 'completed', result } : { ...TASK };
        },
      },
    });
    const ocr = {
      files: { image: { encoding: 'base64', name: 'name' } },
      results: { files: ['scans[].data'] },
    };
    wharf = await startWharf({
      stores,
      servers: { s: { url: upstream.url, transport: 'streamable-http', tools: { ocr } } },
    });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  const bytesAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());

  /** The files of a result are links, and named after the tool and not after the task. */
  async function expectFiles(result: Json | undefined): Promise<void> {
    const { name } = announced(result);
    expect(name).toBe('ocr-1.png');
    expect(sha256(await bytesAt(String(announced(result).url)))).toBe(sha256(PICTURE));
    const { scans } = (result?.structuredContent ?? {}) as { scans: { data: string }[] };
    expect(sha256(await bytesAt(scans[0]?.data ?? ''))).toBe(sha256(SCAN));
  }

  it('2025-11-25: its files go with the call, and those of its result are cut where that is fetched (BR-20)', async () => {
    const client = await RawClient.connect(wharf.mcp, '2025-11-25');
    const { uri } = announced((await client.call('ocr', { image: PICTURE.toString('base64') })).result);
    const created = await client.request('tools/call', {
      name: 'ocr',
      arguments: { image: uri },
      task: { ttl: 60_000 },
    });
    expect(created.result).toEqual({ task: TASK });
    expect(upstream.lastArguments).toEqual({ image: PICTURE.toString('base64'), name: 'ocr-1.png' });
    expect(upstream.with('tools/call').at(-1)?.params.task).toEqual({ ttl: 60_000 });
    await expectFiles((await client.request('tasks/result', { taskId: 'task-1' })).result);
    expect((await client.request('tasks/get', { taskId: 'task-1' })).result).toEqual(TASK);
  });

  it('2026-07-28: the same for the extension, which answers with the result inside the task (BR-20)', async () => {
    const client = RawClient.stateless(wharf.mcp, '2026-07-28', { capabilities: EXTENSION });
    const created = await client.call('ocr', { image: `data:image/png;base64,${PICTURE.toString('base64')}` });
    expect(created.result).toMatchObject({ resultType: 'task', taskId: 'task-1' });
    expect(upstream.lastArguments.image).toBe(PICTURE.toString('base64'));
    const { result } = await client.request('tasks/get', { taskId: 'task-1' });
    expect(result).toMatchObject({ status: 'completed', taskId: 'task-1' });
    await expectFiles(result?.result as Json);
  });

  it('a file that may not go with the call is refused before there is a task, by an error (BR-20)', async () => {
    const client = await RawClient.connect(wharf.mcp, '2025-11-25');
    const before = upstream.with('tools/call').length;
    const refused = async (more: Json) =>
      await client.request('tools/call', { name: 'ocr', arguments: UNKNOWN, ...more });
    const facts = { 'dev.wharf/fileError': { reason: 'fileNotFound' } };
    const { error, result } = await refused({ task: {} });
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/not the handle.*\/u\//s),
      data: facts,
    });
    expect(result).toBeUndefined();
    expect((await refused({})).result).toMatchObject({ isError: true, _meta: facts });
    expect(upstream.with('tools/call')).toHaveLength(before);
  });

  it('a refusal is what a client of the SDK hears of the call', async () => {
    const client = new Client({ name: 'task', version: '1' }, { capabilities: { tasks: {} } });
    await client.connect(new StreamableHTTPClientTransport(new URL(wharf.mcp)) as Transport);
    const said: string[] = [];
    const stream = client.experimental.tasks.callToolStream({ name: 'ocr', arguments: UNKNOWN }, undefined, {
      task: {},
    });
    for await (const told of stream) said.push(told.type === 'error' ? told.error.message : told.type);
    expect(said).toEqual([expect.stringMatching(/^MCP error -32602: Argument 'image' is not the handle .*\/u\//s)]);
    await client.close();
  });

  it('2025-11-25: the files of its result are named after the arguments of the call', async () => {
    const client = await RawClient.connect(wharf.mcp, '2025-11-25');
    await client.request('tools/call', { name: 'ocr', arguments: { path: '/scans/harbour.png' }, task: {} });
    expect(announced((await client.request('tasks/result', { taskId: 'task-of-one' })).result).name).toBe(
      'harbour.png',
    );
  });

  it('2026-07-28: the same, where each of several files has its own name', async () => {
    const client = RawClient.stateless(wharf.mcp, '2026-07-28', { capabilities: EXTENSION });
    await client.call('ocr', { files: ['/scans/first.png', '/scans/second.png'] });
    const { result } = await client.request('tasks/get', { taskId: 'task-of-two' });
    const { _meta } = (result?.result ?? {}) as { _meta?: { 'dev.wharf/files': { name: string }[] } };
    expect(_meta?.['dev.wharf/files'].map(({ name }) => name)).toEqual(['first.png', 'second.png']);
  });

  it('a task that Wharf has not seen begin has its files cut all the same', async () => {
    const client = await RawClient.connect(wharf.mcp, '2025-11-25');
    const { result } = await client.request('tasks/result', { taskId: 'task-of-before' });
    expect(announced(result).name).toBe('task-of-before-1.png');
  });
});

describe('a task of a stdio server, which takes the path of a file', () => {
  let wharf: Wharf;
  let client: RawClient;

  beforeEach(async () => {
    const command = [process.execPath, 'test/helpers/task-stdio.fixture.mjs'];
    const tools = { read: { files: { file: { encoding: 'localPath' } } } };
    wharf = await startWharf({ servers: { s: { command, tools } } });
    client = await RawClient.connect(wharf.mcp, '2025-11-25');
  });

  afterEach(() => wharf.stop());

  /** Begins it. @returns where its file is */
  async function begin(value: string): Promise<string> {
    const call = await client.request('tools/call', { name: 'read', arguments: { file: `data:,${value}` }, task: {} });
    const told = await client.request('tasks/get', { taskId: 'task-1' });
    // where either has failed, what follows would wait for a file that never was
    expect([call.error, told.error]).toEqual([undefined, undefined]);
    return String(told.result?.statusMessage);
  }
  const textOf = ({ result }: { result?: Json }) =>
    String((result as { content?: { text: string }[] } | undefined)?.content?.[0]?.text);
  const fetched = async (taskId: string) => textOf(await client.request('tasks/result', { taskId }));
  const isGone = (path: string) => until(() => !existsSync(dirname(path)));

  it('has it until its result is fetched (BR-20)', async () => {
    const one = await begin('one');
    const two = await begin('two');
    expect(await fetched('task-1')).toBe('one');
    await isGone(one);
    expect(await fetched('task-2')).toBe('two');
    await isGone(two);
  });

  it('has it no longer when it is cancelled, or when its session ends (BR-20)', async () => {
    const one = await begin('one');
    expect(existsSync(one)).toBe(true);
    await client.request('tasks/cancel', { taskId: 'task-1' });
    await isGone(one);
    const two = await begin('two');
    expect(existsSync(two)).toBe(true);
    await fetch(wharf.mcp, { method: 'DELETE', headers: { 'mcp-session-id': String(client.session) } });
    await isGone(two);
  });

  it('has it no longer once its client has been told that it is over, as by the extension, which has no `tasks/result` (BR-20)', async () => {
    const working = await begin('one');
    const over = await begin('over');
    expect((await client.request('tasks/get', { taskId: 'task-2' })).result?.status).toBe('completed');
    await isGone(over);
    expect((await client.request('tasks/get', { taskId: 'task-1' })).result?.status).toBe('working');
    expect(existsSync(working)).toBe(true);
  });

  it('has it no longer once its server has said by itself that it is over', async () => {
    await isGone(await begin('told'));
  });

  it('has it no longer once its call is answered, if its server has said before that it is over (BR-20)', async () => {
    const working = await begin('one');
    await isGone(await begin('soon'));
    expect(existsSync(working)).toBe(true);
  });

  it('has it no longer once its call is answered by a task that is over already (BR-20)', async () => {
    const working = await begin('one');
    await isGone(await begin('once'));
    expect(existsSync(working)).toBe(true);
  });

  it('is told from a call that is over at once', async () => {
    await isGone(textOf(await client.call('read', { file: 'data:,x' })));
  });

  describe('when its client leaves before the answer', () => {
    /** Sends calls that are answered late, and leaves once their server has them all. @returns where the last file is */
    async function leave(messages: readonly Json[], cancelled?: string): Promise<string> {
      const gone = new AbortController();
      const body = JSON.stringify(messages.length === 1 ? messages[0] : messages);
      const headers = { ...client.headers(), 'content-type': 'application/json' };
      const sent = fetch(wharf.mcp, { method: 'POST', headers, body, signal: gone.signal }).catch(() => undefined);
      await until(async () => (await fetched(`task-${messages.length}`)) === 'late');
      if (cancelled !== undefined) {
        const params = { requestId: cancelled };
        await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
      }
      gone.abort();
      await sent;
      return String((await client.request('tasks/get', { taskId: 'task-1' })).result?.statusMessage);
    }
    const late = (id: string, more: Json = {}) => {
      const params = { name: 'read', arguments: { file: 'data:,late' }, ...more };
      return { jsonrpc: '2.0', id, method: 'tools/call', params };
    };

    it('has it until its server answers, with a task too', async () => {
      const path = await leave([late('a', { task: {} })]);
      await client.request('tasks/list');
      expect(await fetched('task-1')).toBe('late');
      await isGone(path);
    });

    it('has a result whose files are those of its tool', async () => {
      await leave([late('a', { task: {} })]);
      await client.request('tasks/list');
      const { result } = await client.request('tasks/result', { taskId: 'task-1' });
      expect(announced(result).name).toMatch(/^read-1\./);
    });

    it('has it no longer when it is a call, whatever became of the other calls of its batch', async () => {
      client = await RawClient.connect(wharf.mcp, '2025-03-26');
      const path = await leave([late('a'), late('b')], 'a');
      expect(existsSync(path)).toBe(true);
      await client.request('tasks/list');
      await isGone(path);
    });
  });
});
