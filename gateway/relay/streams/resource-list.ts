import { eachItem, JsonDocument } from '../../json/document.js';
import { Edits, growthOf, type Span } from '../../json/edit.js';
import { isObject } from '../../json/value.js';
import { eraOf } from '../../mcp/era.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import type { Limits } from '../../policy/limits.js';
import type { ClientFacts } from '../../ports/client.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import { parseJson } from '../../wire/json/parse.js';
import { plainSize, Room } from '../client/room.js';
import type { AnswerEdit, EditableAnswer } from '../pending-request.js';
import { keepPrivate } from '../tools/caching.js';

type ShowResource = (entry: JsonObject) => JsonObject;

/** Most entries of one list that are changed; further ones pass unchanged. */
const MAX_SHOWN = 10_000;

/** Adds dialects' members for this client to the entries of a list. Every other byte stays the same. */
export function showResources(
  key: string,
  shows: readonly ShowResource[],
  client: ClientFacts,
  limits: Pick<Limits, 'values' | 'response'>,
): AnswerEdit {
  const apply = async ({ message, base, cuts, edits }: EditableAnswer) => {
    const path = [...base, 'result'];
    const range = rangeAt(message, RANGE.result, path);
    if (!range) return;
    const room = new Room(limits.response, plainSize(message, cuts));
    let shown = 0;
    const text = message.slice(range.start, range.end);
    await eachItem(text, key, cuts.owner, (entry) => {
      if (shown >= MAX_SHOWN || entry.values > limits.values) return;
      const bytes = text.subarray(entry.start, entry.end);
      const value = parseJson(bytes.toString('utf8')) as JsonValue;
      if (!isObject(value)) return;
      const own = spansFor(bytes, Object.assign({}, ...shows.map((show) => show(value))) as JsonObject);
      if (!room.take(growthOf(own))) return;
      shown += own.length;
      for (const span of own) edits.replace(moved(span, range.start + entry.start), span);
    });
    // a list made for one client must not be given to another
    if (shown > 0 && eraOf(client.protocolVersion).hasCacheFields) keepPrivate(edits, path);
  };
  return { apply };
}

/** @param added to the entry in the text */
function spansFor(entry: Buffer, added: JsonObject): Span[] {
  const document = JsonDocument.of(entry);
  const edits = new Edits(document);
  for (const [name, value] of Object.entries(added)) if (value !== undefined) edits.set([name], value);
  document.find(edits.paths());
  return edits.spans();
}

function moved({ start, end }: Span, by: number): { start: number; end: number } {
  return { start: start + by, end: end + by };
}
