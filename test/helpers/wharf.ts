import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isNativeError } from 'node:util/types';
import { adapters as shipped } from '../../adapters/index.js';
import type { AdapterList } from '../../gateway/config/adapter-list.js';
import { loadConfig } from '../../gateway/config/load.js';
import type { Log, LogFields } from '../../gateway/ports/log.js';
import { start } from '../../gateway/start.js';
import { freshName, redisUrl, s3Config } from './services.js';

/** Where files and state are kept: the pair a single developer has, and the one an organisation runs. */
export const STORES = ['filesystem+memory', 's3+redis'] as const;
export type Stores = (typeof STORES)[number];

export interface Wharf {
  /** Base URL of the public port. */
  url: string;
  /** URL of the only server's endpoint. */
  mcp: string;
  adminUrl: string;
  /** Everything logged, as one text, before anything of it is redacted: errors with their stacks and causes. */
  logged: () => string;
  lines: readonly { level: string; fields: LogFields; text: string }[];
  stop: () => Promise<void>;
}

export interface WharfOptions {
  servers: Record<string, unknown>;
  stores?: Stores;
  /** Any other part of the config. */
  config?: Record<string, unknown>;
  /** Instead of the ones that are shipped. */
  adapters?: AdapterList;
  /** Shared by several gateways, where given. */
  bucket?: string;
  keyPrefix?: string;
}

/** A gateway inside the test's process, configured by a file as any other. */
export async function startWharf({
  servers,
  stores = 'filesystem+memory',
  config = {},
  adapters = shipped,
  bucket,
  keyPrefix,
}: WharfOptions): Promise<Wharf> {
  const folder = await mkdtemp(join(tmpdir(), 'wharf-test-'));
  const file = join(folder, 'wharf.yaml');
  const kept =
    stores === 's3+redis'
      ? {
          objects: { use: 's3', ...s3Config(bucket ?? freshName('e2e')) },
          state: { use: 'redis', url: redisUrl(), keyPrefix: keyPrefix ?? `${freshName('e2e')}:` },
          secret: 'the tests of this repository share this secret',
        }
      : { objects: { use: 'filesystem', path: join(folder, 'data') }, state: { use: 'memory' } };
  // a machine that runs several suites at once makes a preview late
  const previews = { use: 'local', deadlineSeconds: 60 };
  const written = { listen: '127.0.0.1:0', adminListen: '127.0.0.1:0', servers, previews, ...kept, ...config };
  // YAML reads JSON
  await writeFile(file, JSON.stringify(written));
  const loaded = await loadConfig({ file }, adapters);
  if (!loaded.ok) throw new Error(loaded.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  const { log, lines } = recorder();
  const gateway = await start(loaded.config, adapters, log);
  const mcp = gateway.urls[0]?.mcp ?? '';
  return {
    url: new URL(mcp).origin,
    mcp,
    adminUrl: gateway.adminUrl,
    logged: () => textOf(lines),
    lines,
    stop: async () => {
      await gateway.drain();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** An error has nothing that JSON would write. */
function withErrors(_key: string, value: unknown): unknown {
  if (!isNativeError(value)) return value;
  const { name, message, stack, cause } = value;
  return { ...value, name, message, stack, cause };
}

/** Lines of the log as one text, with all that their errors say. */
export function textOf(lines: readonly object[]): string {
  return JSON.stringify(lines, withErrors);
}

function recorder(): { log: Log; lines: { level: string; fields: LogFields; text: string }[] } {
  const lines: { level: string; fields: LogFields; text: string }[] = [];
  const at = (base: LogFields): Log => {
    const write = (level: string) => (fields: LogFields, text: string) => {
      lines.push({ level, fields: { ...base, ...fields }, text });
    };
    return {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      child: (fields) => at({ ...base, ...fields }),
    };
  };
  return { log: at({}), lines };
}
