import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { shell } from '../../helpers/shell.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const TAKE = {
  name: 'take',
  inputSchema: { type: 'object', properties: { file: { type: 'string', contentEncoding: 'base64' } } },
};

interface Offered {
  file: { uri: string; name: string };
  curl: string;
  curlPut: string;
}

let upstream: RecordingUpstream;
let wharf: Wharf;
let client: RawClient;
let folder: string;

beforeAll(async () => {
  upstream = await RecordingUpstream.start({ tools: [TAKE] });
  wharf = await startWharf({ servers: { docs: { url: upstream.url, transport: 'streamable-http' } } });
  client = await RawClient.connect(wharf.mcp);
  folder = await mkdtemp(join(tmpdir(), 'wharf-curl-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await wharf?.stop();
  await upstream?.stop();
});

async function offered(args: Record<string, unknown>): Promise<Offered> {
  const { result } = await client.call('request_file_upload', args);
  return result?.structuredContent as unknown as Offered;
}

/** What the server gets when the handle is passed. */
async function bytesAt(uri: string): Promise<Buffer> {
  await client.call('take', { file: uri });
  return Buffer.from(String(upstream.lastArguments.file), 'base64');
}

describe('the curl lines', () => {
  it.each(['curl', 'curlPut'] as const)('%s works as it stands (FB-10)', async (line) => {
    const bytes = Buffer.from('AAEC/f7/', 'base64');
    await writeFile(join(folder, 'x.bin'), bytes);
    const offer = await offered({ name: 'x.bin' });
    expect(JSON.parse(await shell(offer[line], folder))).toMatchObject({
      status: 'completed',
      file: { name: 'x.bin' },
    });
    expect(await bytesAt(offer.file.uri)).toEqual(bytes);
  });

  // names that a shell or curl would take for something else
  it.each([
    "it's here.txt",
    '$(touch pwned).txt',
    '`touch pwned`.txt',
    'a; touch pwned; b.txt',
    'a,b;type=text,c.txt',
    '[1-3]{a,b}.txt',
    'with space & more.txt',
    'отчёт 文档.pdf',
    '100%.txt',
    '#!&=@+~.txt',
    "'; touch pwned; '",
  ])('name the file %s and nothing else', async (name) => {
    const bytes = randomBytes(32);
    await writeFile(join(folder, name), bytes);
    for (const line of ['curl', 'curlPut'] as const) {
      const offer = await offered({ name });
      expect(JSON.parse(await shell(offer[line], folder))).toMatchObject({ status: 'completed', file: { name } });
      expect(await bytesAt(offer.file.uri)).toEqual(bytes);
    }
    expect(existsSync(join(folder, 'pwned'))).toBe(false);
  });

  it.each([
    ['-o/tmp/pwned', 'pwned'],
    ['../../etc/passwd', 'passwd'],
    ['a\nb\u202e.txt', 'ab.txt'],
    ['"quoted"\\.txt', 'txt'],
    ['-', 'FILE'],
    ['.', 'FILE'],
  ])('of %j are about %s in the current folder', async (name, expected) => {
    const { curl, curlPut } = await offered({ name });
    expect(curl).toMatch(/^curl -sSg -F file=@\S+ http:\S+\/u\/[\w-]+$/);
    const words = [curl.split(' ')[3], curlPut.split(' ')[3]];
    expect(words.map((word) => word?.replace('file=@', ''))).toEqual(words.map(() => expected));
  });

  it('stand for a file without a name as FILE', async () => {
    const offer = await offered({});
    await writeFile(join(folder, 'FILE'), 'hello');
    expect(JSON.parse(await shell(offer.curl, folder))).toMatchObject({ status: 'completed' });
  });
});
