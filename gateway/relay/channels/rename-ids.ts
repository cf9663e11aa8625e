import type { Edits } from '../../json/edit.js';
import { RANGE } from '../../mcp/ranges.js';
import { plainText } from '../../wire/json/plain-text.js';
import type { HeldMessage, WatchRange } from '../../wire/json/reader.js';

/** One client's request on a channel shared with other clients. */
export interface Mapping {
  /** The client's own id, as JSON text. */
  id: string;
  /** The client's own progress token, as JSON text, if there is one. */
  progressToken: string | undefined;
}

/** The client's own names for the request with this channel id; undefined when they are the same. */
export type Names = (id: string) => Mapping | undefined;

/** Restores the client's own id, token and subscription id in a message from the shared channel. */
export function namesBack(message: HeldMessage, edits: Edits, names: Names): void {
  // a server may write the key `id` many times
  const isCall = message.captured('method') !== undefined;
  for (const range of message.ranges) {
    const text = replacement(message, range, names, isCall);
    if (text !== undefined) edits.replace(range, text);
  }
}

function replacement(message: HeldMessage, range: WatchRange, names: Names, isCall: boolean): string | undefined {
  const mapping = () => names(plainText(message.slice(range.start, range.end).toString('utf8')));
  switch (range.name) {
    case RANGE.id:
      return isCall ? undefined : mapping()?.id;
    case RANGE.progressToken:
      return mapping()?.progressToken;
    case RANGE.subscriptionId:
    case RANGE.requestId:
      return mapping()?.id;
    default:
      return undefined;
  }
}
