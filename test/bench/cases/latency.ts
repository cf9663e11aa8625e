import { type Measured, measure, openSession, toolCall } from '../lib/client.js';
import type { Lab } from '../lib/lab.js';
import { atMost, num, type Row, type Section, table } from '../lib/report.js';
import { interleave, median, middle, quantile } from '../lib/stats.js';
import type { Target } from '../lib/target.js';
import type { Case } from './case.js';

const TIMEOUT_MS = 30_000;
const TICKS = 150;
const TICK_MS = 5;
const MOST_FRAME_MS = 2;
const MOST_HEAD_MS = 5;
const BLOB_MB = 10;
/** A head is one sample, a round of ticks is a hundred and fifty. */
const HEADS_PER_ROUND = 4;

/** Milliseconds between the upstream's write and the client's read, for each frame of one answer. */
async function frameDelays(target: Target): Promise<number[]> {
  const session = await openSession(target.url('sse'));
  const delays: number[] = [];
  const message = toolCall('ticks', { count: TICKS, everyMs: TICK_MS });
  const { error } = await measure(session, message, TIMEOUT_MS, (chunk) => {
    const now = process.hrtime.bigint();
    for (const [, sent] of chunk.toString('latin1').matchAll(/sent at (\d+) ns/g)) {
      delays.push(Number(now - BigInt(sent ?? 0)) / 1e6);
    }
  });
  if (error !== undefined) throw new Error(`${target.name}: ${error}`);
  return delays;
}

async function targetsOf(lab: Lab): Promise<Map<string, Target>> {
  const targets = [lab.direct, await lab.nginx(), await lab.floor(), await lab.gateway()];
  for (const target of targets) await target.restart();
  return new Map(targets.map((target) => [target.name, target]));
}

/** How long a passed-through SSE frame is under way. */
export const frames: Case = {
  ids: ['P9'],
  async run(lab): Promise<Section> {
    const targets = await targetsOf(lab);
    const all = new Map<string, number[]>([...targets.keys()].map((name) => [name, []]));
    await interleave([...targets.keys()], lab.options.rounds, async (name) => {
      all.get(name)?.push(...(await frameDelays(targets.get(name) ?? lab.direct)));
      return undefined;
    });
    const p50 = median(all.get(lab.subject) ?? []);
    const rows: Row[] = [atMost('P9', 'SSE frame passed through, p50 from write to read', p50, MOST_FRAME_MS, ' ms')];
    const body = [...all].map(([name, delays]) => [
      name,
      num(median(delays), 3),
      num(quantile(delays, 0.99), 3),
      `${delays.length}`,
    ]);
    const head = ['', 'p50 ms', 'p99 ms', 'frames'];
    return { title: 'First byte of an SSE frame', rows, details: [table(head, body)] };
  },
};

/** How soon the head of a blob's answer comes, behind a server on the official SDK that renders the blob first. */
export const heads: Case = {
  ids: ['P12'],
  async run(lab): Promise<Section> {
    const targets = await targetsOf(lab);
    const errors: string[] = [];
    const rounds = lab.options.rounds * HEADS_PER_ROUND;
    const samples = await interleave<Measured>([...targets.keys()], rounds, async (name) => {
      const session = await openSession((targets.get(name) ?? lab.direct).url('sdk'));
      const measured = await measure(session, toolCall('blob', { mb: BLOB_MB }), TIMEOUT_MS);
      if (measured.error !== undefined) errors.push(`${name}: ${measured.error}`);
      return measured.error === undefined ? measured : undefined;
    });
    const first = (name: string) => middle(samples, name, (one) => one.firstByte * 1000);
    const what = `${BLOB_MB} MB blob behind an SDK server: answer's first byte later than through nginx`;
    const rows = [atMost('P12', what, first(lab.subject) - first('nginx'), MOST_HEAD_MS, ' ms')];
    const body = [...targets.keys()].map((name) => [
      name,
      num(first(name)),
      num(middle(samples, name, (one) => one.seconds * 1000)),
    ]);
    const head = ['', 'first byte ms', 'whole answer ms'];
    return { title: 'First byte of a blob', rows, details: [table(head, body), ...new Set(errors)] };
  },
};
