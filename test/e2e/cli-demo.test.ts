import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256 } from '../helpers/bytes.js';
import { RawClient } from '../helpers/raw-client.js';
import { ROOT, type Running, start } from './cli-process.js';

const DEMO = `${ROOT}dist/deploy/demo/start.js`;
const FILES = `${ROOT}deploy/demo/files`;

let folder: string;
let demo: Running;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-demo-'));
  demo = start(['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'], { program: DEMO, cwd: folder });
});
afterAll(async () => {
  demo.child.kill('SIGTERM');
  await demo.ended;
  await rm(folder, { recursive: true });
});

describe('npm start', () => {
  it('prints shell lines that end in a link to the whole photo', async () => {
    const [lines] = await demo.printed(/^MCP=[\s\S]*?^echo "\$LINK"\n/m);
    const { stdout } = await promisify(execFile)('bash', ['-c', lines]);
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/d\/\S+\n$/);
    const photo = Buffer.from(await (await fetch(stdout.trim())).arrayBuffer());
    expect(photo.length).toBeGreaterThan(3_000_000);
    expect(sha256(photo)).toBe(sha256(await readFile(join(FILES, 'harbour.jpg'))));
  });

  it('gives what README says: the photo under its name, and what the preview is of', async () => {
    const readme = await readFile(`${ROOT}README.md`, 'utf8');
    const [shown = ''] = /\[\n {2}\{ "type": "text",[\s\S]*?\n\]/.exec(readme) ?? [];
    const expected = JSON.parse(shown) as Record<string, unknown>[];
    const [, mcp = ''] = await demo.printed(/(http:\/\/\S+\/mcp)$/m);
    const client = await RawClient.connect(mcp);
    const { result } = await client.call('read_media_file', { path: join(FILES, 'harbour.jpg') });
    const content = result?.content ?? [];
    // what differs each time
    const plain = (text: unknown) =>
      String(text)
        .replace(/http:\S+/, 'LINK')
        .replace(/\d{4}-\d\d-\d\dT\S+Z/, 'THEN');
    expect(plain(content[0]?.text)).toBe(plain(expected[0]?.text));
    expect(content.map(({ type, mimeType, name, size }) => ({ type, mimeType, name, size }))).toEqual(
      expected.map(({ type, mimeType, name, size }) => ({ type, mimeType, name, size })),
    );
  });

  it('leaves no gateway behind where its output is no longer read, as with `npm start | head`', async () => {
    // The gateway has the same stderr: `close` comes once both have ended.
    const both = spawn(process.execPath, [DEMO, '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'], {
      cwd: folder,
    });
    both.stdout.destroy();
    let err = '';
    both.stderr.on('data', (chunk) => (err += chunk));
    await once(both, 'close');
    expect(err).toContain('EPIPE');
  });

  it('makes a PDF whose table names every object where it stands', async () => {
    const pdf = await readFile(join(FILES, 'survey.pdf'));
    expect(pdf.length).toBeGreaterThan(1_000_000);
    const text = pdf.toString('latin1');
    const table = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(text)?.[1]);
    const offsets = [...text.slice(table).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, offset]) => Number(offset));
    expect(offsets.map((offset, index) => text.startsWith(`${index + 1} 0 obj\n`, offset))).toEqual(
      Array(11).fill(true),
    );
  });
});

describe('npm start -- with a server named', () => {
  it('is the gateway itself', async () => {
    const { code, out } = await start(['--version'], { program: DEMO }).ended;
    expect([code, out]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  });

  it.each(['explain file_gone', 'help explain', 'explian'])(
    'answers `%s` as wharf does, and makes no photo',
    async (line) => {
      const clone = join(folder, line.replace(' ', '-'));
      await mkdir(join(clone, 'dist'), { recursive: true });
      await cp(`${ROOT}dist/deploy`, join(clone, 'dist/deploy'), { recursive: true });
      for (const used of ['dist/gateway', 'node_modules', 'package.json'])
        await symlink(ROOT + used, join(clone, used));
      const words = line.split(' ');
      const program = join(clone, 'dist/deploy/demo/start.js');
      const [byDemo, byGateway] = await Promise.all([start(words, { program }).ended, start(words).ended]);
      expect(byDemo).toEqual(byGateway);
      expect(await readdir(clone)).toEqual(['dist', 'node_modules', 'package.json']);
    },
  );

  it('passes a failure on', async () => {
    const { code, err } = await start(['--config', '/nowhere.yaml'], { program: DEMO }).ended;
    expect([code, err]).toEqual([1, '/nowhere.yaml: does not exist\n']);
  });
});
