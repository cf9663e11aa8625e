import { quantile } from '../bench/lib/stats.js';
import { drawChart, type Stretch } from './chart.js';
import type { HostilePeer } from './hostile/target.js';
import type { Sample } from './sampler.js';
import { table } from './table.js';
import { FLOOR_MS, type KindVerdict, MOST_TIMES, type TimedCall } from './verdict.js';

/** What a soak has seen. */
export interface Seen {
  facts: readonly string[];
  samples: readonly Sample[];
  calls: readonly TimedCall[];
  kinds: readonly KindVerdict[];
  peers: readonly HostilePeer[];
  /** Outcomes of the hostile peers, by their name. */
  outcomes: ReadonlyMap<string, Readonly<Record<string, number>>>;
  stretches: readonly Stretch[];
  /** Further conditions, such as that nothing is left over. */
  checks: readonly { what: string; measured: string; isOk: boolean }[];
}

const MIB = 1024 * 1024;
const MOST_OUTCOMES = 4;

const ms = (value: number) =>
  Number.isNaN(value) ? '–' : value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : `${Math.round(value)} ms`;
const mib = (value: number) => `${Math.round(value / MIB)} MiB`;
const mark = (isOk: boolean) => (isOk ? 'ok' : '**no**');

/** Whether everything held. */
export function passed({ kinds, checks }: Seen): boolean {
  return kinds.length > 0 && kinds.every(({ isOk }) => isOk) && checks.every(({ isOk }) => isOk);
}

/** The report as Markdown. */
export function report(seen: Seen): string {
  return [
    '# What hostile peers do to honest callers',
    seen.facts.map((fact) => `- ${fact}`).join('\n'),
    '![Memory, event loop and the slowest honest call over time](soak.svg)',
    `**${passed(seen) ? 'Passed' : 'Not passed'}.** Honest callers see no error, and none of their calls takes longer than ${MOST_TIMES} times the slowest quiet one of its kind (what is below ${FLOOR_MS} ms counts as ${FLOOR_MS} ms).`,
    '## Honest callers',
    table(
      ['call', 'quiet: p50', 'p95', 'longest', 'hostile: p50', 'p95', 'longest', 'allowed', 'calls', 'errors', ''],
      seen.kinds.map(({ kind, quiet, hostile, allowed, errors, isOk }) => [
        kind,
        ...[quiet.p50, quiet.p95, quiet.max, hostile.p50, hostile.p95, hostile.max, allowed].map(ms),
        String(quiet.count + hostile.count),
        String(errors),
        mark(isOk),
      ]),
    ),
    '## The gateway',
    table(['', ...seen.stretches.map(({ name }) => name)], memoryRows(seen)),
    table(
      ['after it', 'measured', ''],
      seen.checks.map(({ what, measured, isOk }) => [what, measured, mark(isOk)]),
    ),
    '## Hostile peers',
    table(
      ['kind', 'what it does', 'most frequent outcomes'],
      seen.peers.map((peer) => [peer.name, peer.does, outcomesOf(seen, peer)]),
    ),
    '',
  ].join('\n\n');
}

function memoryRows({ samples, stretches }: Seen): string[][] {
  const during = ({ from, to }: Stretch, value: (sample: Sample) => number) =>
    samples
      .filter(({ at }) => at >= from && at < to)
      .map(value)
      .filter((one) => !Number.isNaN(one));
  const line = (name: string, value: (sample: Sample) => number, write: (value: number) => string) => [
    name,
    ...stretches.map((stretch) => {
      const values = during(stretch, value);
      return `${write(quantile(values, 0.5))}, at most ${write(Math.max(0, ...values))}`;
    }),
  ];
  return [
    line('resident memory', ({ rss }) => rss, mib),
    line('heap in use', ({ heap }) => heap, mib),
    line('`wharf_held_bytes`', ({ held }) => held, mib),
    line('`wharf_part_memory_bytes`', ({ partMemory }) => partMemory, mib),
    line('event loop delay, longest in a second', ({ loop }) => loop, ms),
    line(
      'cores kept busy',
      ({ cpu }) => cpu,
      (value) => value.toFixed(2),
    ),
    line('of a second, waited for a core that others had', ({ waited }) => waited, ms),
    line(
      'connections of clients',
      ({ connections }) => connections,
      (value) => String(Math.round(value)),
    ),
    line(
      'exchanges under way',
      ({ exchanges }) => exchanges,
      (value) => String(Math.round(value)),
    ),
  ];
}

function outcomesOf({ outcomes }: Seen, { name }: HostilePeer): string {
  const met = Object.entries(outcomes.get(name) ?? {}).sort(([, a], [, b]) => b - a);
  return (
    met
      .slice(0, MOST_OUTCOMES)
      .map(([outcome, count]) => `${outcome} ×${count}`)
      .join(', ') || '–'
  );
}

/** The chart beside it. */
export function chart({ samples, calls, stretches }: Seen): string {
  const curve = (name: string, colour: string, value: (sample: Sample) => number) => ({
    name,
    colour,
    points: samples.map((sample) => ({ at: sample.at, value: value(sample) })),
  });
  const inMib = (value: number) => value / MIB;
  const small = calls.filter(({ kind }) => /tools\/list|echo|resources\/list/.test(kind));
  const large = calls.filter((call) => !small.includes(call));
  const slowest = (of: readonly TimedCall[]) => of.map(({ at, ms: value }) => ({ at, value }));
  const end = Math.max(1, ...stretches.map(({ to }) => to));
  return drawChart(
    [
      {
        title: 'Memory of the process',
        unit: 'MiB',
        curves: [
          curve('resident', '#0969da', ({ rss }) => inMib(rss)),
          curve('heap', '#8250df', ({ heap }) => inMib(heap)),
        ],
      },
      {
        title: 'Counted memory',
        unit: 'MiB',
        curves: [
          curve('messages held', '#1a7f37', ({ held }) => inMib(held)),
          curve('parts of files', '#bc4c00', ({ partMemory }) => inMib(partMemory)),
        ],
      },
      { title: 'Event loop, longest delay', unit: 'ms', curves: [curve('delay', '#cf222e', ({ loop }) => loop)] },
      {
        title: 'Slowest honest call',
        unit: 'ms',
        curves: [
          { name: 'with a file or a new session', colour: '#0969da', points: slowest(large) },
          { name: 'small', colour: '#1a7f37', points: slowest(small) },
        ],
      },
    ],
    stretches,
    end,
  );
}
