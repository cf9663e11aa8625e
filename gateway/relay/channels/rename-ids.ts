import { type Edit, inOrder, replaceRange } from '../../json/edits.js';
import { locateInSteps } from '../../json/locate.js';
import { RANGE } from '../../mcp/ranges.js';
import { plainText } from '../../wire/json/plain-text.js';
import type { HeldMessage, WatchRange } from '../../wire/json/reader.js';

const ID = ['id'];
const PROGRESS_TOKEN = ['params', '_meta', 'progressToken'];

/** How one client's request is called on a channel it shares with other clients. */
export interface Mapping {
  /** The client's own id, as JSON text. */
  id: string;
  /** The client's own progress token, as JSON text, if it gave one. */
  progressToken: string | undefined;
}

/**
 * A request under another id, which also becomes its progress token: on a shared process two clients may well use the
 * same ones. Every other byte is untouched.
 */
export async function renameRequest(
  bytes: Buffer,
  id: string,
): Promise<{ bytes: Buffer; progressToken: string | undefined }> {
  const { text, at } = await locateInSteps(bytes, [ID, PROGRESS_TOKEN]);
  const token = at(PROGRESS_TOKEN);
  const ranges = [at(ID), token].filter((range) => range !== undefined);
  return {
    bytes: Buffer.concat(text.render(inOrder(ranges.map((range) => replaceRange(range, id))))),
    progressToken: token && plainText(text.slice(token.start, token.end).toString('utf8')),
  };
}

/** What a client calls the request that has this id on the channel; undefined where it is the same. */
export type Names = (id: string) => Mapping | undefined;

/** The edits that give a message from the shared channel its client's own id, token and subscription id back. */
export function namesBack(message: HeldMessage, names: Names): Edit[] {
  const edits: Edit[] = [];
  for (const range of message.ranges) {
    const text = replacement(message, range, names);
    if (text !== undefined) edits.push(replaceRange(range, text));
  }
  return edits;
}

function replacement(message: HeldMessage, range: WatchRange, names: Names): string | undefined {
  const mapping = () => names(plainText(message.slice(range.start, range.end).toString('utf8')));
  switch (range.name) {
    case RANGE.id:
      return message.captured('method') === undefined ? mapping()?.id : undefined;
    case RANGE.progressToken:
      return mapping()?.progressToken;
    case RANGE.subscriptionId:
    case RANGE.requestId:
      return mapping()?.id;
    default:
      return undefined;
  }
}
