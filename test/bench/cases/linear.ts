import { callBlobs } from '../lib/blob-call.js';
import { measure, openSession, type Session, toolCall } from '../lib/client.js';
import type { Lab } from '../lib/lab.js';
import { cpuSeconds, peakRss, resetPeak } from '../lib/proc.js';
import { atMost, mib, num, type Row, type Section, table } from '../lib/report.js';
import { median } from '../lib/stats.js';
import type { Target } from '../lib/target.js';
import type { Case } from './case.js';

const TIMEOUT_MS = 400_000;
/** Flat within a fifth: what is asked of the largest size against the smallest. */
const MOST_GROWTH = 1.2;
/** `limits.response` for a message of 100 MB. */
const RAISED = { response: '200MiB', held: '1GiB' };

interface Cost {
  /** CPU seconds per GB. */
  perGb: number;
  peak: number;
  wall: number;
}

type Work = (target: Target, session: Session, mb: number) => Promise<string[]>;

const blobs: Work = async (target, session, mb) => (await callBlobs(target, [session], mb, TIMEOUT_MS)).errors;

const items: Work = async (_target, session, mb) => {
  const { error, bytes } = await measure(session, toolCall('items', { mb }), TIMEOUT_MS);
  if (error !== undefined) return [error];
  return bytes >= mb * 0.8e6 ? [] : [`only ${bytes} bytes came`];
};

/** Repeats the work until some 100 MB have passed: 10 MB alone take less CPU than the clock's jitter. */
async function cost(target: Target, work: Work, mb: number, totalMb: number): Promise<Cost> {
  const session = await openSession(target.url('sse'));
  const times = Math.max(1, Math.round(totalMb / mb));
  const pids = target.pids();
  resetPeak(pids);
  const before = cpuSeconds(pids);
  const began = performance.now();
  for (let time = 0; time < times; time += 1) {
    const errors = await work(target, session, mb);
    if (errors[0] !== undefined) throw new Error(`${mb} MB: ${errors[0]}`);
  }
  const perGb = ((cpuSeconds(pids) - before) / times / mb) * 1000;
  return { perGb, peak: peakRss(pids), wall: (performance.now() - began) / 1000 / times };
}

interface Series {
  what: string;
  work: Work;
  sizes: readonly number[];
  /** MB to pass for one figure of the smaller sizes. */
  totalMb: number;
  limits?: Record<string, string>;
}

async function run(lab: Lab, series: Series): Promise<{ row: Row; body: string[][]; errors: string[] }> {
  const { what, work, sizes, totalMb } = series;
  const target = await lab.gateway(series.limits ? { limits: series.limits } : {});
  const costs = new Map<number, Cost[]>(sizes.map((mb) => [mb, []]));
  const errors: string[] = [];
  await target.restart();
  const smallest = sizes[0] ?? 1;
  try {
    await cost(target, work, smallest, totalMb);
    for (let round = 0; round < lab.options.rounds; round += 1) {
      for (const mb of sizes) costs.get(mb)?.push(await cost(target, work, mb, totalMb));
    }
  } catch (error) {
    errors.push(`${what}: ${String(error)}`);
  }
  const perGb = (mb: number) => median((costs.get(mb) ?? []).map((one) => one.perGb));
  const growth = Math.max(...sizes.map((mb) => perGb(mb) / perGb(smallest)));
  const row = atMost(
    'P13',
    `${what}, ${sizes.join(', ')} MB: dearest size / smallest, CPU per GB`,
    growth,
    MOST_GROWTH,
  );
  const body = sizes.map((mb) => {
    const of = costs.get(mb) ?? [];
    return [
      `${what}, ${mb} MB`,
      num(perGb(mb)),
      num(perGb(mb) / perGb(smallest)),
      num(median(of.map((one) => one.wall)), 3),
      mib(Math.max(...of.map((one) => one.peak))),
    ];
  });
  await target.stop();
  return { row, body, errors };
}

/** Whether cost grows in step with size, for what is cut and for what is passed through. */
export const linear: Case = {
  ids: ['P13'],
  async run(lab): Promise<Section> {
    const { quick } = lab.options;
    const all = [
      await run(lab, { what: 'blob', work: blobs, sizes: quick ? [10, 100] : [10, 100, 1000], totalMb: 100 }),
      await run(lab, {
        ...{ what: 'small JSON items in one message', work: items, limits: RAISED },
        ...{ sizes: quick ? [1, 10] : [1, 10, 100], totalMb: quick ? 20 : 60 },
      }),
    ];
    await (await lab.gateway()).restart();
    const head = ['', 'CPU s/GB', '/ smallest', 'wall s per message', 'peak RSS MiB'];
    return {
      title: 'Linear cost',
      rows: all.map((one) => one.row),
      details: [
        table(
          head,
          all.flatMap((one) => one.body),
        ),
        ...all.flatMap((one) => one.errors),
      ],
    };
  },
};
