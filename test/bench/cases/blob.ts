import { type BlobCost, callBlobs, storedWrong } from '../lib/blob-call.js';
import { openSession } from '../lib/client.js';
import type { Lab } from '../lib/lab.js';
import { atMost, mib, num, type Row, type Section, table } from '../lib/report.js';
import { interleave, middle, ratio, type Samples } from '../lib/stats.js';
import type { ServerName } from '../lib/target.js';
import type { Case } from './case.js';

const SIZES_MB = [100, 300];
const TIMEOUT_MS = 60_000;
/** The digest of a file is part of what a client is told, so the goal with hash is the one that holds. */
const MOST_WALL = 1.4;
const MOST_CPU = 2.2;
/** CPU seconds for 10⁹ bytes of base64, the digest included. */
const MOST_CPU_PER_GB = 2.2;

interface Taken {
  samples: Samples<BlobCost>;
  errors: string[];
}

async function take(lab: Lab, server: ServerName, mb: number): Promise<Taken> {
  const errors: string[] = [];
  const targets = [lab.direct, await lab.nginx(), await lab.floor(), await lab.gateway()];
  const byName = new Map(targets.map((target) => [target.name, target]));
  const samples = await interleave([...byName.keys()], lab.options.rounds, async (name) => {
    const target = byName.get(name) ?? lab.direct;
    const before = (await lab.storeStats()).bytes;
    const cost = await callBlobs(target, [await openSession(target.url(server))], mb, TIMEOUT_MS);
    const stored = name === 'wharf' && cost.errors.length === 0 ? await storedWrong(lab, before, mb, 1) : [];
    errors.push(...[...cost.errors, ...stored].map((error) => `${name}, ${mb} MB, ${server}: ${error}`));
    return cost.errors.length + stored.length === 0 ? cost : undefined;
  });
  return { samples, errors };
}

function lines(samples: Samples<BlobCost>, title: string, mb: number): string[][] {
  return [...samples.keys()].map((name) => [
    `${title}, ${name}`,
    num(
      middle(samples, name, (cost) => cost.wall),
      3,
    ),
    num(ratio(samples, name, 'nginx', (cost) => cost.wall)),
    name === 'direct' ? '–' : num((middle(samples, name, (cost) => cost.cpu) / mb) * 1000),
    name === 'direct' ? '–' : num(ratio(samples, name, 'nginx', (cost) => cost.cpu)),
    name === 'direct' ? '–' : mib(middle(samples, name, (cost) => cost.peak)),
  ]);
}

/** One large blob at a time, wall and CPU against nginx that passes it through. */
export const blob: Case = {
  ids: ['P1', 'P2', 'N12'],
  async run(lab): Promise<Section> {
    const wall: Row[] = [];
    const cpu: Row[] = [];
    const body: string[][] = [];
    const errors: string[] = [];
    for (const server of ['sse', 'json'] as const) {
      for (const mb of SIZES_MB) {
        const taken = await take(lab, server, mb);
        const { samples } = taken;
        const what = `${mb} MB blob (${server})`;
        wall.push(
          atMost(
            'P1',
            `${what}, wall / nginx`,
            ratio(samples, lab.subject, 'nginx', (cost) => cost.wall),
            MOST_WALL,
          ),
        );
        cpu.push(
          atMost(
            'P2',
            `${what}, CPU / nginx`,
            ratio(samples, lab.subject, 'nginx', (cost) => cost.cpu),
            MOST_CPU,
          ),
        );
        const perGb = (middle(samples, lab.subject, (cost) => cost.cpu) / mb) * 1000;
        cpu.push(atMost('N12', `${what}, CPU per GB of base64`, perGb, MOST_CPU_PER_GB, ' s'));
        body.push(...lines(samples, what, mb));
        errors.push(...taken.errors);
      }
    }
    const head = ['', 'wall s', '/ nginx', 'CPU s/GB', '/ nginx', 'peak RSS MiB'];
    return { title: 'One large blob', rows: [...wall, ...cpu], details: [table(head, body), ...errors] };
  },
};
