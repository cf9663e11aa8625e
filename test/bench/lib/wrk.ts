import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Session } from './client.js';

/** What wrk says about one run. */
export interface WrkResult {
  requests: number;
  perSecond: number;
  /** Microseconds. */
  p50: number;
  /** Microseconds. */
  p99: number;
  /** Answers other than 2xx, and socket errors. */
  failures: number;
}

const MICROSECONDS: Record<string, number> = { us: 1, ms: 1e3, s: 1e6 };
/** Stands in the rendered request where the script counts. */
const ID_MARK = 987_654_321;
const ECHO_CHARS = 900;

let runs = 0;

/** A POST of a 1 KB `tools/call` with an id of its own each time: a stdio server behind a peer tells answers by it. */
function script(session: Session): string {
  runs += 1;
  const params = { name: 'echo', arguments: { text: 'lorem ips.'.repeat(ECHO_CHARS / 10) } };
  const [before, after] = JSON.stringify({ jsonrpc: '2.0', id: ID_MARK, method: 'tools/call', params }).split(
    String(ID_MARK),
  );
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...session.headers,
  };
  return [
    'wrk.method = "POST"',
    ...Object.entries(headers).map(
      ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
    ),
    `local before, after, id = ${JSON.stringify(before)}, ${JSON.stringify(after)}, ${runs * 10_000_000}`,
    'function request() id = id + 1; return wrk.format(nil, nil, nil, before .. id .. after) end',
  ].join('\n');
}

function micros(text: string, label: string): number {
  const found = new RegExp(`${label}\\s+([\\d.]+)(us|ms|s)`).exec(text);
  return found ? Number(found[1]) * (MICROSECONDS[found[2] ?? ''] ?? Number.NaN) : Number.NaN;
}

/** Runs wrk with one thread. @throws Error when wrk itself fails */
export async function runWrk(
  wrk: { path: string; env: Record<string, string> },
  session: Session,
  options: { connections: number; seconds: number; directory: string },
): Promise<WrkResult> {
  const file = join(options.directory, 'post.lua');
  writeFileSync(file, script(session));
  const args = ['-t1', `-c${options.connections}`, `-d${options.seconds}s`, '--timeout', '10s', '--latency'];
  const { stdout } = await promisify(execFile)(wrk.path, [...args, '-s', file, session.url.href], {
    env: { ...process.env, ...wrk.env },
  });
  const socketErrors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout) ?? [];
  return {
    requests: Number(/(\d+) requests in/.exec(stdout)?.[1] ?? 0),
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1] ?? 0),
    p50: micros(stdout, '50%'),
    p99: micros(stdout, '99%'),
    failures: [/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0, ...socketErrors.slice(1)].reduce<number>(
      (sum, count) => sum + Number(count),
      0,
    ),
  };
}
