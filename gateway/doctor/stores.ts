import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../errors.js';
import { sizeText, timeText } from '../policy/amounts.js';
import type { Antivirus, Scanner, Verdict } from '../ports/antivirus.js';
import type { AboutStore, StateStore } from '../ports/state-store.js';
import type { Telemetry } from '../ports/telemetry.js';
import type { Check, Finding } from './check.js';

/** The time of an answer is part of what differs. */
const MOST_SKEW_MS = 30_000;

/** The test file of all scanners, in two pieces so that none finds it here. */
const HARMLESS = 'The doctor of Wharf has written this file, which harms no machine.';
const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'];

/** The first check of a store says why, and what to do about it: the advice of a later one would lead elsewhere. */
const UNREAD: Finding = { state: 'skipped', text: 'not tried, because the store does not answer' };

const IF_REDIS_IS_LATE =
  'Look whether Redis runs, at its load and its slow log (SLOWLOG GET), and at what stands between it and Wharf; timeouts.state is ' +
  'how long Wharf waits for each step.';

/** A Redis in the network of its replicas takes a millisecond. A file in a result waits for several steps. */
const SLOW_STEP_MS = 100;

const NEARER =
  'Every link, file and new session waits for several steps: look at the load of Redis, and at its distance from Wharf. A step that ' +
  'takes longer than timeouts.state fails.';

/** Opens a part when its first check needs it. */
export type Open<Part> = () => Promise<Part>;

/**
 * The time of the quickest of a few steps: the others have waited for checks that run at the same time. The very first one is
 * not among them, because it has connected.
 */
class Stopwatch {
  #least = Number.POSITIVE_INFINITY;

