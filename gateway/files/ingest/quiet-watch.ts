/** How often it is looked whether bytes still come. */
const LOOK_MS = 1000;

/** Whatever holds memory while bytes come, and can give it back when none do. */
export interface Quieting {
  /** Bytes have come since this was last asked. */
  hasMoved(): boolean;
  /** Gives back what it can. */
  rest(): void;
}

/** Looks after all files under way with one timer: a part's memory is not for whoever sends nothing. */
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
