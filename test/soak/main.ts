/**
 * `npm run soak`: honest and hostile peers at once, as two callers of one gateway. First the honest ones are by
 * themselves; what they meet then is what they are held against. See CONTRIBUTING.md.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { ROOT } from '../bench/lib/paths.js';
import type { Stretch } from './chart.js';
import { PEERS } from './hostile/peers.js';
import { during, endPart, forget, KEYS, openLab, type SoakLab, startPart } from './lab.js';
import { chart, passed, report, type Seen } from './report.js';
import { Sampler } from './sampler.js';
import { judge, type Phase, type TimedCall } from './verdict.js';

const DEFAULT_MINUTES = 10;
/** The part of the time in which honest callers are alone. */
const QUIET_SHARE = 0.3;
/** What honest callers are given to begin with, unmeasured: processes start, connections open, code is compiled. */
const WARM_UP_SECONDS = 20;
/** Until a gateway that everybody has left has to have let go of all it counts. */
const REST_SECONDS = 45;
const COLOURS = { quiet: '#ddf4ff', hostile: '#ffebe9', left: '#f6f8fa' } as const;

interface Flags {
  minutes: string;
  wide?: boolean;
  out?: boolean;
}

const flags = new Command('soak')
  .description('Honest and hostile peers at once, against one gateway with real Redis and S3.')
  .option('--minutes <n>', 'how long it takes', String(DEFAULT_MINUTES))
  .option('--no-wide', 'without servers whose lists and results have very many members')
  .option('--no-out', 'only print, and leave test/faults/RESULTS.md as it is')
  .parse()
  .opts<Flags>();
const seconds = Number(flags.minutes) * 60;
if (!(seconds >= 60)) throw new Error('--minutes: 1 at least');

const print = (text: string) => process.stdout.write(`${text}\n`);

async function soak(lab: SoakLab): Promise<Seen> {
  const calls: TimedCall[] = [];
  const outcomes = new Map<string, Record<string, number>>();
  const stretches: Stretch[] = [];
  let phase: Phase | undefined;
  const honest = startPart('honest/main', [lab.url, KEYS.honest], (message) => {
    if (message.type !== 'honest' || phase === undefined) return;
    calls.push({ ...message, phase, at: sampler.now() });
    if (message.error !== undefined) print(`  ${message.kind}, after ${Math.round(message.ms)} ms: ${message.error}`);
  });
  await during(WARM_UP_SECONDS, lab);
  const sampler = new Sampler(lab.adminUrl, lab.pid);
  const stretch = async (name: keyof typeof COLOURS, lasting: number) => {
    print(`${name}: ${Math.round(lasting)} s`);
    const from = sampler.now();
    await during(lasting, lab);
    stretches.push({ name, from, to: sampler.now(), colour: COLOURS[name] });
  };

  phase = 'quiet';
  await stretch('quiet', (seconds - WARM_UP_SECONDS - REST_SECONDS) * QUIET_SHARE);
  phase = 'hostile';
  const args = [lab.url, KEYS.hostile, flags.wide ? 'wide' : ''];
  const hostile = startPart('hostile/main', args, (message) => {
    if (message.type !== 'hostile') return;
    const met = outcomes.get(message.peer) ?? {};
    for (const [what, count] of Object.entries(message.outcomes)) met[what] = (met[what] ?? 0) + count;
    outcomes.set(message.peer, met);
  });
  await stretch('hostile', (seconds - WARM_UP_SECONDS - REST_SECONDS) * (1 - QUIET_SHARE));
  phase = undefined;
  const hasLeft = hostile.exitCode === null;
  await endPart(hostile);
  await endPart(honest);
  await stretch('left', REST_SECONDS);
  await sampler.stop();
  const { last } = sampler;
  const nothing = (what: string, value = Number.NaN) => ({ what, measured: String(value), isOk: value === 0 });
  const checks = [
    nothing('`wharf_held_bytes`', last?.held),
    nothing('`wharf_part_memory_bytes`', last?.partMemory),
    nothing('exchanges under way', last?.exchanges),
    { what: 'hostile peers were there to the end', measured: hasLeft ? 'yes' : 'no', isOk: hasLeft },
  ];
  return {
    facts: facts(),
    samples: sampler.samples,
    calls,
    kinds: judge(calls),
    peers: PEERS,
    outcomes,
    stretches,
    checks,
  };
}

function facts(): string[] {
  return [
    `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} cores of ${cpus()[0]?.model.trim() ?? '?'}; callers, servers, Redis and S3 on the same machine`,
    `\`npm run soak${process.argv.length > 2 ? ` -- ${process.argv.slice(2).join(' ')}` : ''}\`: one gateway process, two API keys, files in S3, state in Redis`,
    'Honest: 5 callers with the official SDK, of servers over Streamable HTTP, HTTP+SSE and stdio. Every byte is checked by its SHA-256.',
  ];
}

const lab = await openLab(flags.wide === true);
let isOver = false;
try {
  const seen = await soak(lab);
  const text = report(seen);
  print(`\n${text}`);
  // beside the log, to find the cause of a slow call
  writeFileSync(join(dirname(lab.log), 'seen.json'), JSON.stringify({ calls: seen.calls, samples: seen.samples }));
  writeFileSync(join(dirname(lab.log), 'soak.svg'), chart(seen));
  if (flags.out) {
    const folder = join(ROOT, 'test/faults');
    writeFileSync(join(folder, 'RESULTS.md'), text);
    writeFileSync(join(folder, 'soak.svg'), chart(seen));
  }
  isOver = passed(seen);
  print(isOver ? 'passed' : `not passed; the log of the gateway is ${lab.log}`);
} finally {
  await lab.close();
  if (isOver) await forget(lab);
  else process.exitCode = 1;
}
