import { type BlobCost, callDifferentBlobs, storedWrong } from '../lib/blob-call.js';
import { openSession } from '../lib/client.js';
import { atMost, num, type Section, table } from '../lib/report.js';
import { interleave, middle } from '../lib/stats.js';
import type { Case } from './case.js';

/** MB of base64 → CPU milliseconds that a call may take. */
const MOST_MS: ReadonlyMap<number, number> = new Map([
  [0.1, 2],
  [1, 4],
  [5, 14],
]);
const AT_ONCE = [1, 8];
/** Calls of one sample pass so many MB, and are at least as many as are needed to see a millisecond. */
const SAMPLE_MB = 40;
const LEAST_CALLS = 16;
const MOST_CALLS = 160;
const TIMEOUT_MS = 60_000;
/** Images of 0.1 MB stay in the message otherwise. */
const LIMITS = { inlineImage: '32KiB' };

const callsOf = (mb: number) => Math.min(MOST_CALLS, Math.max(LEAST_CALLS, Math.round(SAMPLE_MB / mb)));

/** Pictures of the sizes that people have, in results: what one costs the warm gateway on its way into S3. */
export const filePrice: Case = {
  ids: ['N13'],
  async run(lab): Promise<Section> {
    const gateway = await lab.gateway({ limits: LIMITS });
    await gateway.restart();
    const cases = [...MOST_MS.keys()].flatMap((mb) =>
      AT_ONCE.map((atOnce) => ({ name: `${mb} MB image, ${atOnce} at once`, mb, atOnce })),
    );
    const errors: string[] = [];
    const warmUps = 2;
    const samples = await interleave<BlobCost>(
      cases.map(({ name }) => name),
      lab.options.rounds,
      async (name) => {
        const { mb, atOnce } = cases.find((one) => one.name === name) ?? { mb: 1, atOnce: 1 };
        const sessions = await Promise.all(Array.from({ length: atOnce }, () => openSession(gateway.url('sse'))));
        const before = (await lab.storeStats()).bytes;
        const times = callsOf(mb) / atOnce;
        const cost = await callDifferentBlobs(gateway, sessions, { mb, times }, TIMEOUT_MS);
        errors.push(...cost.errors, ...(await storedWrong(lab, before, mb, callsOf(mb))));
        return cost.errors.length === 0 ? cost : undefined;
      },
      warmUps,
    );
    const ms = (name: string, mb: number, of: (cost: BlobCost) => number) =>
      (middle(samples, name, of) / callsOf(mb)) * 1000;
    return {
      title: 'The price of a file',
      rows: cases.map(({ name, mb }) =>
        atMost(
          'N13',
          `${name}: CPU per call`,
          ms(name, mb, ({ cpu }) => cpu),
          MOST_MS.get(mb) ?? 0,
          ' ms',
        ),
      ),
      details: [
        table(
          ['', 'CPU ms per call', 'calls/s'],
          cases.map(({ name, mb }) => [
            name,
            num(ms(name, mb, ({ cpu }) => cpu)),
            num(1000 / ms(name, mb, ({ wall }) => wall), 0),
          ]),
        ),
        ...new Set(errors),
      ],
    };
  },
};
