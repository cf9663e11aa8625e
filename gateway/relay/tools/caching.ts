import type { Edits } from '../../json/edit.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import type { JsonPath } from '../../ports/json.js';
import type { HeldMessage } from '../../wire/json/reader.js';

/** Keeps caches from sharing a result: `cacheScope` of MCP 2026-07-28. */
export function keepPrivate(edits: Edits, result: JsonPath): void {
  edits.set([...result, 'cacheScope'], 'private');
}

/** Whether the server says who may share a result. Where it does not, caches share nothing. */
export function hasScope(message: HeldMessage, result: JsonPath): boolean {
  return rangeAt(message, RANGE.cacheScope, [...result, 'cacheScope']) !== undefined;
}

/** Lets no cache give a result to the same client again, if the server says for how long one may. */
export function expireAtOnce(message: HeldMessage, result: JsonPath, edits: Edits): void {
  if (rangeAt(message, RANGE.ttlMs, [...result, 'ttlMs'])) edits.set([...result, 'ttlMs'], 0);
}
