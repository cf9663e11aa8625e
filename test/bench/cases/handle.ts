import { Agent, request } from 'node:http';
import { openSession, type Session, toolCall } from '../lib/client.js';
import { UPLOADS, upload } from '../lib/file-transfer.js';
import { cpuSeconds } from '../lib/proc.js';
import { atMost, num, type Section, table } from '../lib/report.js';
import { interleave, middle, ratio } from '../lib/stats.js';
import type { Case } from './case.js';

/** CPU of a call with a handle, in units of one to a tool without files. */
const MOST_TIMES = 1.6;
const BYTES = 1024;
const AT_ONCE = 8;
const CALLS = 2000;
const QUICK_CALLS = 400;
/** Calls with a file of their own: fewer, because each needs an upload before. */
const PART_WITH_OWN = 4;
const TIMEOUT_MS = 20_000;

const PLAIN = 'a tool without files';
const BYTES_IN_CALL = 'the bytes in the call';
const HANDLE = 'a handle';
const OWN_HANDLE = 'a handle that no call had before';
const WAYS = [PLAIN, BYTES_IN_CALL, HANDLE, OWN_HANDLE] as const;

/** Calls with each of these arguments, on connections that stay open, so that only the call is measured. */
async function callAll(sessions: readonly Session[], texts: readonly string[]): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const left = texts.values();
  const callInTurn = async (session: Session) => {
    for (const text of left) await call(session, text, agent);
  };
  try {
    await Promise.all(sessions.map(callInTurn));
  } finally {
    agent.destroy();
  }
}

/** Handles of so many files. */
async function ownHandles(sessions: readonly Session[], files: number): Promise<string[]> {
  const handles: string[] = [];
  const uploadInTurn = async (session: Session, share: number) => {
    for (let one = 0; one < share; one++) handles.push(await upload(session, BYTES, TIMEOUT_MS));
  };
  await Promise.all(sessions.map((session) => uploadInTurn(session, files / sessions.length)));
  return handles;
}

function call(session: Session, text: string, agent: Agent): Promise<void> {
  const body = JSON.stringify(toolCall('echo', { text }));
  const headers = {
    ...session.headers,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const out = request(session.url, { method: 'POST', agent, headers, timeout: TIMEOUT_MS }, (answer) => {
      let got = '';
      answer.setEncoding('latin1');
      answer.on('data', (piece: string) => {
        got += piece;
      });
      answer.on('error', reject);
      answer.on('end', () => {
        if (got.includes('"result"') && !got.includes('"isError":true')) resolve();
        else reject(new Error(got.slice(0, 300)));
      });
    });
    out.on('timeout', () => out.destroy(new Error('no answer')));
    out.on('error', reject);
    out.end(body);
  });
}

/** Calls with a small file, by its handle and inside, beside calls of the same tool where it takes none. */
export const handle: Case = {
  ids: ['N7'],
  async run(lab): Promise<Section> {
    if (lab.subject !== 'wharf') throw new Error(`${lab.subject} takes no files`);
    const gateway = await lab.gateway();
    await gateway.restart();
    const calls = lab.options.quick ? QUICK_CALLS : CALLS;
    const open = (server: 'sse' | 'files') =>
      Promise.all(Array.from({ length: AT_ONCE }, () => openSession(gateway.url(server), UPLOADS)));
    const [plain, files] = [await open('sse'), await open('files')];
    const [first] = files;
    if (!first) throw new Error('no session');
    const base64 = Buffer.alloc(BYTES, 7).toString('base64');
    const handle = await upload(first, BYTES, TIMEOUT_MS);
    const samples = await interleave<number>(WAYS, lab.options.rounds, async (way) => {
      const texts =
        way === OWN_HANDLE
          ? await ownHandles(files, calls / PART_WITH_OWN)
          : Array.from({ length: calls }, () => (way === HANDLE ? handle : base64));
      const before = cpuSeconds(gateway.pids());
      await callAll(way === PLAIN ? plain : files, texts);
      return ((cpuSeconds(gateway.pids()) - before) / texts.length) * 1e6;
    });
    const times = (way: string) => ratio(samples, way, PLAIN, (cpu) => cpu);
    return {
      title: 'A call with a small file',
      rows: [
        atMost(
          'N7',
          'a call with the handle of a 1 KB file, CPU / a call to a tool without files',
          times(HANDLE),
          MOST_TIMES,
        ),
        atMost(
          'N7',
          'the first call with the handle of a 1 KB file, CPU / a call to a tool without files',
          times(OWN_HANDLE),
          MOST_TIMES,
        ),
      ],
      details: [
        table(
          ['', 'CPU µs per call', '/ without'],
          WAYS.map((way) => [
            way,
            num(
              middle(samples, way, (cpu) => cpu),
              0,
            ),
            num(times(way)),
          ]),
        ),
      ],
    };
  },
};
