import { OBJECTS } from '../files/handles/handle.js';
import type { TallyChange } from '../ports/state-store.js';

/** How long a reservation lasts after its last bytes: what a crashed process has reserved comes back then. */
export const LEASE_MS = 10 * 60 * 1000;

/** More than any file has. */
const ALL = Number.MAX_SAFE_INTEGER;

/** @param name id of a file that is arriving, or `triedAs` of one that has arrived */
export function leaseName(name: string): string {
  return `lease:${name}`;
}

/** The part of an object's key that is its alone: of several tries to upload a file, each that has ended has a lease. */
export function triedAs(key: string): string {
  return key.slice(OBJECTS.length);
}

/** Sets the room that is reserved for a file, and forgets what was reserved before: done twice, it does no harm. */
export function leaseOf(name: string, room: number): TallyChange[] {
  const none = { part: leaseName(name), by: -ALL, ttlMs: 1 };
  return room > 0 ? [none, { part: leaseName(name), by: room, ttlMs: LEASE_MS }] : [none];
}
