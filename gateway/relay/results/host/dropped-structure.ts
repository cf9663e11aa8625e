import { isDeepStrictEqual } from 'node:util';
import { exactValue } from '../../../json/light-value.js';
import { patchValue } from '../../../json/patch.js';
import { isObject, valueAt } from '../../../json/value.js';
import { writtenText } from '../../../json/written.js';
import { RANGE, rangeAt } from '../../../mcp/ranges.js';
import type { Limits } from '../../../policy/limits.js';
import type { ClientFacts } from '../../../ports/client.js';
import type { JsonObject, JsonPatch, JsonPath, JsonValue } from '../../../ports/json.js';
import { pointer } from '../../../wire/json/pointer.js';
import type { HeldMessage } from '../../../wire/json/reader.js';
import { isStructured, type MessageCuts } from '../../cut/message-cuts.js';
import { isInStructure } from '../../cut/message-texts.js';
import { replacedText } from '../../cut/splice.js';
import type { StructuredFile } from '../structured-files.js';
import type { TranslateContext } from '../translate-context.js';
import { saysAll, withoutBytes } from './said.js';
import { saysAround, textOf } from './said-around.js';

/** How a result loses its structuredContent, so that its host shows the content. */
export interface DroppedStructure {
  result: JsonPath;
  /** Number of the server's blocks; undefined without a list. */
  length: number | undefined;
  /** What the content lacks of structuredContent, as text. */
  block: JsonObject | undefined;
}

/** Bytes of structuredContent that become text beside a text of the server's. */
const MOST_BESIDE = 8 * 1024;

/** Blocks with bytes in them. */
const FILE_BLOCKS = new Set(['image', 'audio']);

/** A cheap test for results whose host would show structuredContent alone. */
export function hidesContent({ ranges }: HeldMessage, { host }: ClientFacts): boolean {
  return host?.structured === 'drop' && ranges.some(({ name }) => name === RANGE.structuredContent);
}

/** Paths of the results that have structuredContent beside a file in their content, and lose it for this client. */
export function resultsWithBoth(message: HeldMessage, client: ClientFacts, limits: Pick<Limits, 'values'>): JsonPath[] {
  if (client.host?.structured !== 'drop') return [];
  // by place: a server may write the key many times, and its content is read for each
  const results = new Map<string, JsonPath>();
  for (const { name, path } of message.ranges) {
    if (name === RANGE.structuredContent) results.set(pointer(path.slice(0, -1)), path.slice(0, -1));
  }
  return [...results.values()].filter((result) => {
    const content = contentOf(message, result, limits);
    return Array.isArray(content) && content.some(holdsFile);
  });
}

function holdsFile(block: JsonValue): boolean {
  if (!isObject(block)) return false;
  return FILE_BLOCKS.has(String(block.type)) || (isObject(block.resource) && block.resource.blob !== undefined);
}

/** The blocks of a result: undefined without a list of them, `too long` where it has more values than may be read. */
export function contentOf(
  message: HeldMessage,
  result: JsonPath,
  limits: Pick<Limits, 'values'>,
): JsonValue[] | 'too long' | undefined {
  const range = rangeAt(message, RANGE.content, [...result, 'content']);
  if (!range) return undefined;
  const value = exactValue(message, range, limits);
  if (value === undefined) return 'too long';
  return Array.isArray(value) ? value : undefined;
}

/**
 * Drops a result's structuredContent, if nothing of it is lost: its files get blocks of their own, and the rest becomes
 * text, where no text of the server's says it. Otherwise it stays, which no schema forbids.
 * @param linked its strings that are files
 * @param context `isSaid`: a text of the server's, if there is one, says what structuredContent does. Without files in a result
 * its text may be about the links alone, so only one counts that repeats structuredContent. `isAround`: its files are among the
 * words of its texts
 * @returns undefined when it stays
 */
