import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { ROOT, start } from '../cli-process.js';
import { authorizeUpload } from '../files/sep-2631-lab.js';

const FIXTURE = `${ROOT}test/helpers/scripted-stdio.fixture.mjs`;
/** More than one part, so that some of it is on disk. */
const SENT = 6 * 1024 * 1024;

it('a second signal in the middle of an upload leaves nothing of it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wharf-second-'));
  const config = join(folder, 'wharf.yaml');
  const data = join(folder, 'data');
  await writeFile(
    config,
    JSON.stringify({
      listen: '127.0.0.1:0',
      servers: { s: { command: [process.execPath, FIXTURE, 'linking', '1'] } },
      objects: { use: 'filesystem', path: data },
    }),
  );
  const wharf = start(['--config', config], { cwd: folder });
  try {
    const [, mcp] = await wharf.printed(/(http:\/\/\S+\/mcp)\n/);
    const client = await RawClient.connect(String(mcp), '2025-11-25');
    const { url } = (await authorizeUpload(client, { name: 'long.bin' })).upload;
    const headers = { 'content-type': 'application/octet-stream', 'content-length': 2 * SENT };
    const upload = request(url, { method: 'PUT', headers });
    upload.on('error', () => undefined);
    upload.write(Buffer.alloc(SENT));
    const unfinished = () => readdir(join(data, 'tmp')).catch((): string[] => []);
    await until(async () => {
      const [name] = await unfinished();
      return name !== undefined && (await stat(join(data, 'tmp', name))).size > 0;
    });
    wharf.child.kill('SIGTERM');
    await until(() => wharf.err().includes('Draining'));
    wharf.child.kill('SIGTERM');
    expect((await wharf.ended).code).toBe(1);
    expect(await unfinished()).toEqual([]);
  } finally {
    wharf.child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
});
