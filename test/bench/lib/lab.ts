import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, freePort, startChild } from './children.js';
import { exchange } from './client.js';
import { floorTarget } from './floor.js';
import { nginxTarget } from './nginx.js';
import { serverScript } from './paths.js';
import { peerTarget } from './peers.js';
import type { Target } from './target.js';
import { debianTool, type PeerName, type Tool } from './tools.js';
import { type GatewayOptions, wharfTarget } from './wharf.js';

export interface LabOptions {
  /** Counted rounds of an interleaved measurement. */
  rounds: number;
  quick: boolean;
  /** `passthrough` puts a trivial Node proxy in the gateway's place. */
  subject: 'wharf' | 'passthrough';
  node: string;
  nodeArgs: readonly string[];
  peers: boolean;
}

/** What the discarding object store has seen. */
interface StoreStats {
  objects: number;
  bytes: number;
  /** Objects that were read. */
  reads: number;
  last?: { key: string; size: number };
}

/** Everything a case needs: the servers at both ends, and whatever is put between them. */
export interface Lab {
  readonly options: LabOptions;
  readonly directory: string;
  readonly direct: Target;
  readonly wrk: Tool;
  /** The name under which the gateway stands in tables. */
  readonly subject: string;
  nginx(): Promise<Target>;
  /** The gateway, started once for each set of options. */
  gateway(options?: GatewayOptions): Promise<Target>;
  /** A trivial Node proxy, beside the gateway in the tables that compare with Node itself. */
  floor(): Promise<Target>;
  peer(name: PeerName): Promise<Target>;
  storeStats(): Promise<StoreStats>;
  /** The same of the store that keeps what it gets, which gateways with previews have. */
  keepingStoreStats(): Promise<StoreStats>;
  /** Bytes that the kernel has taken from the upstream's last flood. */
  floodSent(): Promise<number>;
  close(): Promise<void>;
}

function node(script: string, ...args: (string | number)[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [serverScript(script), ...args.map(String)] };
}

/** Starts the upstreams and the object store. Targets are made on first use. */
export async function openLab(options: LabOptions): Promise<Lab> {
  const directory = mkdtempSync(join(tmpdir(), 'wharf-bench-'));
  const log = join(directory, 'servers.log');
  const [fastPort, sdkPort, storePort] = [await freePort(), await freePort(), await freePort()];
  let keepingPort: number | undefined;
  const own: Child[] = [];
  for (const [script, port] of [
    ['fast-upstream', fastPort],
    ['sdk-upstream', sdkPort],
    ['discard-s3', storePort],
  ] as const) {
    own.push(await startChild({ ...node(script, port), port, log }));
  }
  const targets = new Map<string, Promise<Target>>();
  const once = (key: string, make: () => Promise<Target>): Promise<Target> => {
    const made =
      targets.get(key) ??
      make().then(async (target) => {
        await target.restart();
        return target;
      });
    targets.set(key, made);
    return made;
  };
  const keepingStore = async (): Promise<number> => {
    if (keepingPort === undefined) {
      keepingPort = await freePort();
      own.push(await startChild({ ...node('discard-s3', keepingPort, 'keep'), port: keepingPort, log }));
    }
    return keepingPort;
  };
  const gateway = async (wanted: GatewayOptions): Promise<Target> => {
    if (options.subject !== 'wharf') return floorTarget(fastPort, sdkPort);
    const ports = { fastPort, sdkPort, storePort: wanted.previews ? await keepingStore() : storePort };
    const { node, nodeArgs } = options;
    const name = ['wharf', ...Object.keys(wanted)].join('-');
    return wharfTarget({ name, directory, node, nodeArgs, ...ports, ...wanted });
  };
  const get = async (port: number, path: string) =>
    (await exchange(new URL(`http://127.0.0.1:${port}${path}`), {})).text;

  return {
    options,
    directory,
    subject: options.subject,
    wrk: debianTool('wrk'),
    direct: {
      name: 'direct',
      url: (server) => `http://127.0.0.1:${server === 'sdk' ? sdkPort : fastPort}/${server}/mcp`,
      pids: () => [],
      restart: async () => {},
      stop: async () => {},
    },
    nginx: () =>
      once('nginx', () =>
        nginxTarget({ tool: debianTool('nginx'), directory: join(directory, 'nginx'), fastPort, sdkPort }),
      ),
    gateway: (wanted = {}) => once(`gateway ${JSON.stringify(wanted)}`, () => gateway(wanted)),
    floor: () => once('floor', () => floorTarget(fastPort, sdkPort)),
    peer: (name) => once(name, () => peerTarget(name)),
    storeStats: async () => JSON.parse(await get(storePort, '/__stats')) as StoreStats,
    keepingStoreStats: async () => JSON.parse(await get(await keepingStore(), '/__stats')) as StoreStats,
    floodSent: async () => Number(await get(fastPort, '/__sent')),
    close: async () => {
      for (const target of targets.values()) await target.then((made) => made.stop()).catch(() => {});
      for (const child of own) await child.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
