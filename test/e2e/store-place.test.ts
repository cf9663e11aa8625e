import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Gateway, startGateway } from '../helpers/gateway-process.js';
import { RawClient } from '../helpers/raw-client.js';
import { filesystemServer } from '../helpers/sdk-servers.js';
import { noisePng } from '../helpers/sdk-servers-bytes.js';
import { startWharf } from '../helpers/wharf.js';
import { start } from './cli-process.js';

let folder: string;
let gateway: Gateway | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-place-'));
  await writeFile(join(folder, 'picture.png'), noisePng(1000));
});

afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
  await rm(folder, { recursive: true, force: true });
});

const server = () => filesystemServer('.').command ?? [];

/** The link to the picture, once it is a file. */
async function linkOf(client: RawClient): Promise<string> {
  const { result } = await client.call('read_media_file', { path: join(folder, 'picture.png') });
  const files = (result?._meta as { 'dev.wharf/files'?: { url: string }[] } | undefined)?.['dev.wharf/files'];
  return files?.[0]?.url ?? JSON.stringify(result);
}

describe('wharf in front of a server that is given the working directory', () => {
  it('keeps nothing where the server’s tools reach, and serves nothing that was changed behind it (G33)', async () => {
    const state = join(folder, '../', `${folder.split('/').at(-1)}-state`);
    gateway = await startGateway({ args: ['--', ...server()], cwd: folder, env: { XDG_STATE_HOME: state } });
    const client = await RawClient.connect(gateway.mcp());
    const link = await linkOf(client);
    expect((await fetch(link)).status).toBe(200);
    const { result } = await client.call('directory_tree', { path: folder });
    expect(JSON.stringify(result)).toContain('picture.png');
    expect(JSON.stringify(result)).not.toMatch(/wharf|objects|f_/);
    const stored = (await readdir(state, { recursive: true })).filter((name) => /\/f_[\w-]{22}$/.test(name));
    expect(stored).toHaveLength(1);
    const path = join(state, stored[0] as string);
    const { headers } = await fetch(link, { method: 'HEAD' });
    await writeFile(path, Buffer.alloc(Number(headers.get('content-length')), 'x'));
    for (const range of ['bytes=0-', 'bytes=5-9']) expect((await fetch(link, { headers: { range } })).status).toBe(410);
    expect((await fetch(link)).status).toBe(410);
    await rm(state, { recursive: true, force: true });
  });

  it('refuses, in check and at the start, a store that is configured there', async () => {
    const file = join(folder, 'wharf.yaml');
    const config = { servers: { files: { command: server() } }, objects: { use: 'filesystem', path: './store' } };
    await writeFile(file, JSON.stringify(config));
    for (const args of [
      ['check', '--config', file],
      ['--config', file],
    ]) {
      const { code, out, err } = await start(args, { cwd: folder }).ended;
      expect(code).toBe(1);
      expect(out + err).toMatch(
        /^objects\.path: overlaps with \., which a server is given \(servers\.files\.command\[/,
      );
    }
  });
});

describe('two gateways in one folder', () => {
  const servers = { a: { url: 'http://127.0.0.1:1/mcp' } };
  const TEXT = /^Another Wharf keeps its files in the same folder\. .*\(objects\.path\)/;

  it('are told of by the second one, where each knows only its own files', async () => {
    const config = { objects: { use: 'filesystem', path: join(folder, 'data') } };
    const first = await startWharf({ servers, config });
    const second = await startWharf({ servers, config });
    const told = [first, second].map(({ lines }) => lines.filter(({ text }) => TEXT.test(text)));
    await second.stop();
    await first.stop();
    expect(told).toEqual([
      [],
      [
        {
          level: 'warn',
          fields: { holder: expect.stringContaining(`process ${process.pid} `), place: join(folder, 'data') },
          text: expect.any(String),
        },
      ],
    ]);
    const third = await startWharf({ servers, config });
    const listen = new URL(third.url).host;
    const again = join(folder, 'again.yaml');
    await writeFile(again, JSON.stringify({ servers, ...config, listen }));
    const { code, out, err } = await start(['--config', again], { cwd: folder }).ended;
    expect([code, out + err]).toEqual([1, expect.stringContaining('is already in use')]);
    expect(out + err).not.toContain('Another Wharf');
    expect(third.lines.filter(({ text }) => TEXT.test(text))).toEqual([]);
    await third.stop();
  });

  it('are not told of where the second one ends at its port: it is the same Wharf, started again', async () => {
    const file = join(folder, 'again.yaml');
    await writeFile(file, JSON.stringify({ servers, objects: { use: 'filesystem', path: join(folder, 'again') } }));
    const first = start(['--config', file, '--listen', '127.0.0.1:0']);
    const [, address = ''] = await first.printed(/http:\/\/(\S+)\/mcp[\s\S]*files .*\n/);
    const second = await start(['--config', file, '--listen', address]).ended;
    first.child.kill('SIGTERM');
    await first.ended;
    expect(second).toEqual({
      code: 1,
      out: '',
      err: `${address} is already in use. Choose another port with --listen.\n`,
    });
  });
});
