import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Child, freePort, startChild } from '../bench/lib/children.js';
import { GATEWAY_SCRIPT } from '../bench/lib/paths.js';
import { keyHash } from '../helpers/bytes.js';
import provideServices from '../helpers/global-setup.js';
import stopServices from '../helpers/global-teardown.js';
import { type SdkServer, startBlobs, startEverything } from '../helpers/sdk-servers.js';
import type { SoakMessage } from './messages.js';
import { soakStores } from './stores.js';

/** Two callers; the hostile peers are one of them. */
export const KEYS = { honest: 'honest-0123456789abcdef', hostile: 'hostile-0123456789abcdef' } as const;

const script = (name: string) => fileURLToPath(new URL(`./${name}.js`, import.meta.url));

/** Long enough for a caller to use what it got, short enough that the memory of the tests' S3 is not filled. */
const RETENTION = '3m';

/**
 * Lower than the defaults, so that the few peers that one machine bears reach their shares. Sizes are the defaults:
 * what honest callers move has to fit them.
 */
const LIMITS = { connections: 160, sockets: 1_000, sessions: 400, processes: 16 };

/** Everything a soak needs besides its callers. */
export interface SoakLab {
  url: string;
  adminUrl: string;
  pid: number;
  /** Where the log of the gateway is. */
  log: string;
  hasEnded(): string | undefined;
  close(): Promise<void>;
}

/** Starts one of the soak's own scripts and hands on what it tells. */
export function startPart(name: string, args: readonly string[], hear: (message: SoakMessage) => void): ChildProcess {
  const part = fork(script(name), [...args], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  part.on('message', (message) => hear(message as SoakMessage));
  const kill = () => part.kill('SIGKILL');
  process.once('exit', kill);
  part.once('exit', () => process.removeListener('exit', kill));
  return part;
}

/** Ends one without a word: everything that it holds open is gone at once. */
export async function endPart(part: ChildProcess): Promise<void> {
  if (part.exitCode !== null || part.signalCode !== null) return;
  const gone = new Promise((resolve) => part.once('exit', resolve));
  part.kill('SIGKILL');
  await gone;
}

async function startBadServer(isWide: boolean): Promise<{ url: string; part: ChildProcess }> {
  let hear: (url: string) => void = () => undefined;
  const listening = new Promise<string>((resolve) => {
    hear = resolve;
  });
  const part = startPart('servers/bad-http', isWide ? ['wide'] : [], (message) => {
    if (message.type === 'listening') hear(message.url);
  });
  return { url: await listening, part };
}

/** What honest servers take: an argument of `digest` is a file. */
const FILES = { tools: { digest: { files: { data: { encoding: 'base64' } } } } };

export async function openLab(isWide: boolean): Promise<SoakLab> {
  await provideServices();
  const folder = await mkdtemp(join(tmpdir(), 'wharf-soak-'));
  const stores = soakStores(RETENTION);
  const servers: SdkServer[] = [await startEverything('http'), await startBlobs('http'), await startBlobs('sse')];
  const [everything, http, sse] = servers as [SdkServer, SdkServer, SdkServer];
  const bad = await startBadServer(isWide);
  const [port, adminPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const config = {
    ...{ listen: `127.0.0.1:${port}`, adminListen: `127.0.0.1:${adminPort}`, publicUrl: url, logLevel: 'info' },
    auth: { use: 'apiKeys', keys: Object.entries(KEYS).map(([name, key]) => ({ name, hash: keyHash(key) })) },
    servers: {
      everything: { url: everything.url },
      http: { url: http.url, ...FILES },
      sse: { url: sse.url, transport: 'legacy-sse', ...FILES },
      stdio: { command: (await startBlobs('stdio')).command, ...FILES },
      bad: { url: bad.url },
      'bad-stdio': { command: [process.execPath, script('servers/bad-stdio')] },
    },
    limits: LIMITS,
    ...stores.config,
  };
  const file = join(folder, 'wharf.yaml');
  // JSON is YAML
  await writeFile(file, JSON.stringify(config));
  const log = join(folder, 'gateway.log');
  const gateway: Child = await startChild({
    command: process.execPath,
    args: [GATEWAY_SCRIPT, '--config', file],
    port: adminPort,
    env: { NODE_ENV: 'production' },
    log,
  });
  return {
    url,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    pid: gateway.pid,
    log,
    hasEnded: () => gateway.ended,
    async close() {
      await gateway.stop();
      await endPart(bad.part);
      for (const server of servers) server.stop();
      await stores.drop();
      await stopServices();
    },
  };
}

/** Resolves after the time, or at once when the gateway has died. @throws Error that says so */
export async function during(seconds: number, lab: SoakLab): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const ended = lab.hasEnded();
    if (ended !== undefined) throw new Error(`The gateway ended: ${ended}; its log is ${lab.log}`);
    await sleep(200);
  }
}

/** The folder with the gateway's config and log is kept when something went wrong. */
export async function forget(lab: SoakLab): Promise<void> {
  await rm(join(lab.log, '..'), { recursive: true, force: true });
}
