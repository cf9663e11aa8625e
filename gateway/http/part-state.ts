import { failureText } from '../errors/causes.js';
import { AdvisedError } from '../errors/system.js';
import { type ErrorCode, GatewayError } from '../errors.js';
import { timeText } from '../policy/amounts.js';
import type { Stopwatch } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { SeveralGauges } from './metrics.js';

/** A part that has not answered by then counts as down. */
const CHECK_TIMEOUT_MS = 2000;

/** How long a result is reused, and a check without one is joined, because probes and scrapes come from several sides. */
const FRESH_MS = 1000;

/** The cause of a part that works. */
export const WELL = 'ok';

/** What the log says when a part fails, and when it is back. */
const OF_PARTS = { fails: 'not ready: a part of this process fails', works: 'ready again' };
const OF_ROOM = { fails: 'a part of this process is full', works: 'there is room again' };
const OF_SERVERS = { fails: 'a server cannot be reached', works: 'a server can be reached again' };

/** What to do about a part that fails where no cause of it says so. */
const OTHERWISE: Partial<Record<ErrorCode, string>> = {
  store_full: 'Make room on the disk of objects.path, or in the quota of the bucket.',
  store_timeout: 'Look at the load of the store, and at what stands between it and Wharf.',
  store_unavailable: '`wharf doctor --only objects` tries each step, and names the right that is missing.',
  state_full: 'Raise `maxmemory` of Redis, or `state.maxKeys`.',
  state_unavailable: '`wharf doctor --only state` tries each step, and names the right that is missing.',
};

/** What to do about a part that answers too late: its checks may end well, so that no error says why it is not ready. */
const LOOK_BETWEEN = 'Look at its load, and at what stands between it and Wharf.';

/** The state before a part's first answer. */
export const UNKNOWN = 'not known yet';

/** The state of a server that is a program, whose file is there: processes are started for sessions. */
export const UNTRIED = 'not started yet';

/** What a state says of its part. */
export function toneOf(state: string): 'good' | 'soft' | 'bad' {
  if (state === WELL) return 'good';
  return state === UNKNOWN || state === UNTRIED ? 'soft' : 'bad';
}

/**
 * The state of a part. It is checked on request, one check at a time, and callers need not wait for the answer: that of a
 * part without which this process can work, such as a server, the previews or an issuer of tokens.
 */
export class PartState {
  readonly #check: () => Promise<void>;
  readonly #ticks: () => number;
  readonly #well: () => string;
  #known = UNKNOWN;
  #asking: Promise<void> | undefined;
  #answered = Number.NEGATIVE_INFINITY;

  /**
   * @param ticks as a `Stopwatch` tells them
   * @param well what is known once the check has found nothing wrong
   */
  constructor(check: () => Promise<void>, ticks: () => number, well = () => WELL) {
    this.#check = check;
    this.#ticks = ticks;
    this.#well = well;
  }