export function droppedStructure(
  { message, cuts }: { message: HeldMessage; cuts: MessageCuts },
  result: JsonPath,
  linked: readonly StructuredFile[],
  { limits, isSaid, isAround }: Pick<TranslateContext, 'limits'> & { isSaid: boolean; isAround: boolean },
): DroppedStructure | undefined {
  const content = contentOf(message, result, limits);
  const range = rangeAt(message, RANGE.structuredContent, [...result, 'structuredContent']);
  // nothing can be appended to a list that is not read
  if (!range || content === 'too long') return undefined;
  const dropped = { result, length: content?.length, block: undefined };
  const hasText = isSaid && hasOwnText(cuts, result, content ?? []);
  if (!isSaid && repeats(content ?? [], message.slice(range.start, range.end).toString('utf8'))) return dropped;
  const value = exactValue(message, range, limits);
  if (isAround) return isObject(value) && saysAround(cuts, result, textsOf(content ?? []), value) ? dropped : undefined;
  if (!isObject(value)) return hasText ? dropped : undefined;
  // the server repeats its content there
  if (isDeepStrictEqual(value, { content: content ?? null })) return dropped;
  const words = hasText ? withoutBytes(value) : value;
  if (hasText && (hasLongText(cuts, result) || saysAll(textsOf(content ?? []), words))) return dropped;
  const patches = stringsOf(words, cuts, result, { linked, hasText });
  const text = patches && JSON.stringify(patchValue(words, patches));
  // beside a text of the server's, much more would take the room of all that its host shows
  if (hasText && (text === undefined || Buffer.byteLength(text) > MOST_BESIDE)) return dropped;
  return text === undefined ? undefined : { ...dropped, block: { type: 'text', text } };
}

/** A server that follows the specification repeats structuredContent as text; others say something about it. */
function hasOwnText(cuts: MessageCuts, result: JsonPath, content: readonly JsonValue[]): boolean {
  return textsOf(content).some((text) => text !== '') || hasLongText(cuts, result);
}

function textsOf(content: readonly JsonValue[]): string[] {
  return content.flatMap((block) => (isObject(block) && block.type === 'text' ? String(block.text) : []));
}

/** A text that is out of the message: mostly structuredContent as JSON, with its base64. */
function hasLongText(cuts: MessageCuts, result: JsonPath): boolean {
  const list = `${pointer([...result, 'content'])}/`;
  const isLong = ({ path }: { path: JsonPath }) => pointer(path).startsWith(list) && path.at(-1) === 'text';
  return cuts.texts.some(({ value }) => isLong(value)) || cuts.cuts.some((cut) => cut.inline && isLong(cut.value));
}

/** Servers write it once with line breaks and once without. */
function repeats(content: readonly JsonValue[], structure: string): boolean {
  const written = withoutBlanks(structure);
  return content.some(
    (block) => isObject(block) && block.type === 'text' && withoutBlanks(String(block.text)) === written,
  );
}

function withoutBlanks(json: string): string {
  return json.replace(/\s+/g, '');
}

/**
 * The cut strings with what is in their places; undefined when one of them is too long to become text.
 * @param about `hasText`: what may be base64 is left out, because a text of the server's stands for the structure
 */
function stringsOf(
  structure: JsonObject,
  cuts: MessageCuts,
  result: JsonPath,
  { linked, hasText }: { linked: readonly StructuredFile[]; hasText: boolean },
): JsonPatch[] | undefined {
  const base = [...result, 'structuredContent'];
  const patches: JsonPatch[] = [];
  for (const cut of cuts.cuts) {
    if (!isStructured(cut) || pointer(cut.value.path.slice(0, base.length)) !== pointer(base)) continue;
    const path = cut.value.path.slice(base.length);
    // of two equal keys the last counts, which may have another value
    if (valueAt(structure, path) !== '') continue;
    const url = linked.find((one) => one.cut === cut)?.file.ref.link.url;
    if (hasText && url === undefined && cut.inspect()) continue;
    if (url === undefined && !cut.inline) return undefined;
    const value = url ?? textOf(cut.inline ?? []);
    patches.push({ path, value });
  }
  for (const { value: text, nested } of cuts.texts) {
    if (!isInStructure(text) || !nested.hasCuts || pointer(text.path.slice(0, base.length)) !== pointer(base)) continue;
    const path = text.path.slice(base.length);
    if (valueAt(structure, path) !== '') continue;
    const replaced = replacedText(nested);
    if (!replaced) return undefined;
    patches.push({ path, value: textOf(replaced) });
  }
  return patches;
}

/** Writes the blocks that a dropped structuredContent leaves. */
export function appendBlocks(
  { result, length }: DroppedStructure,
  blocks: readonly JsonObject[],
  { edits }: Pick<TranslateContext, 'edits'>,
): void {
  const content = [...result, 'content'];
  if (blocks.length === 0) return;
  if (length === undefined) edits.set(content, [...blocks]);
  else edits.append(content, writtenText(blocks.map((block) => JSON.stringify(block)).join(',')));
}
