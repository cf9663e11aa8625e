import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { adapters } from '../../adapters/index.js';
import { FRUGAL_BUILD } from '../helpers/tree-copy.js';
import { cellsWith } from './cells.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
/** Below the repository, so that packages are found; the build of the repository does not look in there. */
const COPY = join(ROOT, 'dist', 'ablation');
const LIST = join(COPY, 'adapters', 'index.ts');
/** The script of the pages is compiled for browsers, by settings of its own. */
const BROWSER = join(COPY, 'gateway', 'http', 'browser');
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');

const execute = promisify(execFile);

/** The last one is plain MCP, which every client speaks. */
const REMOVABLE = adapters.dialects.slice(0, -1).map(({ name }) => name);

const folderOf = (dialect: string) => join(COPY, 'adapters', 'dialects', dialect);

/** What the compiler has to say of the copy. Of what it has seen before it looks again only at what has changed. */
async function build(project = COPY): Promise<string> {
  // several checkers would each look at the types that all of them need
  const command = [TSC, '-p', project, '--singleThreaded'];
  const built = execute(process.execPath, command, { env: FRUGAL_BUILD });
  const { stdout } = await built.catch((error: { stdout: string }) => error);
  return stdout;
}

async function copySources(): Promise<void> {
  await rm(COPY, { recursive: true, force: true });
  await mkdir(COPY, { recursive: true });
  for (const folder of ['gateway', 'adapters', 'test/helpers', 'test/matrix'])
    await cp(join(ROOT, folder), join(COPY, folder), { recursive: true });
  const settings = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: { rootDir: COPY, outDir: join(COPY, 'dist'), tsBuildInfoFile: join(COPY, 'dist', '.tsbuildinfo') },
    include: ['gateway', 'adapters', 'test/matrix'].map((folder) => join(COPY, folder)),
    exclude: [join(COPY, 'test/matrix/*.test.ts'), BROWSER],
  };
  await writeFile(join(COPY, 'tsconfig.json'), JSON.stringify(settings));
}

/** The list of adapters without the import of one dialect, and without its place. */
function withoutDialect(list: string, dialect: string): string {
  const line = new RegExp(`^import \\{ create as (\\w+) \\} from '\\./dialects/${dialect}/index\\.js';\\n`, 'm');
  const entry = `${line.exec(list)?.[1]}(), `;
  expect(list.split(entry)).toHaveLength(2);
  return list.replace(line, '').replace(entry, '');
}

/** A dialect is a folder and a line: without them what remains is built, and goes on as before. */
describe('a copy of the repository', () => {
  let list: string;
  beforeAll(async () => {
    await copySources();
    list = await readFile(LIST, 'utf8');
    expect(await build()).toBe('');
    expect(await build(BROWSER)).toBe('');
  });
  afterEach(() => writeFile(LIST, list));
  afterAll(() => rm(COPY, { recursive: true, force: true }));

  it.each(REMOVABLE)('without %s is built, and every other client reaches every other server', async (dialect) => {
    const aside = `${COPY}-${dialect}`;
    await rename(folderOf(dialect), aside);
    try {
      await rm(join(COPY, 'dist', 'adapters', 'dialects', dialect), { recursive: true });
      await writeFile(LIST, withoutDialect(list, dialect));
      expect(await build()).toBe('');
      const { stdout } = await execute(process.execPath, [join(COPY, 'dist', 'test', 'matrix', 'run-cells.js')]);
      const { length } = cellsWith(adapters.dialects.filter(({ name }) => name !== dialect));
      expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({ cells: length, failures: [] });
    } finally {
      await rename(aside, folderOf(dialect));
    }
  });
});
