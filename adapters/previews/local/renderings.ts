import type { Owner, OwnerSide } from '../../../gateway/ports/owner.js';

/** A rendering under way. */
interface Rendering<Heir> {
  readonly owner: Owner;
  /** When it began, by a stopwatch. */
  readonly since: number;
  /** Ends it without a result. @param heir gets its place */
  giveUp(heir: Heir): void;
}

/** Renderings under way, one in each process that works. */
export class Renderings<Heir> {
  /** In the order in which they began. */
  readonly #running = new Set<Rendering<Heir>>();

  begin(rendering: Rendering<Heir>): void {
    this.#running.add(rendering);
  }

  end(rendering: Rendering<Heir>): void {
    this.#running.delete(rendering);
  }

  /**
   * The rendering that makes room for another owner's: where one caller, or one server, has all processes, the one that has
   * run longest. @param processes how many there are
   */
  inTheWayOf(owner: Owner, processes: number): Rendering<Heir> | undefined {
    const [longest] = this.#running;
    if (!longest || this.#running.size < processes) return undefined;
    const hasAll = (side: OwnerSide) =>
      longest.owner[side] !== owner[side] && [...this.#running].every((one) => one.owner[side] === longest.owner[side]);
    return hasAll('principal') || hasAll('server') ? longest : undefined;
  }
}
