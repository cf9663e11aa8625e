import { openSession } from '../lib/client.js';
import {
  attempt,
  COST_HEAD,
  type Cost,
  costLine,
  cpuRow,
  fileBytes,
  idleRss,
  passed,
  peakRow,
  roundsOf,
  TIMEOUT_MS,
  WARM_UP_BYTES,
} from '../lib/file-rounds.js';
import { authorize, costOf, postForm, put, UPLOADS } from '../lib/file-transfer.js';
import { mib, type Section, table } from '../lib/report.js';
import { interleave } from '../lib/stats.js';
import type { Case } from './case.js';

/** CPU seconds for 2³⁰ bytes, hashed, signed and sent to the object store. */
const MOST_CPU = 2;

const SERVER = 'json';
const WAYS = { PUT: put, form: postForm } as const;
type Way = keyof typeof WAYS;

/** One huge file into the object store that throws it away: as a raw body, and as the file of a form. */
export const store: Case = {
  ids: ['P10', 'N8'],
  async run(lab): Promise<Section> {
    if (lab.subject !== 'wharf') throw new Error(`${lab.subject} takes no uploads`);
    const bytes = fileBytes(lab.options);
    const what = (way: Way) => `${mib(bytes)} MiB file to S3 (${way})`;
    const errors: string[] = [];
    const gateway = await lab.gateway();
    await gateway.restart();
    const session = await openSession(gateway.url(SERVER), UPLOADS);
    const upload = async (way: Way, size: number): Promise<Cost> => {
      const { url } = await authorize(session, size);
      const cost = await costOf(gateway.pids(), () => WAYS[way](url, size, TIMEOUT_MS));
      const stored = (await lab.storeStats()).last?.size;
      if (stored !== size) throw new Error(`the store got ${stored} bytes instead of ${size}`);
      return cost;
    };
    for (const way of ['PUT', 'form'] as const) await upload(way, WARM_UP_BYTES);
    const idle = await idleRss(gateway);
    // one after the other in each round, so that both meet the same machine
    const samples = await interleave<Record<Way, Cost>>(['wharf'], roundsOf(lab.options), (name) =>
      attempt(errors, name, async () => ({ PUT: await upload('PUT', bytes), form: await upload('form', bytes) })),
    );
    const ways = ['PUT', 'form'] as const;
    return {
      title: 'A file uploaded to S3',
      rows: [
        ...ways.flatMap((way) => [
          cpuRow('N8', what(way), bytes, samples, (costs) => costs[way], MOST_CPU),
          peakRow('P10', what(way), idle, samples, (costs) => costs[way]),
        ]),
        passed('P10', 'every byte is in the store', 'so', errors),
      ],
      details: [
        table(
          COST_HEAD,
          ways.map((way) => costLine(way, bytes, samples, 'wharf', (costs) => costs[way])),
        ),
        `Idle: ${mib(idle)} MiB.`,
        ...errors,
      ],
    };
  },
};
