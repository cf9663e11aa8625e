import { contrast, sizeText, timeText } from './policy/amounts.js';

/** What an error knows, by name; the texts are made of it, and programs get it as `data`. */
export type ErrorFacts = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** What is known of an error before it happens. */
export interface ErrorRow {
  /** HTTP status when nothing of the answer has been sent yet. */
  readonly http: number;
  readonly jsonRpc: number;
  readonly text: (facts: ErrorFacts) => string;
}

/** JSON-RPC's code for whatever has none of its own. */
export const INTERNAL = -32603;

/**
 * Says so when it is not the whole process that is full but the share of one caller or one server of it.
 * @param what is shared out, as the reader calls it
 */
export function shareText({ full, server }: ErrorFacts, what: string, most: string): string | undefined {
  if (full !== 'principal' && full !== 'server') return undefined;
  const who = full === 'principal' ? 'You already have your' : `The server "${server}" already has its`;
  const later = full === 'principal' ? 'Try again when something of yours has ended.' : 'Try again later.';
  return `${who} share of the ${what} here, ${most}. ${later}`;
}

/** `4.1 MB allowed (5.2 MB)`, for what has passed a size. @param more what follows the actual size: ` so far` */
export function over({ allowed, actual }: ErrorFacts, more = ''): string {
  const sizes = contrast(Number(allowed), Number(actual));
  return `${sizes.allowed} allowed (${sizes.actual}${more})`;
}

/** How long something was waited for: the fact `allowed`, in milliseconds. */
export function waited({ allowed }: ErrorFacts): string {
  return timeText(Number(allowed));
}

/** How fast a sender was, and had to be: the facts `actual` and `allowed`, in bytes per second. */
export function tooSlow({ allowed, actual }: ErrorFacts): string {
  return `${sizeText(Number(actual))} a second, where ${sizeText(Number(allowed))} is the least`;
}
