import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { exchange } from '../lib/client.js';
import type { Lab } from '../lib/lab.js';
import { cpuSeconds, rss } from '../lib/proc.js';
import { atMost, mib, num, type Row, type Section, table } from '../lib/report.js';
import { median } from '../lib/stats.js';
import type { Target } from '../lib/target.js';
import { gatewayTarget } from '../lib/wharf.js';
import type { Case } from './case.js';

const MIB = 1024 * 1024;
const STARTS = 5;
const SESSIONS = 10_000;
const STREAMS = 1000;
const QUICK_SHARE = 0.1;
/** Requests at one time while sessions and streams are opened. */
const AT_ONCE = 16;
/** The gateway gives memory back after six quiet seconds, counted in steps of three; V8 keeps emptied pages up to 14 more. */
const QUIET_MS = 30_000;
const MOST_IDLE_MIB = 80;
const MOST_START_SECONDS = 0.3;
const MOST_OVER_MIB = 32;

const PROTOCOL_VERSION = '2025-06-18';

/** The gateway with its files on disk, and room for what is opened here. */
function idleTarget(lab: Lab): Promise<Target> {
  const { node, nodeArgs } = lab.options;
  const settings = {
    servers: { sse: { url: lab.direct.url('sse'), transport: 'streamable-http' } },
    objects: { use: 'filesystem', path: join(lab.directory, 'idle-files') },
    limits: { sessions: 2 * SESSIONS, connections: 2 * STREAMS },
  };
  return gatewayTarget({ name: 'idle', directory: lab.directory, node, nodeArgs }, settings, {});
}

async function inTurns<T>(count: number, one: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      made.push(await one());
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return made;
}

async function openSession(url: URL): Promise<string> {
  const params = {
    protocolVersion: PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: 'bench', version: '1.0.0' },
  };
  const { headers } = await exchange(url, { body: { jsonrpc: '2.0', id: 0, method: 'initialize', params } });
  const id = headers['mcp-session-id'];
  if (typeof id !== 'string') throw new Error('initialize opened no session');
  return id;
}

function openStream(url: URL, session: string): Promise<IncomingMessage> {
  const headers = {
    accept: 'text/event-stream',
    'mcp-session-id': session,
    'mcp-protocol-version': PROTOCOL_VERSION,
  };
  return new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, (answer) => {
      answer.on('error', () => {});
      if (answer.statusCode === 200) resolve(answer);
      else reject(new Error(`GET: HTTP ${answer.statusCode}`));
    }).on('error', reject);
  });
}

const quiet = async (target: Target) => {
  await sleep(QUIET_MS);
  return rss(target.pids());
};

/** What a process takes while it does nothing: after its start, and with sessions and streams that are at rest. */
export const idle: Case = {
  ids: ['N11', 'N15'],
  async run(lab): Promise<Section> {
    if (lab.subject !== 'wharf') return { title: 'At rest', rows: [], details: [] };
    const target = await idleTarget(lab);
    const url = new URL(target.url('sse'));
    const share = lab.options.quick ? QUICK_SHARE : 1;
    const rows: Row[] = [];
    const body: string[][] = [];
    const starts: number[] = [];
    for (let start = 0; start < STARTS; start += 1) {
      await target.restart();
      starts.push(cpuSeconds(target.pids()));
    }
    const resting = await quiet(target);
    rows.push(
      atMost('N11', 'CPU until the port accepts', median(starts), MOST_START_SECONDS, ' s'),
      atMost('N11', 'RSS at rest, files on disk', resting / MIB, MOST_IDLE_MIB, ' MiB', 0),
    );
    body.push(['started', mib(resting), num(median(starts))]);

    const sessions = Math.round(SESSIONS * share);
    await inTurns(sessions, () => openSession(url));
    const withSessions = await quiet(target);
    const overSessions = (withSessions - resting) / MIB;
    rows.push(atMost('N15', `${sessions} sessions at rest: RSS over idle`, overSessions, MOST_OVER_MIB, ' MiB', 0));
    body.push([`${sessions} sessions`, mib(withSessions), '–']);

    await target.restart();
    const before = await quiet(target);
    const count = Math.round(STREAMS * share);
    const streams = await inTurns(count, async () => openStream(url, await openSession(url)));
    const withStreams = await quiet(target);
    for (const stream of streams) stream.destroy();
    const overStreams = (withStreams - before) / MIB;
    rows.push(atMost('N15', `${count} open GET streams: RSS over idle`, overStreams, MOST_OVER_MIB, ' MiB', 0));
    body.push([`${count} streams`, mib(withStreams), '–']);
    await target.stop();
    return { title: 'At rest', rows, details: [table(['', 'RSS MiB', 'CPU s'], body)] };
  },
};
