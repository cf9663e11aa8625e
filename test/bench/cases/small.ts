import { openSession, type Session } from '../lib/client.js';
import type { Lab } from '../lib/lab.js';
import { cpuSeconds, peakRss, resetPeak } from '../lib/proc.js';
import { atLeast, atMost, mib, num, type Row, type Section, table } from '../lib/report.js';
import { interleave, middle, ratio, type Samples } from '../lib/stats.js';
import type { ServerName, Target } from '../lib/target.js';
import { PEER_VERSIONS, type PeerName } from '../lib/tools.js';
import { runWrk, type WrkResult } from '../lib/wrk.js';
import type { Case } from './case.js';

const SECONDS = 3;
const QUICK_SECONDS = 1;
const MOST_ROUNDS = 5;

/** CPU per call, in units of a Node proxy that looks at nothing. */
const MOST_OF_FLOOR = 1;
const LEAST_SPEED_OF_FLOOR = 1.1;
const LEAST_CPU_OF_PEER: Readonly<Record<PeerName, number>> = { supergateway: 6, 'mcp-proxy': 5 };
/** Microseconds. */
const MOST_ADDED_TO_FLOOR = 40;
const MOST_ADDED_BY_STDIO = 30;

/** What answers: a body with a length as an event or as JSON, an event without one, or a process. */
const SHORT = ['json', 'sse', 'chunked'] as const satisfies readonly ServerName[];

export interface Load extends WrkResult {
  /** CPU microseconds of the target per request. */
  cpu: number;
  /** Bytes. */
  peak: number;
}

interface Contest {
  samples: Samples<Load>;
  names: readonly string[];
  errors: string[];
}

/** All contenders under the same load in turns, each as a process of its own. */
async function contest(
  lab: Lab,
  targets: readonly Target[],
  server: ServerName,
  connections: number,
): Promise<Contest> {
  const errors: string[] = [];
  const sessions = new Map<string, readonly [Target, Session]>();
  for (const target of targets) {
    await target.restart();
    sessions.set(target.name, [target, await openSession(target.url(server))]);
  }
  const names = [...sessions.keys()];
  const samples = await interleave<Load>(names, Math.min(lab.options.rounds, MOST_ROUNDS), async (name) => {
    const [target, session] = sessions.get(name) ?? [];
    if (!target || !session) return undefined;
    try {
      return await load(lab, target, session, connections);
    } catch (error) {
      errors.push(`${name}: ${String(error)}`);
      return undefined;
    }
  });
  return { samples, names, errors };
}

/** One round of small calls. */
export async function load(
  lab: Lab,
  target: Pick<Target, 'pids'>,
  session: Session,
  connections: number,
): Promise<Load> {
  const seconds = lab.options.quick ? QUICK_SECONDS : SECONDS;
  const pids = target.pids();
  resetPeak(pids);
  const before = cpuSeconds(pids);
  const result = await runWrk(lab.wrk, session, { connections, seconds, directory: lab.directory });
  const cpu = ((cpuSeconds(pids) - before) / result.requests) * 1e6;
  return { ...result, cpu, peak: peakRss(pids) };
}

const cpuOf = (one: Load) => one.cpu;
const speedOf = (one: Load) => one.perSecond;

function lines({ samples, names }: Contest, what: string): string[][] {
  return names.map((name) => {
    const isDirect = name === 'direct';
    const figure = (of: (one: Load) => number, digits = 0) => num(middle(samples, name, of), digits);
    return [
      `${what}, ${name}`,
      figure(speedOf),
      figure((one) => one.p50),
      figure((one) => one.p99),
      isDirect ? '–' : figure(cpuOf),
      isDirect || !names.includes('passthrough') ? '–' : num(ratio(samples, name, 'passthrough', cpuOf)),
      isDirect ? '–' : mib(middle(samples, name, (one) => one.peak)),
      figure((one) => one.failures),
    ];
  });
}

