import { JsonDocument } from '../../json/document.js';
import { isObject } from '../../json/value.js';
import { RANGE } from '../../mcp/ranges.js';
import type { Limits } from '../../policy/limits.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import type { Owner } from '../../ports/owner.js';
import { parseJson } from '../../wire/json/parse.js';
import type { HeldMessage, WatchRange } from '../../wire/json/reader.js';

const QUOTE = 0x22;

/** A tool of a list, unread. */
export interface ToolText {
  range: WatchRange;
  text: Buffer;
  /** It is too large to be parsed. */
  isHeavy: boolean;
}

/**
 * The tools of a list, one after the other: let others be served between them.
 * @param at path of the result in the message
 */
export function* toolTexts(message: HeldMessage, at: JsonPath, limits: Pick<Limits, 'values'>): Generator<ToolText> {
  for (const range of toolRanges(message, at)) yield toolText(message, range, limits);
}

/** One of them. */
export function toolText(message: HeldMessage, range: WatchRange, { values }: Pick<Limits, 'values'>): ToolText {
  return { range, text: message.slice(range.start, range.end), isHeavy: range.values > values };
}

/**
 * Reads a tool, but none beyond `limits.values`.
 * @param owner whose work it is
 * @returns undefined for anything else in a list
 */
export async function toolIn({ text, isHeavy }: ToolText, owner: Owner): Promise<JsonObject | undefined> {
  const tool = isHeavy ? await nameIn(text, owner) : (parseJson(text.toString('utf8')) as JsonValue);
  return isObject(tool) ? tool : undefined;
}

/** The tools of a message, by the first step of their paths: the index of an answer in a batch, else `result`. */
const BY_ANSWER = new WeakMap<HeldMessage, { count: number; tools: Map<string | number | undefined, WatchRange[]> }>();

/** Ranges of the list's entries, unread: there may be tens of thousands, and `tools` may be repeated. */
export function* toolRanges(message: HeldMessage, at: JsonPath): Generator<WatchRange> {
  for (const range of toolsOf(message).get(at[0]) ?? []) if (isBelow(range.path, at)) yield range;
}

/** A batch may have a thousand lists: each would otherwise look at the tools of all of them. */
function toolsOf(message: HeldMessage): Map<string | number | undefined, WatchRange[]> {
  const { length: count } = message.ranges;
  const known = BY_ANSWER.get(message);
  if (known?.count === count) return known.tools;
  const tools = new Map<string | number | undefined, WatchRange[]>();
  for (const range of message.ranges) {
    if (range.name !== RANGE.tool) continue;
    const [step] = range.path;
    const ofAnswer = tools.get(step);
    if (ofAnswer) ofAnswer.push(range);
    else tools.set(step, [range]);
  }
  BY_ANSWER.set(message, { count, tools });
  return tools;
}

function isBelow(path: JsonPath, at: JsonPath): boolean {
  return path.length === at.length + 2 && at.every((key, index) => key === path[index]);
}

async function nameIn(text: Buffer, owner: Owner): Promise<JsonObject> {
  const range = (await JsonDocument.of(text, false, owner).findInSteps([['name']])).at(['name']);
  const isText = range !== undefined && text[range.start] === QUOTE;
  return isText ? { name: JSON.parse(text.toString('utf8', range.start, range.end)) as string } : {};
}
