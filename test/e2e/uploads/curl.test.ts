import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256Url } from '../../helpers/bytes.js';

import { startUploadServer, type UploadServer } from '../../helpers/upload-server.js';

const CURL_MS = 60_000;

let server: UploadServer;
let folder: string;

beforeAll(async () => {
  server = await startUploadServer({ stores: 'filesystem+memory', fileLimit: 5_000_000 });
  folder = await mkdtemp(join(tmpdir(), 'wharf-curl-'));
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What curl prints, and the status after it. */
async function curl(...args: string[]): Promise<{ status: number; answer: Record<string, Record<string, unknown>> }> {
  const all = ['--silent', '--show-error', '--write-out', '\n%{http_code}', ...args];
  const { stdout } = await promisify(execFile)('curl', all, { timeout: CURL_MS });
  const [body = '', status] = stdout.split(/\n(?=\d+$)/);
  return { status: Number(status), answer: JSON.parse(body) };
}

describe('curl', () => {
  // above 1 MiB curl asks first (Expect: 100-continue)
  it.each([0, 12, 1_500_000])('uploads %i bytes with -T and with -F', async (size) => {
    const bytes = Buffer.alloc(size, 'some text, ');
    const path = join(folder, `für uns ${size}.txt`);
    await writeFile(path, bytes);
    const [put, form, piped] = [await server.authorize(), await server.authorize(), await server.authorize()];

    expect(await curl('-T', path, put.url)).toMatchObject({ status: 201, answer: { file: { uri: put.uri, size } } });
    expect(await curl('-F', `file=@${path}`, form.url)).toMatchObject({
      status: 201,
      answer: { file: { uri: form.uri, name: `für uns ${size}.txt`, mimeType: 'text/plain', size } },
    });
    expect(await curl('--data-binary', `@${path}`, piped.url)).toMatchObject({ status: 201 });
    for (const { uri } of [put, form, piped]) expect(await server.digestOf(uri)).toBe(sha256Url(bytes));
  });

  it('reads why a file that is too large is refused', async () => {
    const path = join(folder, 'large.bin');
    await writeFile(path, Buffer.alloc(9_000_000));
    const { url } = await server.authorize();
    for (const args of [
      ['-T', path],
      ['-T', path, '-H', 'Expect:'],
      ['-F', `file=@${path}`],
    ]) {
      expect(await curl(...args, url)).toMatchObject({ status: 413, answer: { error: { reason: 'maxSizeExceeded' } } });
    }
  });

  it('sends nothing of a file that is too large, because it asks first', async () => {
    const path = join(folder, 'asked.bin');
    await writeFile(path, Buffer.alloc(9_000_000));
    const { url } = await server.authorize();
    for (const args of [
      ['-T', path],
      ['-F', `file=@${path}`],
    ]) {
      const told = ['--silent', '--output', join(folder, 'answer'), '--write-out', '%{http_code} %{size_upload}'];
      const { stdout } = await promisify(execFile)('curl', [...told, ...args, url], { timeout: CURL_MS });
      expect(stdout).toBe('413 0');
    }
  });

  it('sends two files to nowhere', async () => {
    const path = join(folder, 'small.txt');
    await writeFile(path, 'small');
    const { url } = await server.authorize();
    const { status, answer } = await curl('-F', `file=@${path}`, '-F', `file=@${path}`, url);
    expect([status, answer.error?.reason]).toEqual([400, 'tooManyFiles']);
  });
});
