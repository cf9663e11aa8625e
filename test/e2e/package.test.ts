import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire, SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { recordDigest } from '../helpers/bytes.js';
import { RawClient } from '../helpers/raw-client.js';
import { filesystemServer } from '../helpers/sdk-servers.js';
import { noisePng } from '../helpers/sdk-servers-bytes.js';
import { copyOfTree, FRUGAL_BUILD, ROOT } from '../helpers/tree-copy.js';
import { type Running, start } from './cli-process.js';

const run = promisify(execFile);

const { satisfies } = createRequire(import.meta.url)('semver') as {
  satisfies(version: string, range: string): boolean;
};
const { devEngines } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
  devEngines: { runtime: { version: string } };
};

interface LockEntry {
  dev?: boolean;
  optional?: boolean;
  integrity?: string;
  hasInstallScript?: boolean;
  version?: string;
  resolved?: string;
  link?: boolean;
  engines?: { node?: string };
  optionalDependencies?: Record<string, string>;
}

const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockEntry>;
};
const entries = Object.entries(lock.packages).filter(([path]) => path !== '');
/** The Node that the repository is built with, a workspace: users do not get it. */
const built = lock.packages['deploy/node']?.optionalDependencies ?? {};
const workspace = new Set([
  'deploy/node',
  'node_modules/wharf-node',
  ...Object.keys(built).map((name) => `node_modules/${name}`),
]);
const locked = entries.filter(([path]) => !workspace.has(path));

