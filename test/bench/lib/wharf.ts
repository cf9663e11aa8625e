import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort, startChild } from './children.js';
import { GATEWAY_SCRIPT, serverScript } from './paths.js';
import { processTarget, type Target } from './target.js';

export interface WharfOptions {
  name: string;
  directory: string;
  fastPort: number;
  sdkPort: number;
  storePort: number;
  /** The Node that runs the gateway. */
  node: string;
  /** Flags for that Node, such as `--cpu-prof`. */
  nodeArgs: readonly string[];
  /** Beside or instead of the ones below. */
  limits?: Record<string, string | number>;
}

/** What the bench changes: files up to 2 GiB, and a process for each of many stdio sessions. */
const LIMITS = { file: '2GiB', processes: 64 };

function config(options: WharfOptions, port: number, adminPort: number): string {
  const fast = `http://127.0.0.1:${options.fastPort}`;
  return stringify({
    listen: `127.0.0.1:${port}`,
    adminListen: `127.0.0.1:${adminPort}`,
    servers: {
      sse: { url: `${fast}/sse/mcp`, transport: 'streamable-http' },
      json: { url: `${fast}/json/mcp`, transport: 'streamable-http' },
      legacy: { url: `${fast}/legacy/sse`, transport: 'legacy-sse' },
      stdio: { command: [process.execPath, serverScript('fast-stdio')] },
      sdk: { url: `http://127.0.0.1:${options.sdkPort}/sdk/mcp`, transport: 'streamable-http' },
    },
    objects: {
      ...{ use: 's3', bucket: 'bench', region: 'us-east-1', forcePathStyle: true },
      endpoint: `http://127.0.0.1:${options.storePort}`,
    },
    state: { use: 'memory' },
    // The blobs are noise behind a PNG's head: a preview is neither possible nor part of any goal.
    thumbnails: { use: 'none' },
    logLevel: 'info',
    limits: { ...LIMITS, ...options.limits },
  });
}

/** The gateway under test, as an operator would start it; its log goes to /dev/null. */
export async function wharfTarget(options: WharfOptions): Promise<Target> {
  const port = await freePort();
  mkdirSync(options.directory, { recursive: true });
  const file = join(options.directory, `${options.name}.yaml`);
  writeFileSync(file, config(options, port, await freePort()));
  const env = { AWS_ACCESS_KEY_ID: 'bench', AWS_SECRET_ACCESS_KEY: 'bench-secret', NODE_ENV: 'production' };
  const args = [...options.nodeArgs, GATEWAY_SCRIPT, '--config', file];
  const errorLog = join(options.directory, `${options.name}.stderr`);
  return processTarget(
    options.name,
    (server) => `http://127.0.0.1:${port}/${server}/mcp`,
    () => startChild({ command: options.node, args, port, env, errorLog }),
  );
}
