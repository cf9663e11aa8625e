import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { gauge } from '../../helpers/fault-checks.js';
import { RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const SCRIPT = fileURLToPath(new URL('../../../../test/helpers/pausing-stdio.fixture.mjs', import.meta.url));
/** More than a pipe holds. */
const SIZE = 3_000_000;

let folder: string;
let stored: string;
let wharf: Wharf;
let client: RawClient;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-turns-'));
  stored = await mkdtemp(join(tmpdir(), 'wharf-turns-stored-'));
  const tools = { take: { files: { file: { encoding: 'base64' } } } };
  const config = { objects: { use: 'filesystem', path: stored } };
  wharf = await startWharf({ servers: { local: { command: [process.execPath, SCRIPT, folder], tools } }, config });
  client = await RawClient.connect(wharf.mcp);
});

afterEach(async () => {
  await wharf?.stop();
  for (const one of [folder, stored]) await rm(one, { recursive: true, force: true });
});

async function uploaded(): Promise<string> {
  const { result } = await client.call('request_file_upload');
  const offer = result?.structuredContent as { file: { uri: string }; upload: { url: string } };
  const { file, upload } = offer;
  const answer = await fetch(upload.url, { method: 'PUT', body: Buffer.alloc(SIZE, file.uri) });
  expect(answer.status).toBe(201);
  return file.uri;
}

const open = () => gauge(wharf.adminUrl, 'wharf_open_exchanges');
const pause = () => client.post({ jsonrpc: '2.0', method: 'notifications/pause' });

/** Calls the tool, and waits until its file is on its way, or waits for its turn. */
async function handOver(label: string, file: string, id: number): Promise<{ answered: Promise<unknown> }> {
  const handed = () => wharf.lines.filter(({ text }) => text === 'a file was handed over').length;
  const before = handed();
  const params = { name: 'take', arguments: { label, file } };
  const answered = client.post({ jsonrpc: '2.0', id, method: 'tools/call', params });
  await until(() => handed() > before);
  return { answered };
}

describe('files on their way to one process', () => {
  it('make other messages wait for one of them at most, and no cancellation comes before its call', async () => {
    const file = await uploaded();
    await pause();
    const first = await handOver('first', file, 101);
    const second = await handOver('second', file, 102);
    const small = client.call('small');
    const params = { requestId: 102, reason: 'not needed any more' };
    const cancelled = client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    await until(async () => (await open()) === 4);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await writeFile(join(folder, 'go'), '');
    await Promise.all([first.answered, second.answered, small, cancelled]);
    const { result } = await client.call('order');
    expect(JSON.parse(String(result?.content?.[0]?.text))).toEqual([
      'notifications/initialized',
      'notifications/pause',
      'first',
      'small',
      'second',
      'notifications/cancelled',
    ]);
  });
});

describe('a client that leaves while its call is prepared', () => {
  it('leaves nothing open, and the session goes on', async () => {
    await pause();
    const gone = new AbortController();
    // the tool has not been listed: the server is asked for its declaration first, and says nothing yet
    const params = { name: 'take', arguments: { label: 'left' } };
    const answered = client.open('tools/call', params, {}, gone.signal).catch(() => 'left');
    await until(async () => (await open()) === 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    gone.abort();
    expect(await answered).toBe('left');
    await new Promise((resolve) => setTimeout(resolve, 100));
    await writeFile(join(folder, 'go'), '');
    // both calls waited for the declaration, and either may go first
    const order = async () => String((await client.call('order')).result?.content?.[0]?.text);
    await until(async () => (await order()).includes('left'));
    await until(async () => (await open()) === 0);
  });
});

describe('a call that could not be sent', () => {
  it('is over, and another may have its id', async () => {
    const file = await uploaded();
    const objects = join(stored, 'objects');
    for (const name of await readdir(objects)) await rm(join(objects, name), { recursive: true });
    const call = (name: string, args: Record<string, unknown>) =>
      client.post({ jsonrpc: '2.0', id: 101, method: 'tools/call', params: { name, arguments: args } });
    expect((await call('take', { file })).messages[0]).toMatchObject({ id: 101, result: { isError: true } });
    expect((await call('small', {})).messages[0]).toMatchObject({ id: 101, result: { content: [{ text: 'done' }] } });
  });
});
