import { fileURLToPath } from 'node:url';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import { GatewayError } from '../../../gateway/errors.js';
import { DEFAULT_LIMITS, DEFAULT_TIMEOUTS, type Limits, type Timeouts } from '../../../gateway/policy/limits.js';
import type { Log, LogFields } from '../../../gateway/ports/log.js';

export interface LogLine extends LogFields {
  level: string;
  text: string;
}

/** A log that keeps its lines. */
export function recordingLog(lines: LogLine[] = [], base: LogFields = {}): Log & { lines: LogLine[] } {
  const at = (level: string) => (fields: LogFields, text: string) => {
    lines.push({ ...base, ...fields, level, text });
  };
  const child = (fields: LogFields): Log => recordingLog(lines, { ...base, ...fields });
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), child };
}

export interface Overrides {
  limits?: Partial<Limits>;
  timeouts?: Partial<Timeouts>;
}

/** What every upstream adapter is created with. */
export function upstreamDeps(overrides: Overrides = {}) {
  return {
    name: 'subject',
    limits: { ...DEFAULT_LIMITS, ...overrides.limits },
    timeouts: { ...DEFAULT_TIMEOUTS, upstream: 20_000, ...overrides.timeouts },
    log: recordingLog(),
    sharing: UNSHARED,
    inheritedEnv: { PATH: process.env.PATH ?? '' },
  };
}

/** The command of a stdio server among the test helpers. */
export function stdioServer(): string[] {
  return [process.execPath, fileURLToPath(new URL('../../helpers/fake-stdio-server.js', import.meta.url))];
}

/** A fixture is not compiled, so it stays where its source is. */
export function fixtureFile(name: string): string {
  return fileURLToPath(new URL(`../../../../test/helpers/${name}`, import.meta.url));
}

/** The command of a stdio server that misbehaves. */
export function fixture(mode: string): string[] {
  return [process.execPath, fixtureFile('stdio-child.fixture.mjs'), mode];
}

export function request(id: number, method: string, params: object = {}): Buffer {
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
}

export const POST_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** A signal that never aborts. */
export const calm = (): AbortSignal => new AbortController().signal;

/** What a promise rejected with, as the GatewayError it has to be. */
export async function failureOf(promise: Promise<unknown>): Promise<GatewayError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw new Error('rejected with something else than a GatewayError', { cause: error });
  }
  throw new Error('did not reject');
}
