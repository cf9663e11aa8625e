import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { freePorts } from './gateway-process-ports.js';
import { atExit } from './this-process.js';

/** How a server is spoken to: over its stdin and stdout, over HTTP+SSE, or over Streamable HTTP. */
export type Transport = 'stdio' | 'sse' | 'http';

/** A real MCP server, ready to be put behind Wharf or to be called directly. */
export interface SdkServer {
  transport: Transport;
  /** Where it listens; absent for stdio. */
  url?: string;
  /** How it is started; for stdio only, where the client starts it. */
  command?: string[];
  /** What makes `wharf` front it. */
  wharfArgs: string[];
  stop(): void;
}

/** Milliseconds until a server has to listen. */
const START_MS = 90_000;

const LOOPBACK = new URL('./sdk-servers-loopback.js', import.meta.url).href;
const EVERYTHING = packageFile('@modelcontextprotocol/server-everything');
const FILESYSTEM = packageFile('@modelcontextprotocol/server-filesystem');
const BLOBS = fileURLToPath(new URL('./sdk-servers-blobs.js', import.meta.url));

/** The official server that shows every feature of the protocol. */
export async function startEverything(transport: Transport): Promise<SdkServer> {
  if (transport === 'stdio') return stdioServer([process.execPath, EVERYTHING, 'stdio']);
  const [port] = (await freePorts(1)) as [number];
  const mode = transport === 'sse' ? 'sse' : 'streamableHttp';
  const child = start(['--import', LOOPBACK, EVERYTHING, mode], { PORT: String(port) });
  await said(child, `on port ${port}`);
  return httpServer(transport, `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`, child);
}

/** The official server of files, which speaks stdio only. */
export function filesystemServer(folder: string): SdkServer {
  return stdioServer([process.execPath, FILESYSTEM, folder]);
}

/** The project's own server on the SDK, whose tools return blobs of any size (test/helpers/sdk-servers-blobs.ts). */
export async function startBlobs(transport: Transport): Promise<SdkServer> {
  if (transport === 'stdio') return stdioServer([process.execPath, BLOBS, 'stdio']);
  const child = start([BLOBS, transport], {});
  const url = await said(child, 'http://127.0.0.1:');
  return httpServer(transport, url.trim(), child);
}

function stdioServer(command: string[]): SdkServer {
  return { transport: 'stdio', command, wharfArgs: ['--', ...command], stop: () => undefined };
}

function httpServer(transport: Transport, url: string, child: ChildProcess): SdkServer {
  return { transport, url, wharfArgs: ['--upstream', url], stop: () => void child.kill() };
}

function packageFile(name: string): string {
  return fileURLToPath(new URL(`../../../node_modules/${name}/dist/index.js`, import.meta.url));
}

function start(args: string[], env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.once(
    'exit',
    atExit(() => void child.kill()),
  );
  return child;
}

/** Resolves with everything written until `text` shows up on stdout or stderr, and goes on draining both. */
function said(child: ChildProcess, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => reject(new Error(`a server did not start:\n${output}`)), START_MS);
    const onData = (chunk: Buffer) => {
      output += chunk.toString();
      if (!output.includes(text)) return;
      clearTimeout(timer);
      resolve(output);
    };
    child.stdout?.on('data', onData);
    child.stderr?.on('data', onData);
    child.once('exit', (code) => reject(new Error(`a server ended with code ${code}:\n${output}`)));
  });
}
