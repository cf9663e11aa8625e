import { setFlagsFromString } from 'node:v8';
import { collector } from './collector.js';
import { mallocTrim } from './native-memory.js';

/** How often is looked whether the process is quiet. */
const LOOK_MS = 5000;
/** Less work than this between two looks is quiet: beats of 1000 open streams take 60 to 110 ms, a probe of health one. */
const QUIET_MS = 150;
/** What has to be before memory is given back: quiet looks in a row, and milliseconds of work since it last was. */
interface Pause {
  looks: number;
  workMs: number;
}
/** What the start has left: no call has been served, so no compiled code is lost. */
const FIRST: Pause = { looks: 2, workMs: 100 };
/**
 * Compiled code is lost with the garbage, because the objects for which it was compiled are gone while no call runs. After
 * each pause of 10 seconds small calls cost 220 µs instead of 150; a person who types a question makes such a pause too.
 */
const LATER: Pause = { looks: 4, workMs: 1000 };
/** How long V8's threads take to free the buffers of what was collected: half a second left 11 of 43 MiB behind. */
const FREED_MS = 2000;

export interface QuietOptions {
  /** Milliseconds of processor time so far. */
  spent: () => number;
  giveBack: () => void;
}

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
    const pause = this.#given === 0 ? FIRST : LATER;
    if (this.#quiet < pause.looks || now - this.#given < pause.workMs) return;
    giveBack();
    this.#quiet = 0;
    this.#given = spent();
    this.#looked = this.#given;
  }
}

/**
 * Gives memory back to the system whenever the process has become quiet. Does not keep it alive. It stands in the place of
 * V8's memory reducer, which collects after 8 seconds in which little was allocated and loses the compiled code as well.
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
  const trimHeaps = () => {
    trim ??= mallocTrim();
    trim?.();
  };
  const giveBack = () => {
    collect({ type: 'major', flavor: 'last-resort' });
    setTimeout(trimHeaps, FREED_MS).unref();
  };
  const memory = new QuietMemory({ spent, giveBack });
  setInterval(() => memory.look(), LOOK_MS).unref();
}
