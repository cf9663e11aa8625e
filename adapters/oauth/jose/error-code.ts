import type { JsonAnswer } from './http-json.js';

/** RFC 6749 §5.2: what an error code may consist of. */
const CODE = /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,64}$/;

/** What a refusal calls itself; else its status. */
export function codeOf({ status, body }: JsonAnswer): string {
  const { error } = body ?? {};
  return typeof error === 'string' && CODE.test(error) ? error : `HTTP ${status}`;
}