/** 1 KB tool calls under wrk, in front of each kind of answer. */
export const small: Case = {
  ids: ['N1', 'N2', 'N3', 'N4', 'N5', 'N6'],
  async run(lab): Promise<Section> {
    const us = lab.subject;
    const gateway = await lab.gateway();
    const ways = [lab.direct, await lab.nginx(), await lab.floor(), gateway];
    const body: string[][] = [];
    const rows: Row[] = [];
    const errors: string[] = [];
    const run = async (targets: readonly Target[], server: ServerName, connections: number): Promise<Samples<Load>> => {
      const done = await contest(lab, targets, server, connections);
      body.push(...lines(done, `${server}, ${connections}`));
      errors.push(...done.errors);
      return done.samples;
    };
    for (const server of SHORT) {
      const samples = await run(ways, server, 32);
      const id = server === 'chunked' ? 'N2' : 'N1';
      rows.push(
        atMost(
          id,
          `1 KB calls, ${server}: CPU per call / passthrough`,
          ratio(samples, us, 'passthrough', cpuOf),
          MOST_OF_FLOOR,
        ),
        atLeast(
          'N3',
          `1 KB calls, ${server}, 32 connections: req/s / passthrough`,
          ratio(samples, us, 'passthrough', speedOf),
          LEAST_SPEED_OF_FLOOR,
        ),
      );
    }
    const many = await run(ways, 'chunked', 256);
    const speed = ratio(many, us, 'passthrough', speedOf);
    rows.push(atLeast('N3', '1 KB calls, chunked, 256 connections: req/s / passthrough', speed, LEAST_SPEED_OF_FLOOR));
    rows.push(...(await againstPeers(lab, (targets) => run(targets, 'sse', 32))));
    const one = await run(ways, 'sse', 1);
    const added = middle(one, us, (sample) => sample.p50) - middle(one, 'passthrough', (sample) => sample.p50);
    rows.push(atMost('N5', '1 KB calls, one connection: p50 over passthrough', added, MOST_ADDED_TO_FLOOR, ' µs', 0));
    // turn by turn in one gateway, since the goal is a difference
    const stdio = await run([gateway], 'stdio', 32);
    const http = await run([gateway], 'sse', 32);
    const beyond = middle(stdio, us, cpuOf) - middle(http, us, cpuOf);
    rows.push(
      atMost('N6', '1 KB calls to a stdio server: CPU per call over HTTP', beyond, MOST_ADDED_BY_STDIO, ' µs', 0),
    );
    const head = ['connections', 'req/s', 'p50 µs', 'p99 µs', 'CPU µs/req', '/ passthrough', 'peak RSS MiB', 'failed'];
    return { title: 'Small messages', rows, details: [table(head, body), ...errors] };
  },
};

/** CPU per call of the npm gateways, in units of ours before an HTTP server, and before the stdio server that they front. */
async function againstPeers(lab: Lab, run: (targets: readonly Target[]) => Promise<Samples<Load>>): Promise<Row[]> {
  if (!lab.options.peers) return [];
  const names = Object.keys(PEER_VERSIONS) as PeerName[];
  const http = await lab.gateway();
  const own = await lab.gateway({ limits: {} });
  const stdio: Target = { ...own, name: `${lab.subject} (stdio)`, url: () => own.url('stdio') };
  const targets = [http, stdio];
  for (const name of names) targets.push(await lab.peer(name));
  const samples = await run(targets);
  for (const target of targets) if (target !== http) await target.stop();
  const row = (name: PeerName, ours: string, what: string) =>
    atLeast(
      'N4',
      `1 KB calls${what}: CPU per call, ${name} / ours`,
      ratio(samples, name, ours, cpuOf),
      LEAST_CPU_OF_PEER[name],
      '×',
      1,
    );
  return [
    ...names.map((name) => row(name, http.name, '')),
    ...names.map((name) => row(name, stdio.name, ' to the same stdio server')),
  ];
}
