/** Counts the POSTs, or the GETs, under way at one server, so that it can end after the last of them. */
export class OpenPosts {
  #open = 0;
  #onIdle: (() => void) | undefined;

  begin(): void {
    this.#open += 1;
  }

  end(): void {
    this.#open -= 1;
    if (this.#open === 0) this.#onIdle?.();
  }

  /** Resolves when none is under way. Called once, when new ones go to another server in this one's place. */
  async idle(): Promise<void> {
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }
}
