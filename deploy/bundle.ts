import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type OutputChunk, type OutputOptions, type Plugin, rolldown } from 'rolldown';

/**
 * Makes one program of the gateway, its adapters and the packages they import, except those that package.json calls
 * `dependencies`: 700 files fewer to find and to read, which halves the time and the memory of a start.
 *
 * Everything is in one folder, with the program of the processes that render previews, so that what looks for a file
 * beside its own finds it. `dist/gateway/main.js`, where the compiler has put the module of that name, starts it.
 */

// Compiled, this file is dist/deploy/bundle.js.
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = join(ROOT, 'dist/gateway/main.js');
const FOLDER = join(ROOT, 'dist/gateway/bundle');
const ENTRIES = { boot: 'gateway/boot.ts', child: 'adapters/previews/local/child.ts' };
interface Package {
  name: string;
  version: string;
  license: string;
}

/**
 * Without comments, with short names for what is local, and with escapes for what is not ASCII: V8 keeps the text of a module,
 * and with one typographic quote in it each character takes two bytes. That was 5 MiB of an idle process, the names 2. Lines
 * and the names of functions stay, for stacks: of a program in one line Node would print that line when it fails.
 */
const SMALL: OutputOptions = {
  comments: false,
  minify: {
    compress: false,
    mangle: { toplevel: false, keepNames: { function: true, class: true } },
    codegen: { removeWhitespace: false, asciiOnly: true },
  },
};

/**
 * `import … from 'node:http'` reads all of its properties, and two of them, WebSocket's, load Node's own fetch: 15 MiB and
 * 40 ms of processor time (Node 26). So the bundle takes node:http as `require` does, which reads what is asked for.
 */
const HTTP_WITHOUT_FETCH: Plugin = {
  name: 'http-without-fetch',
  resolveId: (id) => (id === 'node:http' ? '\0http' : undefined),
  load(id) {
    if (id !== '\0http') return undefined;
    const plain = Object.entries(Object.getOwnPropertyDescriptors(http)).filter(([, { get }]) => get === undefined);
    const names = plain.map(([name]) => name).join(', ');
    return `const http = process.getBuiltinModule('node:http');\nexport const { ${names} } = http;\nexport default http;\n`;
  },
};

const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)/i;

const { dependencies, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
  engines: { node: string };
};

/** Writes the bundle. @throws Error when the program would need a package that a user does not get */
export async function bundle(): Promise<void> {
  const program = await rolldown({
    cwd: ROOT,
    input: ENTRIES,
    platform: 'node',
    plugins: [HTTP_WITHOUT_FETCH],
    tsconfig: join(ROOT, 'tsconfig.json'),
    external: (id) => packageOf(id) in dependencies,
    resolve: { extensionAlias: { '.js': ['.ts', '.tsx', '.js'] } },
  });
  rmSync(FOLDER, { recursive: true, force: true });
  const { output } = await program.write({ dir: FOLDER, format: 'esm', sourcemap: true, ...SMALL });
  await program.close();
  for (const { fileName } of output) if (fileName.endsWith('.map')) leaveOutSources(join(FOLDER, fileName));
  const chunks = output.filter((one): one is OutputChunk => one.type === 'chunk');
  refuseUnknown(chunks);
  writeFileSync(join(FOLDER, 'LICENSES.txt'), licenses(chunks));
  writeFileSync(PROGRAM, starter(engines.node));
}

/**
 * The program that starts the bundle. On a Node that is too old the bundle would fail with a stack of Node's, or run and
 * fail later, so this looks first, in words that Node has understood since version 13.
 */
function starter(allowed: string): string {
  const [major, minor] = /^>=(\d+)\.(\d+)$/.exec(allowed)?.slice(1) ?? [];
  if (minor === undefined) throw new Error(`engines.node of package.json must be ">=MAJOR.MINOR": ${allowed}`);
  return `#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number);
if (major > ${major} || (major === ${major} && minor >= ${minor})) import('./bundle/boot.js');
else {
  console.error('wharf needs Node ${major}.${minor} or newer; this is ' + process.version + ' (' + process.execPath + ').');
  process.exitCode = 1;
}
`;
}

/** Frames of stacks need the names of the sources, whose text is five sixths of a map. */
function leaveOutSources(file: string): void {
  const { sourcesContent: _, ...map } = JSON.parse(readFileSync(file, 'utf8')) as { sourcesContent?: string[] };
  writeFileSync(file, JSON.stringify(map));
}

/** `@scope/name` or `name` of what is imported. */
function packageOf(id: string): string {
  return id
    .split('/')
    .slice(0, id.startsWith('@') ? 2 : 1)
    .join('/');
}

function refuseUnknown(chunks: readonly OutputChunk[]): void {
  const own = new Set(chunks.map(({ fileName }) => fileName));
  const imported = new Set(chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]));
  const unknown = [...imported].filter((id) => !own.has(id) && !isBuiltin(id) && !(packageOf(id) in dependencies));
  if (unknown.length > 0) throw new Error(`not in the bundle and not in dependencies: ${unknown.join(', ')}`);
}

/** The licences of the packages in the bundle, which ask to be passed on with them. */
function licenses(chunks: readonly OutputChunk[]): string {
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds);
  const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
  const texts = [...new Set(folders)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package;
    const file = readdirSync(folder).find((one) => LICENSE_FILE.test(one));
    return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle();
