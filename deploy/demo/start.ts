import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { curlLines } from './curl-lines.js';

/** `npm start`: the gateway over an unmodified file server with something to look at; with a server named, just the gateway. */

// Compiled, this file is in dist/deploy/demo.
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FILES = join(ROOT, 'deploy/demo/files');
const PICTURE = join(FILES, 'harbour.jpg');
const DOCUMENT = join(FILES, 'survey.pdf');

const argv = process.argv.slice(2);
/** Options that tell the gateway what to do. */
const TOLD = /^(--|-u|-c|-h|-V|--upstream(=.*)?|--config(=.*)?|--help|--version)$/;
/** A first word without a dash is one of its commands, such as `explain`, or one that it refuses: neither needs the demo. */
const isCommand = /^[^-]/.test(argv[0] ?? '');

if (isCommand || argv.some((argument) => TOLD.test(argument))) runGateway(argv);
else {
  await provideFiles();
  // The server of the development dependencies, unmodified and without a download.
  const server = join(
    dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/package.json')),
    'dist/index.js',
  );
  runGateway([...argv, '--', process.execPath, server, FILES], (mcpUrl) => {
    process.stdout.write(`
Files in ${relative(process.cwd(), FILES)}/ to read through it: harbour.jpg (a photo) and survey.pdf.
Paste this into another terminal: it asks for the photo and prints the link that came instead of base64.

${curlLines(mcpUrl, PICTURE)}
Ctrl-C ends. Your own server: npm start -- --upstream URL, npm start -- -- COMMAND…, npm start -- --config FILE
`);
  });
}

async function provideFiles(): Promise<void> {
  if (existsSync(PICTURE) && existsSync(DOCUMENT)) return;
  process.stdout.write('Making a photo and a PDF for the demo (once) …\n');
  // Loaded only when there is something to make.
  const [{ renderPicture }, { writeDocument }] = await Promise.all([import('./picture.js'), import('./document.js')]);
  await mkdir(FILES, { recursive: true });
  const picture = await renderPicture();
  await write(PICTURE, picture);
  await write(DOCUMENT, await writeDocument(picture));
}

/** Complete or not at all: an interrupted start must not leave half a file that the next one takes for whole. */
async function write(file: string, bytes: Buffer): Promise<void> {
  await writeFile(`${file}.part`, bytes);
  await rename(`${file}.part`, file);
}

/** Runs the gateway with its output shown as it comes; `started` gets the first MCP URL that it prints. */
function runGateway(args: string[], started?: (mcpUrl: string) => void): void {
  const gateway = spawn(process.execPath, [join(ROOT, 'dist/gateway/main.js'), ...args], {
    stdio: ['inherit', 'pipe', 'inherit'],
  });
  let printed = '';
  let announced = started === undefined;
  gateway.stdout.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk);
    if (announced) return;
    printed += chunk.toString();
    // The start is told in one piece that ends with the line about files.
    const url = /^ +files /m.test(printed) ? /https?:\/\/\S+\/mcp\b/.exec(printed)?.[0] : undefined;
    if (url === undefined) return;
    announced = true;
    started?.(url);
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // A terminal sends Ctrl-C to both processes; the gateway takes a second one as "at once", so only SIGTERM is passed on.
    process.on(signal, () => {
      if (signal === 'SIGTERM' || !process.stdin.isTTY) gateway.kill(signal);
    });
  }
  // npm runs scripts under a shell, and the shell passes no signal on: when npm is stopped, the gateway must not be left behind.
  const parent = process.ppid;
  const orphaned = setInterval(() => {
    if (process.env.npm_lifecycle_event === 'start' && process.ppid !== parent) gateway.kill('SIGTERM');
  }, 500);
  // as where its output goes into a pipe that is closed: `npm start | head`
  process.on('exit', () => gateway.kill('SIGTERM'));
  gateway.on('exit', (code) => {
    clearInterval(orphaned);
    process.exitCode = code ?? 1;
  });
}
