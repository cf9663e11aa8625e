import { createHash } from 'node:crypto';
import { decodedBytes } from '../lib/blob-call.js';
import { measure, openSession, rpc, type Session } from '../lib/client.js';
import {
  attempt,
  type Cost,
  fileBytes,
  idleRss,
  passed,
  peakRow,
  roundsOf,
  TIMEOUT_MS,
  WARM_UP_BYTES,
} from '../lib/file-rounds.js';
import { costOf } from '../lib/file-transfer.js';
import { atMost, mib, num, type Section, table } from '../lib/report.js';
import { interleave, middle, ratio, type Samples } from '../lib/stats.js';
import type { Target } from '../lib/target.js';
import { blobChars, fileDigest } from '../servers/blob.js';
import type { Case } from './case.js';

const SERVER = 'json';
const STREAMS = { resourceStreaming: {} };
const MOST_WALL = 1.2;
const MOST_LATER_MS = 10;

interface Streamed extends Cost {
  /** Seconds. */
  firstByte: number;
}

/** Megabytes of base64 for a file of about `bytes` bytes. */
const asBase64Mb = (bytes: number) => (bytes * 4) / 3 / 1e6;
const uriOf = (mb: number) => `bench://blob/${mb}`;

async function take(target: Target, session: Session, mb: number): Promise<Streamed> {
  const cuts = target.name === 'wharf';
  const message = rpc(cuts ? 'resources/stream' : 'resources/read', { uri: uriOf(mb) });
  const { value, ...cost } = await costOf(target.pids(), () => measure(session, message, TIMEOUT_MS));
  if (value.error !== undefined) throw new Error(value.error);
  const least = cuts ? decodedBytes(mb) : blobChars(mb);
  if (value.bytes < least) throw new Error(`${value.bytes} bytes came: ${value.start.slice(0, 500)}`);
  return { ...cost, firstByte: value.firstByte };
}

/** Not measured: here every byte is looked at. */
async function digestOf(session: Session, mb: number): Promise<string> {
  const headers = { 'content-type': 'application/json', ...session.headers };
  const body = JSON.stringify(rpc('resources/stream', { uri: uriOf(mb) }));
  const answer = await fetch(session.url, { method: 'POST', headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
  const hash = createHash('sha256');
  for await (const chunk of answer.body ?? []) hash.update(chunk);
  return hash.digest('hex');
}

/** A huge resource as bytes, from a server that only knows `resources/read`, against nginx that passes the base64. */
export const stream: Case = {
  ids: ['P11'],
  async run(lab): Promise<Section> {
    const mb = asBase64Mb(fileBytes(lab.options));
    const errors: string[] = [];
    const gateway = await lab.gateway();
    const targets = [lab.direct, await lab.nginx(), gateway];
    const byName = new Map(targets.map((target) => [target.name, target]));
    await gateway.restart();
    const open = async (target: Target): Promise<Session> => {
      const { url, headers } = await openSession(target.url(SERVER), STREAMS);
      return { url, headers: { accept: 'application/json, text/event-stream, */*', ...headers } };
    };
    const session = await open(gateway);
    await take(gateway, session, asBase64Mb(WARM_UP_BYTES));
    const idle = await idleRss(gateway);
    if ((await digestOf(session, mb)) !== fileDigest(decodedBytes(mb))) errors.push('other bytes came');
    const samples = await interleave<Streamed>([...byName.keys()], roundsOf(lab.options), (name) =>
      attempt(errors, name, async () => {
        const target = byName.get(name) ?? lab.direct;
        return take(target, await open(target), mb);
      }),
    );
    const what = `${mib(decodedBytes(mb))} MiB resource as a stream`;
    const wall = ratio(samples, lab.subject, 'nginx', (one) => one.wall);
    return {
      title: 'resources/stream in front of a server that only has resources/read',
      rows: [
        atMost('P11', `${what}, wall / nginx with the base64`, wall, MOST_WALL),
        atMost('P11', `${what}: first byte later than the server's`, later(samples, lab.subject), MOST_LATER_MS, ' ms'),
        peakRow('P11', what, idle, samples, (one) => one),
        passed('P11', `${what}: sha-256`, 'the same', errors),
      ],
      details: [
        table(
          HEAD,
          [...byName.keys()].map((name) => line(samples, name, decodedBytes(mb))),
        ),
        ...errors,
      ],
    };
  },
};

/** Milliseconds, the median over the rounds. */
function later(samples: Samples<Streamed>, name: string): number {
  return (middle(samples, name, (one) => one.firstByte) - middle(samples, 'direct', (one) => one.firstByte)) * 1000;
}

const HEAD = ['', 'wall s', '/ nginx', 'first byte ms', 'CPU s/GB of file', '/ nginx', 'peak RSS MiB'];

function line(samples: Samples<Streamed>, name: string, bytes: number): string[] {
  const of = (key: keyof Streamed) => middle(samples, name, (one) => one[key]);
  const overNginx = (key: keyof Streamed) => num(ratio(samples, name, 'nginx', (one) => one[key]));
  const isFree = name === 'direct';
  return [
    name,
    num(of('wall')),
    overNginx('wall'),
    num(of('firstByte') * 1000, 1),
    isFree ? '–' : num((of('cpu') / bytes) * 1e9),
    isFree ? '–' : overNginx('cpu'),
    isFree ? '–' : mib(of('peak')),
  ];
}
