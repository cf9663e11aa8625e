import { RANGE } from '../../mcp/ranges.js';
import { CANCELLED } from '../../mcp/request.js';
import { answersIn, elementOf } from '../../mcp/responses.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import { KeptTrees } from '../cut/kept-trees.js';
import { toClientTree } from '../cut/places.js';

/** Name of the capture that distinguishes JSON-RPC from other JSON. */
const MARK = 'jsonrpc';

const CANCELLED_TEXT = JSON.stringify(CANCELLED);

/** The places that matter in a message on a channel where a server may write anything. */
export const CHANNEL_TREES = new KeptTrees((places, fileMin) =>
  toClientTree(places, { envelope: { [MARK]: { capture: MARK } }, fileMin }),
);

/** A legacy SSE frame without a message: a keep-alive, or another `endpoint` event, which clients ignore too. */
export function isNoMessage({ empty, frame }: HeldMessage): boolean {
  return empty || (frame?.event !== undefined && frame.event.toString('latin1') !== 'message');
}

/**
 * True for JSON-RPC. Loggers write JSON too, often with an `id` or a `method`. SDK clients ignore everything without
 * `"jsonrpc":"2.0"`, and so does Wharf. Of malformed JSON only a truncated answer counts, because a request waits for
 * it.
 */
export function isRpc(message: HeldMessage): boolean {
  const marked = new Set<string>();
  for (const { name, path, text } of message.captures) {
    if (name === MARK && text === '"2.0"') marked.add(elementOf(path));
  }
  if (marked.size === 0) return false;
  if (answersIn(message).some(({ base }) => marked.has(base.join('/')))) return true;
  if (message.malformed) return false;
  return message.captures.some(
    ({ name, path, text }) => name === 'method' && text.startsWith('"') && marked.has(elementOf(path)),
  );
}

/** True when it needs an answer; false for a batch. */
export function isRequest(message: HeldMessage): boolean {
  return message.captured(RANGE.id) !== undefined && message.captured('method') !== undefined;
}

/**
 * The id, as JSON text, of the request that a server itself ends, without an answer: on stdio it ends a subscription so. No
 * other request may be ended by it.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
export function endedBy(message: HeldMessage): string | undefined {
  return message.captured('method') === CANCELLED_TEXT ? message.captured(RANGE.requestId) : undefined;
}

/** The id of a `ping` as JSON text; undefined for any other message. */
export function pingIn(message: HeldMessage): string | undefined {
  const isPing = message.captures.some(
    ({ name, path, text }) => name === 'method' && path.length === 1 && text === '"ping"',
  );
  return isPing ? message.captured(RANGE.id) : undefined;
}