  /** At least 0.1 ms. */
  get least(): number {
    return Math.max(this.#least, 0.1);
  }

  async time<T>(step: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const result = await step;
    this.#least = Math.min(this.#least, performance.now() - startedAt);
    return result;
  }
}

function answers(store: StateStore): Promise<boolean> {
  const key = `doctor:${randomBytes(12).toString('hex')}`;
  return store.read(key).then(
    () => true,
    () => false,
  );
}

/** @param countsCallers whether the config limits what callers use over time */
export function stateChecks(open: Open<StateStore>, countsCallers: boolean): Check[] {
  return [
    {
      group: 'state',
      title: 'create, read, expire and remove',
      ifLate: IF_REDIS_IS_LATE,
      todo:
        'Check state.url: rediss:// for a Redis with TLS, redis:// for one without, and one Redis that has all keys, which a ' +
        'part of a Redis Cluster has not. The Redis user needs the rights that STORAGE.md lists.',
      run: async () => {
        const store = await open();
        const key = `doctor:${randomBytes(12).toString('hex')}`;
        if (!(await store.create(key, '1', 10_000))) throw new Error('a new key is said to exist');
        const steps = new Stopwatch();
        if (await steps.time(store.create(key, '2', 10_000))) throw new Error('a key was created twice');
        if (!(await steps.time(store.replace(key, '1', '3', 10_000)))) throw new Error('a key could not be replaced');
        if (!(await steps.time(store.extend(key, 20_000)))) throw new Error('the time of a key could not be extended');
        if ((await steps.time(store.take(key))) !== '3') throw new Error('what was written is not what is read');
        await store.create(key, '4', 50);
        await sleep(200);
        if ((await store.read(key)) !== undefined) throw new Error('a key has outlived its time');
        await store.remove(key);
        await store.check();
        const text = `${store.name}: each step is atomic, and takes ${timeText(steps.least)}`;
        return steps.least < SLOW_STEP_MS ? { state: 'ok', text } : { state: 'warning', text, todo: NEARER };
      },
    },
    {
      group: 'state',
      title: 'what callers have used',
      ifLate: IF_REDIS_IS_LATE,
      todo: 'Check state.url, and the rights of the Redis user.',
      run: async () => {
        if (!countsCallers) return { state: 'skipped', text: 'nothing of callers is limited over time' };
        const store = await open();
        const key = `doctor:${randomBytes(12).toString('hex')}`;
        const count = () => store.tally(key, [{ part: 'one', by: 1, ttlMs: 10_000 }], 1);
        const counted = [await count(), await count()].map(({ isWithin }) => isWithin);
        await store.remove(key);
        if (counted[0] !== true || counted[1] !== false)
          throw new Error('one of one fits, and two of one do not: it says otherwise');
        return { state: 'ok', text: `${store.name}: it is counted, and refused beyond its limit` };
      },
    },
    {
      group: 'state',
      title: 'rights',
      todo: 'Give them to the Redis user; STORAGE.md lists all.',
      run: async () => rightsOf(await open(), countsCallers),
    },
    {
      group: 'state',
      title: 'settings',
      todo: 'Let the Redis user run INFO and TIME, or check maxmemory-policy, appendonly and the clock there yourself.',
      run: async () => {
        const store = await open();
        if (!store.about) return { state: 'skipped', text: `${store.name}: it ends with the process` };
        try {
          return settingsOf(await store.about());
        } catch (error) {
          // another error says what the store is
          if (!(error instanceof GatewayError) || (await answers(store))) throw error;
          return UNREAD;
        }
      },
    },
  ];
}

async function rightsOf(store: StateStore, countsCallers: boolean): Promise<Finding> {
  if (!store.lackedRights) return { state: 'skipped', text: `${store.name}: it has no users` };
  // the first check says why it cannot be asked
  const lacked = await store.lackedRights(countsCallers).catch(() => undefined);
  if (!lacked) return UNREAD;
  if (lacked.length === 0) return { state: 'ok', text: `${store.name}: its user has them all` };
  const todo = `Give them to that user, and keep them in its users' file: ACL SETUSER NAME ${lacked.join(' ')}`;
  return { state: 'failed', text: `${store.name}: its user lacks ${lacked.join(', ')}`, todo };
}

/** Every key of Wharf has a time to live. So each policy but `noeviction` removes keys, also those called `volatile-*`. */
function settingsOf({ version, evicts, maxMemory, isLasting, now }: AboutStore): Finding {
  const skew = Math.abs(Date.now() - now);
  const memory = maxMemory === undefined ? 'no maxmemory' : `maxmemory ${sizeText(maxMemory)}`;
  if (evicts !== undefined) {
    const text = `${version}, ${memory}: maxmemory-policy is ${evicts}, and an evicted key is a lost file`;
    const todo = 'Set maxmemory-policy to noeviction: CONFIG SET maxmemory-policy noeviction.';
    return { state: maxMemory === undefined ? 'warning' : 'failed', text, todo };
  }
  if (skew > MOST_SKEW_MS) {
    const todo = 'Set both clocks by NTP.';
    return { state: 'warning', text: `${version}: its clock differs by ${timeText(skew)}`, todo };
  }
  if (!isLasting) {
    const todo = 'Set appendonly to yes, unless sessions and files may end with Redis: CONFIG SET appendonly yes.';
    return {
      state: 'warning',
      text: `${version}, noeviction, ${memory}; what it last wrote is lost when it restarts`,
      todo,
    };
  }
  return { state: 'ok', text: `${version}, noeviction, appendonly, ${memory}` };
}

/** Whether the collector of traces and metrics takes them: while it does not, no call fails, and nothing is recorded. */
export function telemetryChecks(open: Open<Telemetry>): Check[] {
  return [
    {
      group: 'telemetry',
      title: 'collector',
      todo:
        'Check telemetry.endpoint, or OTEL_EXPORTER_OTLP_ENDPOINT: the port for OTLP over HTTP (4318, not 4317 for gRPC), without ' +
        '/v1/traces; and telemetry.headers.',
      isMinor: true,
      run: async () => {
        const { check, name } = await open();
        if (!check) return { state: 'skipped', text: `${name}: nothing is sent` };
        await check();
        return { state: 'ok', text: `${name}: it takes what it is sent` };
      },
    },
  ];
}

/** Whether the antivirus finds a test file, and finds nothing in a harmless one. */
export function antivirusChecks(open: Open<Antivirus>): Check[] {
  return [
    {
      group: 'antivirus',
      title: 'EICAR test file',
      todo: 'Check antivirus.host and port, and that the signatures of clamd are loaded (freshclam).',
      run: async (signal) => {
        const { scanner, name } = await open();
        if (!scanner) return { state: 'skipped', text: `${name}: files are not scanned` };
        await scanner.check();
        const verdict = await verdictOn(scanner, EICAR.join(''), signal);
        if (verdict.kind !== 'infected') throw new Error(`${name} calls the test file ${verdict.kind}`);
        const other = await verdictOn(scanner, HARMLESS, signal);
        if (other.kind !== 'clean') throw new Error(`${name} calls a harmless file ${other.kind}`);
        return { state: 'ok', text: `${name} finds it (${verdict.signature}), and a harmless file clean` };
      },
    },
  ];
}

async function verdictOn(scanner: Scanner, text: string, signal: AbortSignal): Promise<Verdict> {
  const scan = await scanner.begin(signal);
  try {
    await scan.write(Buffer.from(text));
    return await scan.end();
  } finally {
    scan.abort();
  }
}
