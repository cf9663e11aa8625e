/** How far back a rate looks. A shorter window makes it jump; a longer one still shows a network that has gone. */
const WINDOW_MS = 6000;
/** A shorter time shows nothing. */
const LEAST_MS = 800;

/** Measures a rate over the last seconds. */
export class Rate {
  #samples: { at: number; bytes: number }[] = [];

  note(bytes: number, at: number): void {
    this.#samples.push({ at, bytes });
    const old = this.#samples.findIndex((sample) => at - sample.at <= WINDOW_MS);
    // the last sample before the window marks its beginning
    if (old > 1) this.#samples.splice(0, old - 1);
  }

  /** Bytes per second; undefined while there are too few samples. */
  get perSecond(): number | undefined {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (!first || !last || last.at - first.at < LEAST_MS || last.bytes <= first.bytes) return undefined;
    // two digits: further ones only flicker
    return Number((((last.bytes - first.bytes) / (last.at - first.at)) * 1000).toPrecision(2));
  }

  clear(): void {
    this.#samples = [];
  }
}
