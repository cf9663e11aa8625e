import { RecentMap } from './recent-map.js';

/** How much each owner uses. The owner with the most is found without a look at the others. */
export class MostUsed {
  readonly #used = new Map<string, number>();
  /** Owners that use the same amount, in order of their last use. */
  readonly #byAmount = new Map<number, RecentMap<string, string>>();
  #most = 0;

  /** @param amount negative to use less; an owner without any use is forgotten */
  add(owner: string, amount: number): void {
    const before = this.#used.get(owner) ?? 0;
    const now = before + amount;
    const equals = this.#byAmount.get(before);
    equals?.delete(owner);
    if (equals?.size === 0) this.#byAmount.delete(before);
    if (now === 0) {
      this.#used.delete(owner);
      return;
    }
    this.#used.set(owner, now);
    const others = this.#byAmount.get(now) ?? new RecentMap<string, string>();
    this.#byAmount.set(now, others);
    others.set(owner, owner);
    this.#most = Math.max(this.#most, now);
  }

  /** From now on it is the owner that used anything last. */
  use(owner: string): void {
    this.#byAmount.get(this.#used.get(owner) ?? 0)?.use(owner);
  }

  /** The owner with the most; of several, the one that has not used anything for longest. */
  get most(): string | undefined {
    // as many steps down as there were up
    while (this.#most > 0 && !this.#byAmount.has(this.#most)) this.#most -= 1;
    const [first] = this.#byAmount.get(this.#most)?.values() ?? [];
    return first;
  }
}
