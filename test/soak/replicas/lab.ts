import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Child, freePort, startChild } from '../../bench/lib/children.js';
import { GATEWAY_SCRIPT, ROOT } from '../../bench/lib/paths.js';
import { keyHash } from '../../helpers/bytes.js';
import provideServices from '../../helpers/global-setup.js';
import stopServices from '../../helpers/global-teardown.js';
import { type SdkServer, startBlobs, startEverything } from '../../helpers/sdk-servers.js';
import { KEYS } from '../lab.js';
import { soakStores } from '../stores.js';

/** Uploads above it are refused. */
export const FILE_LIMIT = 1_000_000;

/** A download of 5 MB, with whatever else the machine does. */
const INSTALL_MS = 300_000;

const FILES = { tools: { digest: { files: { data: { encoding: 'base64' } } } } };

/** One gateway of two. */
interface Replica {
  name: string;
  adminUrl: string;
  child: Child;
  /** Ends it with SIGKILL, in the middle of everything. */
  kill(): Promise<void>;
  startAgain(): Promise<void>;
}

export interface ReplicasLab {
  /** The balancer. */
  url: string;
  folder: string;
  replicas: readonly [Replica, Replica];
  stopRedis(): Promise<void>;
  startRedis(): Promise<void>;
  close(): Promise<void>;
}

/** Two gateways behind HAProxy as docker-compose.yml has them, with a Redis of their own and the tests' S3. */
export async function openReplicas(): Promise<ReplicasLab> {
  await Promise.all([provideServices(), installBalancer()]);
  const folder = await mkdtemp(join(tmpdir(), 'wharf-replicas-'));
  const stores = soakStores('30m');
  const redisPort = await freePort();
  const redis = () =>
    startChild({
      command: 'redis-server',
      // what was acknowledged outlives a stop, as with docker-compose.yml
      args: ['--bind', '127.0.0.1', '--port', `${redisPort}`, '--dir', folder, '--appendonly', 'yes', '--save', ''],
      port: redisPort,
    });
  let redisNow = await redis();
  const servers: SdkServer[] = [await startEverything('http'), await startBlobs('http')];
  const [everything, http] = servers as [SdkServer, SdkServer];
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = {
    publicUrl: url,
    auth: { use: 'apiKeys', keys: Object.entries(KEYS).map(([name, key]) => ({ name, hash: keyHash(key) })) },
    servers: {
      everything: { url: everything.url },
      files: { url: http.url, ...FILES },
      stdio: { command: (await startBlobs('stdio')).command, ...FILES },
    },
    limits: { file: FILE_LIMIT },
    gatewayId: 'replicas',
    ...stores.config,
    state: { use: 'redis', url: `redis://127.0.0.1:${redisPort}` },
  };
  const replica = async (name: string): Promise<Replica & { port: number; adminPort: number }> => {
    const [own, adminPort] = [await freePort(), await freePort()];
    const file = join(folder, `${name}.yaml`);
    const at = { listen: `127.0.0.1:${own}`, adminListen: `127.0.0.1:${adminPort}` };
    // JSON is YAML
    await writeFile(file, JSON.stringify({ ...at, ...config }));
    const start = () =>
      startChild({
        command: process.execPath,
        args: [GATEWAY_SCRIPT, '--config', file],
        port: adminPort,
        env: { NODE_ENV: 'production' },
        log: join(folder, `${name}.log`),
      });
    const self = {
      ...{ name, port: own, adminPort, adminUrl: `http://127.0.0.1:${adminPort}`, child: await start() },
      async kill() {
        process.kill(self.child.pid, 'SIGKILL');
        // and what it leaves behind in its group
        await self.child.stop();
      },
      async startAgain() {
        self.child = await start();
      },
    };
    return self;
  };
  const replicas = [await replica('gateway-1'), await replica('gateway-2')] as const;
  const balancerConfig = await haproxyConfig(port, await freePort(), replicas);
  const balancerFile = join(folder, 'haproxy.cfg');
  await writeFile(balancerFile, balancerConfig);
  const balancer = await startChild({
    ...{ command: 'haproxy', args: ['-db', '-f', balancerFile], port, log: join(folder, 'haproxy.log') },
  });
  return {
    url,
    folder,
    replicas,
    stopRedis: () => redisNow.stop(),
    async startRedis() {
      redisNow = await redis();
    },
    async close() {
      await balancer.stop();
      for (const { child } of replicas) await child.stop();
      for (const server of servers) server.stop();
      await redisNow.stop();
      await stores.drop();
      await stopServices();
    },
  };
}

async function installBalancer(): Promise<void> {
  try {
    await promisify(execFile)(join(ROOT, 'deploy/test-services/haproxy.sh'), ['install'], { timeout: INSTALL_MS });
  } catch (error) {
    throw new Error('HAProxy is needed, and could not be installed (deploy/test-services/haproxy.sh).', {
      cause: error,
    });
  }
}

/** deploy/examples/haproxy.cfg with addresses of this machine in the place of the composed network's. */
async function haproxyConfig(
  port: number,
  healthPort: number,
  replicas: readonly { name: string; port: number; adminPort: number }[],
): Promise<string> {
  const example = await readFile(join(ROOT, 'deploy/examples/haproxy.cfg'), 'utf8');
  const replace = (text: string, from: string | RegExp, to: string) => {
    if (text.search(from) < 0) throw new Error(`deploy/examples/haproxy.cfg has no ${from}`);
    return text.replace(from, to);
  };
  let own = replace(example, 'bind :8080', `bind 127.0.0.1:${port}`);
  own = replace(own, 'bind 127.0.0.1:8081', `bind 127.0.0.1:${healthPort}`);
  own = replace(own, / resolvers here init-addr libc,none/, '');
  own = replace(own, /resolvers here\n( .*\n)+/, '');
  own = replace(own, / port 9090/, '');
  for (const { name, port: to, adminPort } of replicas) {
    own = replace(own, `server ${name} ${name}:8080`, `server ${name} 127.0.0.1:${to} port ${adminPort}`);
  }
  return own;
}

/** Removes what a lab has left behind. */
export async function forgetReplicas(lab: ReplicasLab): Promise<void> {
  await rm(lab.folder, { recursive: true, force: true });
}
