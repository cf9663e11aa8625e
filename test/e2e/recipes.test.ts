import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256 } from '../helpers/bytes.js';
import { ROOT, type Running, start } from './cli-process.js';

/** The page's shell lines, recipe by recipe, as they would be pasted. */
async function recipes(): Promise<string[]> {
  const page = await readFile(`${ROOT}docs/tutorials/recipes.md`, 'utf8');
  return [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, lines]) => lines ?? '');
}

let folder: string;
let gateway: Running;
let prelude: string;
let steps: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-recipes-'));
  const [first = '', functions = '', ...rest] = await recipes();
  const config = /--config (\S+)/.exec(first)?.[1] ?? '';
  // the example names its programs and its folder as they are for a reader in the repository
  const text = await readFile(join(ROOT, config), 'utf8');
  const own = join(folder, 'recipes.yaml');
  await promisify(execFile)('sh', ['-c', `mkdir -p ${folder}/papers && cat > ${own} <<'END'\n${adapted(text)}\nEND`]);
  gateway = start(['--config', own, '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'], { cwd: folder });
  const [url] = await gateway.printed(/http:\/\/127\.0\.0\.1:\d+(?=\/camera\/mcp)/);
  prelude = functions.replace('http://127.0.0.1:8080', url);
  steps = rest;
});

afterAll(async () => {
  gateway?.child.kill('SIGTERM');
  await gateway?.ended;
  await rm(folder, { recursive: true, force: true });
});

const adapted = (text: string) =>
  text.replaceAll(/(?<=[ [])(dist|node_modules)\//g, `${ROOT}$1/`).replaceAll('/tmp/papers', `${folder}/papers`);

async function run(step: number): Promise<string> {
  const lines = adapted(steps[step] ?? 'exit 1');
  const { stdout } = await promisify(execFile)('bash', ['-c', `${prelude}\n${lines}`], {
    cwd: folder,
    encoding: 'latin1',
    timeout: 90_000,
  });
  return stdout;
}

const digestOf = async (name: string) => sha256(await readFile(join(folder, name)));

describe('the five recipes of the tutorial', () => {
  it('screenshots become links', async () => {
    expect(await run(0)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/d\/\S+\n$/);
    expect((await readFile(join(folder, 'shot.jpg'))).length).toBeGreaterThan(3_000_000);
    expect((await readFile(join(folder, 'shot.json'))).length).toBeLessThan(150_000);
  });

  it('a legacy OCR tool takes uploads', async () => {
    expect(await run(1)).toContain(`Read shot.jpg: `);
    expect(await run(1)).toContain(await digestOf('shot.jpg'));
  });

  it('big PDFs out of a filesystem server', async () => {
    const output = await run(2);
    expect(Buffer.from(output, 'latin1').toString()).toContain('big.pdf · application/pdf · 20 MB');
    expect(output.endsWith('%PDF-1.7')).toBe(true);
    expect(output.length).toBeLessThan(5000);
  });

  it('handoff between two servers', async () => {
    expect(await run(3)).toContain(await digestOf('shot.jpg'));
  });

  it('Codex and ChatGPT', async () => {
    const output = await run(4);
    expect(output).toMatch(/"transferModes":\["inline","upload"\]/);
    expect(output).toContain('"openai/fileParams":["image_base64"]');
  });

  it('log nothing but lines of JSON meanwhile, and no warning of Node', async () => {
    const lines = () => gateway.err().trimEnd().split('\n');
    while (!lines().some((line) => line.includes('"text":"download"')))
      await new Promise((more) => setTimeout(more, 50));
    expect(lines().filter((line) => !line.startsWith('{"level":'))).toEqual([]);
  });
});