  /**
   * `ok`, `not started yet`, or what is wrong in words.
   * @param patienceMs how long to wait for an answer newer than the last one
   */
  async look(patienceMs: number): Promise<string> {
    if (!this.#asking && this.#ticks() - this.#answered >= FRESH_MS) this.#ask();
    if (this.#asking) await within(patienceMs, this.#asking);
    return this.#known;
  }

  #ask(): void {
    const check = (async () => this.#check())();
    const late = setTimeout(() => {
      this.#known = lateText();
    }, CHECK_TIMEOUT_MS).unref();
    this.#asking = check
      .then(
        () => this.#well(),
        (error: unknown) => causeOf(error),
      )
      .then((found) => {
        clearTimeout(late);
        this.#known = found;
        this.#answered = this.#ticks();
        this.#asking = undefined;
      });
  }
}

interface Told {
  log: Log;
  clock: Stopwatch;
}

interface Checked {
  check(): Promise<void>;
  readonly isUntried?: boolean;
}

/** Parts reported beside the readiness of this process. */
export interface PartsBeside {
  previews: PartState;
  /** Those of now. */
  readonly servers: ReadonlyMap<string, PartState>;
  /** The authorization servers whose tokens are taken now. */
  readonly issuers: ReadonlyMap<string, PartState>;
}

interface Beside {
  previewer: Checked;
  servers: ReadonlyMap<string, Checked>;
  /** Those of now: the same objects until a reload replaces them. */
  issuers: () => readonly (Checked & { issuer: string })[];
}

/** Each part keeps its state for as long as it is the same object, over reloads too. */
export function partsBeside({ previewer, servers, issuers }: Beside, clock: Stopwatch, log: Log): PartsBeside {
  const states = new WeakMap<Checked, PartState>();
  const stateOf = (part: Checked, server?: string) => {
    const known = states.get(part);
    if (known) return known;
    const check = () => part.check();
    const made = new PartState(
      server === undefined ? check : toldBy({ server }, check, { log, clock }, OF_SERVERS),
      () => clock.ticks(),
      () => (part.isUntried ? UNTRIED : WELL),
    );
    states.set(part, made);
    return made;
  };
  return {
    previews: stateOf(previewer),
    get issuers() {
      return new Map(issuers().map((one) => [one.issuer, stateOf(one)]));
    },
    get servers() {
      return new Map([...servers].map(([name, server]) => [name, stateOf(server, name)]));
    },
  };
}

/** Reports which servers can be reached; omits those whose state is not known yet. */
export function gaugeServers(metrics: SeveralGauges, beside: PartsBeside): void {
  metrics.gauges('wharf_server_up', () => upOf('server', beside.servers));
}

/**
 * Reports which parts work that this process cannot do without. While one fails, balancers send no requests here, so that no
 * count of errors rises.
 */
export function gaugeParts(
  metrics: SeveralGauges,
  checks: ReadonlyMap<string, () => Promise<void>>,
  clock: Stopwatch,
): void {
  const states = new Map([...checks].map(([name, check]) => [name, new PartState(check, () => clock.ticks())]));
  metrics.gauges('wharf_part_up', () => upOf('part', states));
}

async function upOf(label: string, states: ReadonlyMap<string, PartState>) {
  const found = await Promise.all(
    [...states].map(async ([name, state]) => ({ name, cause: await state.look(CHECK_TIMEOUT_MS) })),
  );
  return found
    .filter(({ cause }) => cause !== UNKNOWN)
    .map(({ name, cause }) =>
      toneOf(cause) !== 'bad'
        ? { labels: { [label]: name }, value: 1 }
        : { labels: { [label]: name, cause }, value: 0 },
    );
}

/** Reports which version runs, for alerts and for graphs across an upgrade. */
export function gaugeBuild(metrics: SeveralGauges, version = 'unknown'): void {
  metrics.gauges('wharf_build_info', async () => [{ labels: { version, node: process.version }, value: 1 }]);
}

/** Checks a part that this process cannot work without. */
export async function stateNow(check: () => Promise<void>): Promise<string> {
  let found = `${lateText()}. ${LOOK_BETWEEN}`;
  const asked = (async () => check())().then(
    () => {
      found = WELL;
    },
    (error: unknown) => {
      found = causeOf(error);
    },
  );
  await within(CHECK_TIMEOUT_MS, asked);
  return found;
}

/**
 * Tells the log when a part fails, with the cause that `/readyz` does not show, and when it is back. A replica that is not ready
 * is out of turn: no request comes whose failure would say it.
 */
export function told(part: string, check: () => Promise<void>, by: Told): () => Promise<void> {
  return toldBy({ part }, check, by, OF_PARTS);
}

/** Tells the log when a part is full, and when there is room again. What it holds can be read, so the replica stays in turn. */
export function toldOfRoom(part: string, check: () => Promise<void>, by: Told): () => Promise<void> {
  return toldBy({ part }, check, by, OF_ROOM);
}

function toldBy(
  fields: Readonly<Record<string, string>>,
  check: () => Promise<void>,
  { log, clock }: Told,
  words: typeof OF_PARTS,
): () => Promise<void> {
  let fails = false;
  let begun = 0;
  /** The latest check that ended well in time. */
  let well = 0;
  const note = (err: unknown) => {
    if (!fails) log.warn({ ...fields, err }, words.fails);
    fails = true;
  };
  return joined(clock, async () => {
    begun += 1;
    const own = begun;
    let isLate = false;
    // a process is not ready while a part takes longer, even if that ends well
    const late = setTimeout(() => {
      isLate = words === OF_PARTS;
      if (isLate && well < own) note(lateError());
    }, CHECK_TIMEOUT_MS).unref();
    try {
      await check();
    } catch (error) {
      const why = firstOf(error);
      note(why instanceof GatewayError ? (why.cause ?? why) : why);
      throw error;
    } finally {
      clearTimeout(late);
    }
    if (isLate) return;
    well = own;
    if (fails) log.info(fields, words.works);
    fails = false;
  });
}

/**
 * Lets those who ask meanwhile wait for the check that runs: the admin port asks for no key, and of a flood of probes each
 * would be a request to the store. One that hangs is joined no longer: the next may find that the part is back.
 */
function joined(clock: Stopwatch, check: () => Promise<void>): () => Promise<void> {
  let running: { result: Promise<void>; since: number } | undefined;
  return () => {
    const now = clock.ticks();
    if (running && now - running.since < FRESH_MS) return running.result;
    const begun = { result: check(), since: now };
    running = begun;
    const end = () => {
      if (running === begun) running = undefined;
    };
    begun.result.then(end, end);
    return begun.result;
  };
}

/** The words for a failure: addresses and credentials appear only in the log. */
function causeOf(thrown: unknown): string {
  const error = firstOf(thrown);
  if (error instanceof GatewayError)
    return typeof error.facts.reason === 'string' ? error.facts.reason : failureText(error, OTHERWISE[error.code]);
  return error instanceof Error && error.message !== '' ? error.message : 'failed';
}

/** Several attempts at one thing fail for the same reason: the first says it. */
function firstOf(error: unknown): unknown {
  return error instanceof AggregateError && error.errors.length > 0 ? firstOf(error.errors[0]) : error;
}

function lateError(): Error {
  const error = new AdvisedError(`${lateText()}.`, LOOK_BETWEEN);
  // it would be that of a timer
  delete error.stack;
  return error;
}

function lateText(): string {
  return `no answer within ${timeText(CHECK_TIMEOUT_MS)}`;
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}
