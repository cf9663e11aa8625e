/** Interval between two checks for silence. */
const LOOK_MS = 1000;

/** Holds memory while bytes arrive, and can release it when they do not. */
export interface Quieting {
  /** True when bytes have arrived since the last call. */
  hasMoved(): boolean;
  /** Releases what it can. */
  rest(): void;
}

/** Watches all files under way with one timer: a peer that sends nothing must not keep a part's memory. */
export class QuietWatch {
  readonly #watched = new Set<Quieting>();
  #timer: NodeJS.Timeout | undefined;

  add(one: Quieting): void {
    this.#watched.add(one);
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
  }

  remove(one: Quieting): void {
    this.#watched.delete(one);
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    for (const one of this.#watched) if (!one.hasMoved()) one.rest();
  }
}
