import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ChainEnd, newChain, nextLine } from '../../../gateway/audit/chain.js';
import { auditLines } from '../../helpers/audit-lines.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { until } from '../../helpers/wait.js';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'gateway', 'main.js');
let folder: string;
let fake: FakeUpstream;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-verify-'));
  fake = await startFakeUpstream({ transport: 'json' });
});

afterAll(async () => {
  await fake?.close();
  await rm(folder, { recursive: true, force: true });
});

function verify(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, 'audit', 'verify', ...args], (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
  });
}

describe('wharf audit verify', () => {
  it('says where a chain ends, and exits with 1 when a line is missing', async () => {
    let end: ChainEnd = newChain();
    const lines = [1, 2, 3].map(() => {
      const made = nextLine(end, '"time":"2026-11-22T00:00:00.000Z","what":"call"');
      end = made.end;
      return `${made.line}\n`;
    });
    const path = join(folder, 'a.jsonl');
    await writeFile(path, lines.join(''));
    expect(await verify(path, '--has', `3:${end.hash}`)).toMatchObject({
      code: 0,
      out: expect.stringContaining(`3 lines, 1 to 3`),
    });
    await writeFile(path, lines.toSpliced(1, 1).join(''));
    expect(await verify(path)).toMatchObject({ code: 1, out: expect.stringContaining('line 2 is missing before it') });
  });

  it('exits with 2 when there is nothing to read, or nothing to do', async () => {
    expect(await verify(join(folder, 'nowhere'))).toMatchObject({ code: 2, err: expect.stringContaining('ENOENT') });
    expect(await verify()).toMatchObject({ code: 2, err: expect.stringContaining('give either files or --config') });
    expect(await verify('x', '--has', '3')).toMatchObject({ code: 2, err: expect.stringContaining('SEQ:HASH') });
  });
});

describe('an audit log on standard output', () => {
  it('is all that is there, and is a chain', async () => {
    const config = join(folder, 'wharf.yaml');
    const written = {
      ...{ listen: '127.0.0.1:0', servers: { store: { url: fake.url } }, audit: { use: 'stdout' } },
      ...{ objects: { use: 'memory' } },
    };
    await writeFile(config, JSON.stringify(written));
    const child = spawn(process.execPath, [MAIN, '--config', config], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    await until(() => /http:\S+\/mcp/.test(err));
    const url = /http:\S+\/mcp/.exec(err)?.[0] as string;
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'desk', version: '1' } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    await (await fetch(url, { method: 'POST', headers, body })).text();
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('close', resolve));
    const path = join(folder, 'out.jsonl');
    await writeFile(path, out);
    expect(await verify(path)).toMatchObject({ code: 0, out: expect.stringContaining('2 lines, 1 to 2') });
    const [started, login] = await auditLines(path);
    expect(started).toMatchObject({ what: 'config', subject: 'started' });
    expect(login).toMatchObject({ what: 'login', client: 'desk' });
  });
});
