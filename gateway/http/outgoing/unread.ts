import { Line, type Place } from '../../budget/collections/line.js';
import { MostUsed } from '../../budget/collections/most-used.js';

/**
 * The unit in which callers are compared. To find the caller with the most unread bytes takes one step for each unit that was
 * counted, and a connection counts as one unit at least.
 */
const UNIT_BYTES = 64 * 1024;

/** A connection whose client has yet to take finished answers. */
interface Late<Connection> {
  readonly connection: Connection;
  /** Who was answered. */
  readonly caller: string;
  bytes: number;
}

/** Its place in the order in which its caller's connections stopped reading. */
export type LatePlace<Connection> = Place<Late<Connection>>;

/**
 * Finished answers that clients have not taken, by the callers that they are for. Where room must be made, it is made by the
 * caller with the most: one who leaves answers unread again and again displaces its own, and not those of a slow reader.
 *
 * What is unread on a connection all counts for the caller of the first answer there. HTTP/1.1 sends answers in order, so the
 * others wait for that one.
 */
export class Unread<Connection> {
  readonly #byCaller = new Map<string, Line<Late<Connection>>>();
  readonly #most = new MostUsed();
  #bytes = 0;

  /** Of all callers. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param place that of the connection, where it has answers that are unread already */
  add(
    connection: Connection,
    bytes: number,
    caller: string,
    place = this.#begin(connection, caller),
  ): LatePlace<Connection> {
    this.#count(place.value, bytes);
    return place;
  }

  /** So much was taken. @returns its place, while anything is left there */
  take(place: LatePlace<Connection>, bytes: number): LatePlace<Connection> | undefined {
    const { value: late } = place;
    this.#count(late, -bytes);
    if (late.bytes > 0) return place;
    const line = this.#byCaller.get(late.caller);
    line?.remove(place);
    if (line?.first === undefined) this.#byCaller.delete(late.caller);
    return undefined;
  }

  /** Of the caller with the most, the connection that has left an answer unread longest. */
  get first(): Connection | undefined {
    const { most } = this.#most;
    return most === undefined ? undefined : this.#byCaller.get(most)?.first?.connection;
  }

  #begin(connection: Connection, caller: string): LatePlace<Connection> {
    const line = this.#byCaller.get(caller) ?? new Line<Late<Connection>>();
    this.#byCaller.set(caller, line);
    return line.add({ connection, caller, bytes: 0 });
  }

  #count(late: Late<Connection>, bytes: number): void {
    const before = Math.ceil(late.bytes / UNIT_BYTES);
    late.bytes += bytes;
    this.#bytes += bytes;
    const units = Math.ceil(late.bytes / UNIT_BYTES) - before;
    if (units !== 0) this.#most.add(late.caller, units);
  }
}
