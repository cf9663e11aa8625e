import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { collector, stirPagePool } from './collector.js';
import { mallocTrim } from './native-memory.js';
import { beginCollection } from './stepwise-collection.js';

/** How often is looked whether the process is quiet. */
const LOOK_MS = 3000;
/**
 * Less work than this between two looks, or two collections, is quiet: beats of 1000 open streams take 40 to 70 ms, a probe
 * of health one.
 */
const QUIET_MS = 120;
/** Quiet looks in a row before memory is given back. */
const QUIET_LOOKS = 2;
/** Milliseconds of work that leave enough to give back: of the start, and of calls, whose garbage takes 30 ms to collect. */
const START_MS = 100;
const CALLS_MS = 1000;
/** How long V8's threads take to collect and to free the buffers of what was collected: half a second left 11 of 43 MiB. */
const COLLECTED_MS = 2000;
/**
 * How often the young generation is collected. V8 shrinks it only in a collection before which little was allocated: after
 * 1000 streams had been opened, the first one left 50 MiB in two of four runs. And the 12 seconds of V8's pool of pages must
 * have passed after what came late: 1 to 2 ms each, until 20 seconds are over.
 */
const YOUNG_COLLECTIONS = 10;
/** Bytes of a young generation that has not shrunk; one that has takes 0.5 to 1.5 MiB. */
const LARGE_YOUNG = 4 * 1024 * 1024;

interface QuietOptions {
  /** Milliseconds of processor time so far. */
  spent: () => number;
  giveBack: (left: Left) => void;
}

/** Who has left what is given back. The start takes 250 to 500 ms; a process that has worked longer has served calls. */
type Left = 'by the start' | 'by calls';

/**
 * Decides when the process has become quiet after some work. V8 collects only while something allocates, so an idle
 * process kept what its last burst had needed: 168 MiB after 10,000 sessions were opened, of which they need 9, and 10 of
 * the 83 with which it had started.
 */
export class QuietMemory {
  readonly #options: QuietOptions;
  /** Processor time at the last look, and after the memory was last given back. */
  #looked = 0;
  #given = 0;
  #quiet = 0;

  constructor(options: QuietOptions) {
    this.#options = options;
  }

  look(): void {
    const { spent, giveBack } = this.#options;
    const now = spent();
    this.#quiet = now - this.#looked < QUIET_MS ? this.#quiet + 1 : 0;
    this.#looked = now;
    const left = this.#given === 0 && now < CALLS_MS ? 'by the start' : 'by calls';
    if (this.#quiet < QUIET_LOOKS || now - this.#given < (left === 'by calls' ? CALLS_MS : START_MS)) return;
    giveBack(left);
    this.#quiet = 0;
    this.#given = spent();
    this.#looked = this.#given;
  }
}

interface YoungOptions {
  /** Milliseconds of processor time so far. */
  spent: () => number;
  /** @param first whether nothing was collected yet since the memory was given back */
  collect: (first: boolean) => void;
}

/**
 * Collects the young generation at each beat after memory was given back, and leaves out a beat in which calls were served:
 * they need the room. Small calls that came within these 20 seconds cost 5 to 10 % more while it was taken from them every
 * two seconds.
 */
export class YoungCollections {
  readonly #options: YoungOptions;
  #left = 0;
  #seen = 0;

  constructor(options: YoungOptions) {
    this.#options = options;
  }

  begin(): void {
    this.#left = YOUNG_COLLECTIONS;
    this.#seen = this.#options.spent();
  }

  /** @returns whether more beats are needed */
  beat(): boolean {
    const { spent, collect } = this.#options;
    const worked = spent() - this.#seen;
    if (worked < QUIET_MS && this.#left > 0) {
      collect(this.#left === YOUNG_COLLECTIONS);
      this.#left -= 1;
    }
    this.#seen = spent();
    return this.#left > 0;
  }
}

/**
 * Gives memory back to the system whenever the process has become quiet. Does not keep it alive. It stands in the place of
 * V8's memory reducer, which collects after 8 seconds in which little was allocated and loses the compiled code.
 */
export function giveBackWhenQuiet(): void {
  // the flag that turns it off is read before this line runs; how often it may collect is read each time
  setFlagsFromString('--memory-reducer-gc-count=0');
  const collect = collector();
  const spent = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  let trim: (() => void) | undefined;
  const collectYoung = (first: boolean) => {
    const trims = first || youngBytes() > LARGE_YOUNG;
    // shrinks the young generation, which load has grown to as much as 64 MiB
    stirPagePool(collect);
    // not left until the young generation has shrunk: beside metrics read each second, 140 of 340 MiB waited for that
    trim ??= mallocTrim();
    if (trims) trim?.();
  };
  const young = new YoungCollections({ spent, collect: collectYoung });
  let beats: NodeJS.Timeout | undefined;
  const giveBack = (left: Left) => {
    let endCollection = left === 'by calls' ? beginCollection() : undefined;
    if (left === 'by the start') collect({ type: 'major', flavor: 'last-resort' });
    young.begin();
    clearInterval(beats);
    beats = setInterval(() => {
      endCollection?.();
      endCollection = undefined;
      if (!young.beat()) clearInterval(beats);
    }, COLLECTED_MS).unref();
  };
  const memory = new QuietMemory({ spent, giveBack });
  setInterval(() => memory.look(), LOOK_MS).unref();
}

/** Resident bytes of the young generation. */
function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.physical_space_size ?? 0;
}
