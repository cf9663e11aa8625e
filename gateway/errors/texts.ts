import { contrast, shortfall, timeText } from '../policy/amounts.js';
import type { AcceptedBy } from '../policy/message-limits.js';

type ErrorFact = string | number | boolean | readonly (string | number)[] | readonly AcceptedBy[];

/** An error's facts by name; texts are made from them, and programs get them as `data`. */
export type ErrorFacts = Readonly<Record<string, ErrorFact>>;

/** The constant part of an error. */
export interface ErrorRow {
  /** HTTP status, if nothing of the answer has been sent yet. */
  readonly http: number;
  readonly jsonRpc: number;
  readonly text: (facts: ErrorFacts) => string;
}

/** The fact `retryAfter`, in seconds, where something that is under way may end: nothing says when. */
export const SOON_S = 5;

/** JSON-RPC's code for errors without a code of their own. */
export const INTERNAL = -32603;

/**
 * Describes a full share of one caller or one server; undefined when the whole process is full.
 * @param what the shared resource, in the reader's words
 */
export function shareText({ full, server }: ErrorFacts, what: string, most: string): string | undefined {
  if (full !== 'principal' && full !== 'server') return undefined;
  const who = full === 'principal' ? 'You already have your' : `The server "${server}" already has its`;
  const later = full === 'principal' ? 'Try again when something of yours has ended.' : 'Try again later.';
  return `${who} share of the ${what} here, ${most}. ${later}`;
}

/** `4.1 MB allowed (5.2 MB)`, for a passed size limit. @param more text after the actual size: ` so far` */
export function over({ allowed, actual }: ErrorFacts, more = ''): string {
  const sizes = contrast(Number(allowed), Number(actual));
  return `${sizes.allowed} allowed (${sizes.actual}${more})`;
}

/** The length of a wait: the fact `allowed`, in milliseconds. */
export function waited({ allowed }: ErrorFacts): string {
  return timeText(Number(allowed));
}

/** A sender's rate and the required rate: the facts `actual` and `allowed`, in bytes per second. */
export function tooSlow({ allowed, actual }: ErrorFacts): string {
  const rates = shortfall(Number(allowed), Number(actual));
  return `${rates.actual} a second, where ${rates.allowed} is the least`;
}

/** A header in a text: in quotation marks, unless words stand in for one that cannot be shown. */
export function quoted(value: ErrorFacts[string] | undefined): string {
  const text = String(value);
  return /^\(|\s/.test(text) ? text : `"${text}"`;
}
