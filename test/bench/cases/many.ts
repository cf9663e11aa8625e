import { type BlobCost, callBlobs } from '../lib/blob-call.js';
import { openSession } from '../lib/client.js';
import { atMost, mib, num, type Row, type Section, table } from '../lib/report.js';
import { interleave, middle, ratio } from '../lib/stats.js';
import type { ServerName, Target } from '../lib/target.js';
import { PEER_VERSIONS, type PeerName } from '../lib/tools.js';
import type { Case } from './case.js';

const MIB = 1024 * 1024;
const TIMEOUT_MS = 400_000;
/** A peer takes half a minute for one round. */
const MOST_ROUNDS = 3;
const MOST_PEER_ROUNDS = 2;
const MOST_MIB = 300;
const MOST_SMALLER_MIB = 280;
/** Wall time in units of nginx, which passes the bytes through. */
const MOST_OF_NGINX = 1.5;

async function sessions(target: Target, server: ServerName, count: number) {
  return Promise.all(Array.from({ length: count }, () => openSession(target.url(server))));
}

/** Many blobs at once, one session each: the ceiling of memory must not depend on how many. */
export const many: Case = {
  ids: ['P4', 'N10'],
  async run(lab): Promise<Section> {
    const rows: Row[] = [];
    const body: string[][] = [];
    const errors: string[] = [];
    const targets = new Map([await lab.nginx(), await lab.gateway()].map((target) => [target.name, target]));
    const loads = lab.options.quick
      ? ([[32, 10]] as const)
      : ([
          [32, 100],
          [256, 10],
        ] as const);
    for (const [calls, mb] of loads) {
      const failed = new Map<string, number>();
      const samples = await interleave<BlobCost>(
        [...targets.keys()],
        Math.min(lab.options.rounds, MOST_ROUNDS),
        async (name) => {
          const target = targets.get(name) ?? lab.direct;
          await target.restart();
          const cost = await callBlobs(target, await sessions(target, 'sse', calls), mb, TIMEOUT_MS);
          failed.set(name, (failed.get(name) ?? 0) + cost.errors.length);
          if (cost.errors[0]) errors.push(`${name}, ${calls} × ${mb} MB: ${cost.errors.length}: ${cost.errors[0]}`);
          return cost;
        },
        0,
      );
      const what = `${calls} × ${mb} MB at once`;
      const peak = Math.max(...(samples.get(lab.subject) ?? []).map((cost) => (cost?.peak ?? 0) / MIB));
      const isMany = calls > 32;
      const id = isMany ? 'N10' : 'P4';
      const most = isMany ? MOST_SMALLER_MIB : MOST_MIB;
      rows.push(atMost(id, `${what}: peak RSS, the worst round`, peak, most, ' MiB', 0));
      rows.push(atMost(id, `${what}: calls that failed`, failed.get(lab.subject) ?? 0, 0, '', 0));
      for (const name of targets.keys()) {
        body.push([
          `${what}, ${name}`,
          num(middle(samples, name, (cost) => cost.wall)),
          num(ratio(samples, name, 'nginx', (cost) => cost.wall)),
          num((middle(samples, name, (cost) => cost.cpu) / calls / mb) * 1000),
          num(ratio(samples, name, 'nginx', (cost) => cost.cpu)),
          mib(middle(samples, name, (cost) => cost.peak)),
          num(middle(samples, name, (cost) => cost.firstByte)),
        ]);
      }
    }
    const head = ['', 'wall s', '/ nginx', 'CPU s/GB', '/ nginx', 'peak RSS MiB', 'slowest first byte s'];
    return { title: 'Many blobs at once', rows, details: [table(head, body), ...errors] };
  },
};

/** The same against the npm gateways, which both speak stdio to their server. */
export const manyPeers: Case = {
  ids: ['P5'],
  async run(lab): Promise<Section> {
    const [calls, mb] = lab.options.quick ? [4, 5] : [32, 10];
    const names = Object.keys(PEER_VERSIONS) as PeerName[];
    const gateway = await lab.gateway();
    const contenders = new Map<string, readonly [Target, ServerName]>([
      [lab.subject, [gateway, 'sse']],
      [`${lab.subject}, stdio`, [gateway, 'stdio']],
      ['nginx', [await lab.nginx(), 'sse']],
    ]);
    for (const name of names) contenders.set(name, [await lab.peer(name), 'stdio']);
    const errors: string[] = [];
    const samples = await interleave<BlobCost>(
      [...contenders.keys()],
      Math.min(lab.options.rounds, MOST_PEER_ROUNDS),
      async (name) => {
        const [target, server] = contenders.get(name) ?? [lab.direct, 'sse'];
        try {
          await target.restart();
          const cost = await callBlobs(target, await sessions(target, server, calls), mb, TIMEOUT_MS);
          if (cost.errors[0]) errors.push(`${name}: ${cost.errors.length} of ${calls} failed: ${cost.errors[0]}`);
          // A peer that gives up early is not fast: its failed calls count with the time they were given.
          return cost;
        } catch (error) {
          errors.push(`${name}: ${String(error)}`);
          return undefined;
        }
      },
      0,
    );
    for (const name of names) await (await lab.peer(name)).stop();
    const body = [...contenders.keys()].map((name) => [
      name,
      num(middle(samples, name, (cost) => cost.wall)),
      num(
        ratio(samples, name, lab.subject, (cost) => cost.wall),
        1,
      ),
      mib(middle(samples, name, (cost) => cost.peak)),
      num(
        middle(samples, name, (cost) => cost.errors.length),
        0,
      ),
    ]);
    const wallOf = (cost: BlobCost) => cost.wall;
    const what = `${calls} × ${mb} MB at once`;
    const ofNginx = ratio(samples, lab.subject, 'nginx', wallOf);
    const rows: Row[] = [
      atMost('P5', `${what}: wall / nginx`, ofNginx, MOST_OF_NGINX),
      ...names.map((name) => {
        const times = `${num(ratio(samples, name, lab.subject, wallOf), 1)}×`;
        return { id: 'P5', what: `${what}: wall of ${name} / ours`, goal: '–', measured: times, ok: undefined };
      }),
    ];
    const head = ['', 'wall s', '/ ours', 'peak RSS MiB', 'failed'];
    return { title: 'Many blobs at once, the npm gateways', rows, details: [table(head, body), ...errors] };
  },
};
