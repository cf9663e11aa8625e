import type { Owner, OwnerSide } from '../../../gateway/ports/owner.js';

/** A rendering under way. */
interface Rendering {
  readonly owner: Owner;
  /** When it began, by a stopwatch. */
  readonly since: number;
  /** Ends it without a result. */
  giveUp(): void;
}

/** Renderings under way, one in each process that works. */
export class Renderings {
  /** In the order in which they began. */
  readonly #running = new Set<Rendering>();

  begin(rendering: Rendering): void {
    this.#running.add(rendering);
  }

  end(rendering: Rendering): void {
    this.#running.delete(rendering);
  }

  /**
   * The rendering that makes room for another owner's: where one caller, or one server, has all processes, the one that has
   * run longest. @param processes how many there are
   */
  inTheWayOf(owner: Owner, processes: number): Rendering | undefined {
    const [longest] = this.#running;
    if (!longest || this.#running.size < processes) return undefined;
    const hasAll = (side: OwnerSide) =>
      longest.owner[side] !== owner[side] && [...this.#running].every((one) => one.owner[side] === longest.owner[side]);
    return hasAll('principal') || hasAll('server') ? longest : undefined;
  }
}
