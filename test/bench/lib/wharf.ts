import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort, startChild } from './children.js';
import { GATEWAY_SCRIPT, serverScript } from './paths.js';
import { processTarget, type ServerName, type Target } from './target.js';

interface ProcessOptions {
  name: string;
  directory: string;
  /** The Node that runs the gateway. */
  node: string;
  /** Flags for that Node, such as `--cpu-prof`. */
  nodeArgs: readonly string[];
}

/** What a case wants of its gateway. */
export interface GatewayOptions {
  /** Beside or instead of the ones below. */
  limits?: Record<string, string | number>;
  /** With previews, which are off otherwise, and a store that gives back what it got. */
  previews?: true;
}

interface WharfOptions extends ProcessOptions, GatewayOptions {
  fastPort: number;
  sdkPort: number;
  storePort: number;
}

/** What the bench changes: files up to 2 GiB, and a process for each of many stdio sessions. */
const LIMITS = { file: '2GiB', processes: 64 };

const ECHO_TAKES_FILE = { echo: { files: { text: { encoding: 'base64' } } } };

function config(options: WharfOptions): Record<string, unknown> {
  const fast = `http://127.0.0.1:${options.fastPort}`;
  return {
    servers: {
      sse: { url: `${fast}/sse/mcp`, transport: 'streamable-http' },
      json: { url: `${fast}/json/mcp`, transport: 'streamable-http' },
      chunked: { url: `${fast}/chunked/mcp`, transport: 'streamable-http' },
      files: { url: `${fast}/sse/mcp`, transport: 'streamable-http', tools: ECHO_TAKES_FILE },
      legacy: { url: `${fast}/legacy/sse`, transport: 'legacy-sse' },
      stdio: { command: [process.execPath, serverScript('fast-stdio')] },
      sdk: { url: `http://127.0.0.1:${options.sdkPort}/sdk/mcp`, transport: 'streamable-http' },
    },
    objects: {
      ...{ use: 's3', bucket: 'bench', region: 'us-east-1', forcePathStyle: true },
      endpoint: `http://127.0.0.1:${options.storePort}`,
    },
    limits: { ...LIMITS, ...options.limits },
    ...(options.previews && { previews: { use: 'local' } }),
  };
}

/** The gateway under test, as an operator would start it. */
export function wharfTarget(options: WharfOptions): Promise<Target> {
  const env = { AWS_ACCESS_KEY_ID: 'bench', AWS_SECRET_ACCESS_KEY: 'bench-secret' };
  return gatewayTarget<ServerName>(options, config(options), env);
}

/** A gateway with `settings` beside what all have in common; its log goes to /dev/null. */
export async function gatewayTarget<Server extends string>(
  { name, directory, node, nodeArgs }: ProcessOptions,
  settings: Record<string, unknown>,
  env: Record<string, string>,
): Promise<Target<Server>> {
  const port = await freePort();
  mkdirSync(directory, { recursive: true });
  const file = join(directory, `${name}.yaml`);
  const common = {
    listen: `127.0.0.1:${port}`,
    adminListen: `127.0.0.1:${await freePort()}`,
    state: { use: 'memory' },
    // The blobs are noise behind a PNG's head: a preview is neither possible nor part of any goal.
    previews: { use: 'none' },
    logLevel: 'info',
  };
  writeFileSync(file, stringify({ ...common, ...settings }));
  const args = [...nodeArgs, GATEWAY_SCRIPT, '--config', file];
  const errorLog = join(directory, `${name}.stderr`);
  return processTarget(
    name,
    (server) => `http://127.0.0.1:${port}/${server}/mcp`,
    () => startChild({ command: node, args, port, env: { NODE_ENV: 'production', ...env }, errorLog }),
  );
}
