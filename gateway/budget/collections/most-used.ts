import { Line } from './line.js';
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

/** All that one owner has of something. */
export interface Crowd<T> {
  readonly owner: string;
  /** What of it can make room, first that which can best be spared. */
  readonly spare: Line<T>;
}

interface Counted<T> extends Crowd<T> {
  size: number;
}

/**
 * What owners have of something of which there is only so much. Where one more needs room, the owner with the most makes it:
 * who takes a thousand displaces its own, and not those of an owner with a few. Every step has a constant cost.
 */
export class Crowds<T> {
  readonly #byOwner = new Map<string, Counted<T>>();
  readonly #most = new MostUsed();

  /** One more of an owner's. @returns all of its owner's, for `leave` */
  enter(owner: string): Crowd<T> {
    const known = this.#byOwner.get(owner);
    const crowd = known ?? { owner, spare: new Line<T>(), size: 0 };
    if (!known) this.#byOwner.set(owner, crowd);
    crowd.size += 1;
    this.#most.add(owner, 1);
    return crowd;
  }

  /** One less. @param crowd what `enter` has returned */
  leave(crowd: Crowd<T>): void {
    const counted = crowd as Counted<T>;
    counted.size -= 1;
    this.#most.add(crowd.owner, -1);
    if (counted.size === 0) this.#byOwner.delete(crowd.owner);
  }

  /** What the owner with the most can best spare; undefined where it can spare nothing. */
  get first(): T | undefined {
    const { most } = this.#most;
    return most === undefined ? undefined : this.#byOwner.get(most)?.spare.first;
  }
}
