import { type Edit, insertMember, replaceRange } from '../../json/edits.js';
import { eachItem, locate } from '../../json/locate.js';
import { isObject } from '../../json/value.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import { STATELESS_SINCE } from '../../mcp/request.js';
import type { Limits } from '../../policy/limits.js';
import type { ClientFacts } from '../../ports/client.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import { growthOf, plainSize, Room } from '../client/room.js';
import type { AnswerEdit } from '../pending-request.js';
import { keepPrivate } from '../tools/tool-list.js';

/** Lists of resources, and the member in which their entries stand. */
export const RESOURCE_LISTS: Readonly<Record<string, string>> = {
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
};

export type ShowResource = (entry: JsonObject) => JsonObject;

/** Entries of one list that are given something. A list of more is shown as it came from there on. */
const MAX_SHOWN = 10_000;

/** Gives the entries of a list the members that dialects add for this client. Every other byte is untouched. */
export function showResources(
  key: string,
  shows: readonly ShowResource[],
  client: ClientFacts,
  limits: Pick<Limits, 'values' | 'response'>,
): AnswerEdit {
  return async ({ message, base, cuts }) => {
    const path = [...base, 'result'];
    const range = rangeAt(message, RANGE.result, path);
    if (!range) return [];
    const room = new Room(limits.response, plainSize(message, cuts));
    const edits: Edit[] = [];
    const text = message.slice(range.start, range.end);
    await eachItem(text, key, (entry) => {
      if (edits.length >= MAX_SHOWN || entry.values > limits.values) return;
      const bytes = text.subarray(entry.start, entry.end);
      const value = JSON.parse(bytes.toString('utf8')) as JsonValue;
      if (!isObject(value)) return;
      const own = editsFor(bytes, Object.assign({}, ...shows.map((show) => show(value))) as JsonObject);
      if (!room.take(growthOf(own))) return;
      const from = range.start + entry.start;
      for (const edit of own) edits.push({ ...edit, start: edit.start + from, end: edit.end + from });
    });
    if (edits.length === 0) return [];
    // 2026-07-28: a list that was made for one client must not be given to another
    return client.protocolVersion >= STATELESS_SINCE ? [...edits, ...keepPrivate(message, path)] : edits;
  };
}

/** @param added to the entry that is the text */
function editsFor(entry: Buffer, added: JsonObject): Edit[] {
  const members = Object.entries(added);
  if (members.length === 0) return [];
  const { text, at } = locate(entry, [[], ...members.map(([name]) => [name])]);
  const whole = at([]);
  if (!whole) return [];
  const edits: Edit[] = [];
  const missing: string[] = [];
  for (const [name, value] of members) {
    const there = at([name]);
    if (there) edits.push(replaceRange(there, JSON.stringify(value)));
    else missing.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
  }
  return missing.length === 0 ? edits : [...edits, insertMember(text, whole, missing.join(','))];
}