describe('the lock file', () => {
  it('has a hash of every package that a user gets (G22)', () => {
    const production = locked.filter(([, { dev }]) => !dev);
    expect(production.length).toBeGreaterThan(50);
    expect(production.filter(([, { integrity }]) => integrity === undefined)).toEqual([]);
  });

  it('lacks the hash of nothing but tools for other platforms', () => {
    const without = locked.filter(([, { integrity }]) => integrity === undefined);
    expect(without.filter(([, { dev, optional }]) => !dev || !optional)).toEqual([]);
  });

  it('has the Node of the repository for each platform, with its hash', () => {
    expect(Object.keys(built)).toHaveLength(4);
    for (const [name, version] of Object.entries(built))
      expect(lock.packages[`node_modules/${name}`]).toMatchObject({
        version,
        integrity: expect.stringMatching(/^sha512-/),
        optional: true,
      });
  });

  it('has nothing that warns of the Node that npm runs on: it is the oldest that may build Wharf', () => {
    const [oldest = ''] = devEngines.runtime.version.match(/\d+\.\d+/) ?? [];
    const needed = locked.filter(([, { optional }]) => !optional);
    const newer = needed.filter(([, { engines }]) => engines?.node && !satisfies(`${oldest}.0`, engines.node));
    expect(newer.map(([path, { engines }]) => `${path}: ${engines?.node}`)).toEqual([]);
  });

  it('names no registry', () => {
    expect(entries.filter(([, { resolved, link }]) => resolved !== undefined && !link)).toEqual([]);
  });

  it('has no package whose install script a user would run, and says no to those of the tools', async () => {
    const scripts = locked
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path, { dev }]) => ({ path, dev }));
    const { allowScripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      allowScripts: Record<string, boolean>;
    };
    expect(scripts.filter(({ dev }) => !dev)).toEqual([]);
    for (const { path } of scripts)
      expect([path, allowScripts[path.replace(/^.*node_modules\//, '')]]).toEqual([path, false]);
  });
});

describe('the package that npm pack makes of a fresh clone', () => {
  let tree: string;
  let prefix: string;
  let files: string[];
  let running: Running | undefined;

  beforeAll(async () => {
    tree = await copyOfTree('package');
    prefix = await mkdtemp(join(tmpdir(), 'wharf-prefix-'));
    const pack = ['pack', '--json', '--offline', '--loglevel', 'error'];
    const { stdout } = await run('npm', pack, { cwd: tree, env: FRUGAL_BUILD });
    // what prepack prints stands in front
    const [packed] = Object.values(JSON.parse(stdout.slice(stdout.search(/^[[{]/m))) as object) as {
      filename: string;
      files: { path: string }[];
    }[];
    files = packed?.files.map(({ path }) => path) ?? [];
    await install(join(tree, String(packed?.filename)));
  }, 300_000);

  afterAll(async () => {
    running?.child.kill('SIGKILL');
    await running?.ended;
    await rm(tree, { recursive: true, force: true });
    await rm(prefix, { recursive: true, force: true });
  });

  /** As `npm install --global --prefix` does it, but for fetching: the dependencies that the lock names are here. */
  async function install(archive: string): Promise<void> {
    const home = join(prefix, 'lib/node_modules/mcp-wharf');
    await mkdir(home, { recursive: true });
    await run('tar', ['-xzf', archive, '--strip-components=1', '-C', home]);
    for (const [path, { dev }] of locked) {
      const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1];
      if (name === undefined || dev) continue;
      const link = join(home, 'node_modules', name);
      await mkdir(join(link, '..'), { recursive: true });
      await symlink(join(ROOT, 'node_modules', name), link);
    }
    await mkdir(join(prefix, 'bin'));
    await chmod(join(home, 'dist/gateway/main.js'), 0o755);
    await symlink('../lib/node_modules/mcp-wharf/dist/gateway/main.js', join(prefix, 'bin/wharf'));
  }

  it('holds the program, the schema and the pages, and neither tests nor maps without their program', () => {
    for (const file of [
      'dist/gateway/main.js',
      'dist/gateway/bundle/child.js',
      'deploy/wharf.schema.json',
      'CONFIG.md',
      'deploy/systemd/wharf.service',
    ])
      expect(files).toContain(file);
    expect(files.filter((file) => /\.tsbuildinfo$|^(?:dist\/test|deploy\/node|node_modules)\//.test(file))).toEqual([]);
    expect(files.filter((file) => file.endsWith('.map') && !files.includes(file.slice(0, -4)))).toEqual([]);
  });

  it('has maps that name the sources, and do not hold them', async () => {
    const folder = join(prefix, 'lib/node_modules/mcp-wharf/dist/gateway/bundle');
    const texts = await Promise.all(
      files
        .filter((file) => file.endsWith('.map'))
        .map((file) => readFile(join(folder, file.replace(/^.*\//, '')), 'utf8')),
    );
    const maps = texts.map((text) => JSON.parse(text) as { sources: string[]; sourcesContent?: string[] });
    expect(maps.flatMap(({ sources }) => sources)).toContain('../../../gateway/relay/server.ts');
    expect(maps.filter(({ sourcesContent }) => sourcesContent !== undefined)).toEqual([]);
  });

  it('says in stacks where a frame is in the sources', async () => {
    const bundle = join(prefix, 'lib/node_modules/mcp-wharf/dist/gateway/bundle');
    const [compiled, written] = ['AnswerRelay = class', 'class AnswerRelay'];
    const read = (file: string) => readFile(join(bundle, file), 'utf8');
    const programs = (await readdir(bundle)).filter((file) => file.endsWith('.js'));
    const found = await Promise.all(
      programs.map(async (file) => ((await read(file)).includes(compiled) ? [file] : [])),
    );
    const [name = ''] = found.flat();
    const lines = (await read(name)).split('\n');
    const line = lines.findIndex((one) => one.includes(compiled));
    const map = new SourceMap(JSON.parse(await read(`${name}.map`)));
    const entry = map.findEntry(line, String(lines[line]).indexOf('AnswerRelay'));
    expect(entry).toMatchObject({ originalSource: expect.stringMatching(/gateway\/relay\/.*\.ts$/) });
    const { originalSource, originalLine } = entry as { originalSource: string; originalLine: number };
    const source = await readFile(join(ROOT, originalSource.replace(/^(?:\.\.\/)+/, '')), 'utf8');
    expect(source.split('\n')[originalLine]).toContain(written);
  });

  it('holds what its README, its pages and those for operators link to', async () => {
    const pages = files.filter((file) => /^(?:README|CONFIG|OPERATIONS|STORAGE|docs\/.*)\.md$/.test(file));
    expect(pages.length).toBeGreaterThan(10);
    for (const page of pages) {
      const text = await readFile(join(tree, page), 'utf8');
      const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target]) => String(target));
      for (const target of targets.map((target) => join(dirname(page), target)))
        expect([page, target, files.some((file) => file.startsWith(target))]).toEqual([page, target, true]);
    }
  });

  it('is built and started from a clone by the Node of the repository, whatever runs npm', async () => {
    const { stdout } = await run('npm', ['exec', '--offline', '--call', 'node --version'], { cwd: tree });
    expect(stdout.trim()).toBe(`v${Object.values(built)[0]}`);
  });

  it('builds before it starts from a clone, and says so', async () => {
    const { stdout } = await run('npm', ['start', '--', '--version'], { cwd: tree, env: FRUGAL_BUILD });
    expect(stdout).toMatch(/^Building Wharf \.\.\.$[\s\S]*^\d+\.\d+\.\d+$/m);
  });

  it('tells its version', async () => {
    const { version } = JSON.parse(await readFile(join(tree, 'package.json'), 'utf8')) as { version: string };
    const { stdout } = await run(join(prefix, 'bin/wharf'), ['--version'], { cwd: tmpdir() });
    expect(stdout).toBe(`${version}\n`);
  });

  it('runs, installed under a prefix, in front of the official file server', async () => {
    const folder = join(prefix, 'pictures');
    await mkdir(folder);
    const picture = noisePng(1000);
    await writeFile(join(folder, 'harbour.png'), picture);
    const { command = [] } = filesystemServer(folder);
    running = start(['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', '--', ...command], {
      cwd: prefix,
      program: join(prefix, 'bin/wharf'),
    });
    const [, url] = await running.printed(/(http:\/\/\S+\/mcp)\n/);
    const client = await RawClient.connect(String(url));
    const { result } = await client.call('read_media_file', { path: join(folder, 'harbour.png') });
    const [file] =
      (result?._meta as { 'dev.wharf/files': { url: string; size: number }[] } | undefined)?.['dev.wharf/files'] ?? [];
    expect(file?.size).toBe(picture.length);
    const bytes = Buffer.from(await (await fetch(String(file?.url))).arrayBuffer());
    expect(recordDigest(bytes)).toBe(recordDigest(picture));
    expect(result?.content?.map(({ type }) => type)).toEqual(['text', 'image', 'resource_link']);
  });
});
