import { openSession, type Session } from '../lib/client.js';
import type { Lab } from '../lib/lab.js';
import { cpuSeconds, peakRss, resetPeak } from '../lib/proc.js';
import { atLeast, atMost, mib, num, type Row, type Section, table } from '../lib/report.js';
import { interleave, middle, ratio, type Samples } from '../lib/stats.js';
import type { Target } from '../lib/target.js';
import { PEER_VERSIONS, type PeerName } from '../lib/tools.js';
import { runWrk, type WrkResult } from '../lib/wrk.js';
import type { Case } from './case.js';

const CONNECTIONS = [1, 32, 256];
const SECONDS = 3;
const QUICK_SECONDS = 1;
const MOST_ROUNDS = 5;
/** Goals with node:http as the client to the upstream. */
const LEAST_OF_NGINX = 0.45;
const LEAST_OF_PEER = 5;
const MOST_ADDED_US = 200;

interface Load extends WrkResult {
  /** CPU microseconds of the target per request. */
  cpu: number;
  /** Bytes. */
  peak: number;
}

async function load(lab: Lab, target: Target, session: Session, connections: number): Promise<Load> {
  const seconds = lab.options.quick ? QUICK_SECONDS : SECONDS;
  const pids = target.pids();
  resetPeak(pids);
  const before = cpuSeconds(pids);
  const result = await runWrk(lab.wrk, session, { connections, seconds, directory: lab.directory });
  const cpu = ((cpuSeconds(pids) - before) / result.requests) * 1e6;
  return { ...result, cpu, peak: peakRss(pids) };
}

function goals(lab: Lab, connections: number, samples: Samples<Load>, peers: readonly PeerName[]): Row[] {
  const speed = (base: string) => ratio(samples, lab.subject, base, (one) => one.perSecond);
  if (connections === 1) {
    const added = middle(samples, lab.subject, (one) => one.p50) - middle(samples, 'direct', (one) => one.p50);
    return [atMost('P8', 'small messages, 1 connection: p50 added over direct', added, MOST_ADDED_US, ' µs', 0)];
  }
  const rows = [
    atLeast('P6', `small messages, ${connections} connections: req/s / nginx`, speed('nginx'), LEAST_OF_NGINX),
    ...peers.map((peer) =>
      atLeast('P7', `small messages, ${connections} connections: req/s / ${peer}`, speed(peer), LEAST_OF_PEER, '×', 1),
    ),
  ];
  // The goals are set for 32 connections; 256 shows what is left of it under a queue.
  return connections === 32 ? rows : rows.map((row) => ({ ...row, goal: '–', ok: undefined }));
}

/** 1 KB tool calls under wrk. */
export const small: Case = {
  ids: ['P6', 'P7', 'P8'],
  async run(lab): Promise<Section> {
    const peers = lab.options.peers ? (Object.keys(PEER_VERSIONS) as PeerName[]) : [];
    const targets = [lab.direct, await lab.nginx(), await lab.floor(), await lab.gateway()];
    for (const name of peers) targets.push(await lab.peer(name));
    const body: string[][] = [];
    const rows: Row[] = [];
    const errors: string[] = [];
    for (const connections of CONNECTIONS) {
      const contenders = new Map<string, readonly [Target, Session]>();
      for (const target of targets) {
        await target.restart();
        contenders.set(target.name, [target, await openSession(target.url('sse'))]);
      }
      const rounds = Math.min(lab.options.rounds, MOST_ROUNDS);
      const samples = await interleave<Load>([...contenders.keys()], rounds, async (name) => {
        const [target, session] = contenders.get(name) ?? [];
        if (!target || !session) return undefined;
        try {
          return await load(lab, target, session, connections);
        } catch (error) {
          errors.push(`${name}: ${String(error)}`);
          return undefined;
        }
      });
      rows.push(...goals(lab, connections, samples, peers));
      for (const name of contenders.keys()) {
        body.push([
          `${connections}, ${name}`,
          num(
            middle(samples, name, (one) => one.perSecond),
            0,
          ),
          num(ratio(samples, name, 'nginx', (one) => one.perSecond)),
          num(
            middle(samples, name, (one) => one.p50),
            0,
          ),
          num(
            middle(samples, name, (one) => one.p99),
            0,
          ),
          name === 'direct'
            ? '–'
            : num(
                middle(samples, name, (one) => one.cpu),
                0,
              ),
          name === 'direct' ? '–' : mib(middle(samples, name, (one) => one.peak)),
          num(
            middle(samples, name, (one) => one.failures),
            0,
          ),
        ]);
      }
    }
    for (const name of peers) await (await lab.peer(name)).stop();
    const head = ['connections', 'req/s', '/ nginx', 'p50 µs', 'p99 µs', 'CPU µs/req', 'peak RSS MiB', 'failed'];
    return { title: 'Small messages', rows, details: [table(head, body), ...errors] };
  },
};
