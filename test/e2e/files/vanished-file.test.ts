import { mkdtemp, readdir, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const STDIO = fileURLToPath(new URL('../../../../test/helpers/recording-stdio.fixture.mjs', import.meta.url));
const ENCODINGS = ['base64', 'hex', 'text', 'bytes'];
const properties = Object.fromEntries(ENCODINGS.map((name) => [name, {}]));

let upstream: RecordingUpstream;
let wharf: Wharf;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-vanished-'));
  upstream = await RecordingUpstream.start({ tools: [{ name: 'take', inputSchema: { type: 'object', properties } }] });
  const files = Object.fromEntries(ENCODINGS.map((encoding) => [encoding, { encoding }]));
  const stdio = (encoding: string) => ({
    command: [process.execPath, STDIO],
    tools: { take: { files: { file: { encoding } } } },
  });
  wharf = await startWharf({
    servers: {
      http: { url: upstream.url, transport: 'streamable-http', tools: { take: { files } } },
      lines: stdio('base64'),
      paths: stdio('localPath'),
    },
    config: { objects: { use: 'filesystem', path: folder } },
  });
});

afterAll(async () => {
  await wharf?.stop();
  await upstream?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The handle of a file whose object is gone, or is another, while its record lives. */
async function vanished(client: RawClient, without = (path: string) => rm(path)): Promise<string> {
  const { result } = await client.call('request_file_upload', {});
  const offer = result?.structuredContent as { file: { uri: string }; page: string };
  const { file, page } = offer;
  const { status } = await fetch(page, { method: 'PUT', body: 'the bytes of a file' });
  expect(status).toBeLessThan(300);
  const stored = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  expect(stored.length).toBeGreaterThan(0);
  for (const { parentPath, name } of stored) await without(join(parentPath, name));
  return file.uri;
}

const CALLS = [
  ...ENCODINGS.map((argument) => ['http', argument] as const),
  ['lines', 'file'] as const,
  ['paths', 'file'] as const,
];

describe.each([
  ['2025-06-18', (server: string) => RawClient.connect(`${wharf.url}/${server}/mcp`, '2025-06-18')],
  ['2026-07-28', async (server: string) => RawClient.stateless(`${wharf.url}/${server}/mcp`, '2026-07-28', {})],
])('a stored file that has vanished (%s)', (_version, connect) => {
  it.each(CALLS)('is refused by name: %s, %s', async (server, argument) => {
    const client = await connect(server);
    const { result } = await client.call('take', { [argument]: await vanished(client) });
    const text = `Argument '${argument}' is a handle whose file is no longer stored; run the tool that gave it again, or upload it again. An upload takes`;
    expect(result).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining(text) }],
      _meta: { 'dev.wharf/fileError': { reason: 'fileExpired', argument } },
    });
    expect(upstream.with('tools/call')).toHaveLength(0);
    const refused = wharf.lines.filter((line) => line.text === 'a file was refused');
    expect(refused.at(-1)?.fields).toMatchObject({ server, reason: 'fileExpired', argument });
    // the channel lives on
    expect((await client.call('take', { [argument]: 'data:text/plain;base64,QUJD' })).result?.isError).not.toBe(true);
    upstream.requests.length = 0;
  });

  it('is refused like that where it has been cut off', async () => {
    const client = await connect('http');
    const base64 = await vanished(client, (path) => truncate(path, 3));
    const { result } = await client.call('take', { base64 });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^Argument 'base64' is/) }],
    });
    expect(upstream.with('tools/call')).toHaveLength(0);
  });
});
