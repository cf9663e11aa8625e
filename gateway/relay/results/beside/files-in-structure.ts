import { eraOf } from '../../../mcp/era.js';
import { RANGE, rangeAt } from '../../../mcp/ranges.js';
import type { SlotPlace } from '../../../ports/dialect.js';
import type { JsonPath } from '../../../ports/json.js';
import { addAll } from '../../../wire/add-all.js';
import { pointer } from '../../../wire/json/pointer.js';
import type { HeldMessage } from '../../../wire/json/reader.js';
import type { MessageCuts } from '../../cut/message-cuts.js';
import { apart } from '../host/apart.js';
import { appendBlocks, contentOf, type DroppedStructure, droppedStructure } from '../host/dropped-structure.js';
import type { StructuredFile } from '../structured-files.js';
import type { TranslateContext, WritingContext } from '../translate-context.js';
import type { BlockMoves } from './block-moves.js';
import { entriesOf, type FileEntry } from './file-entries.js';

/** A file of structuredContent gets blocks like any other. */
const CONTENT: SlotPlace = {
  name: 'structuredContent',
  path: 'content[]',
  holder: 'content[]',
  kind: 'content',
  encoding: 'base64',
};

/** What appends blocks to the content of a result. */
type AppendContext = WritingContext & Pick<TranslateContext, 'edits'>;

/**
 * Previews of one result that are begun before the first of them is done. A previewer has few turns, in which owners alternate,
 * and a short queue behind them: more would only fill that, and then have none.
 */
const BEGUN_TOGETHER = 4;

/** A message under way, with what has been written for it so far. */
interface Translation {
  message: HeldMessage;
  cuts: MessageCuts;
  moves: BlockMoves;
  entries: FileEntry[];
  /** Places of results whose texts say what structuredContent does. */
  texts: ReadonlySet<string>;
  /** Places of results with files among the words of their texts. */
  around: ReadonlySet<string>;
  /** Files with links among the words of structuredContent. */
  inStructure: readonly FileEntry[];
}

/**
 * Puts links in the places of files in structuredContent. Where a host would show it alone, it goes instead, and its
 * files get blocks.
 * @param dropped results that lose it if nothing of it is lost, besides those with files in it
 * @returns the results that lose it, by their places
 */
export async function replaceStructured(
  translation: Translation,
  found: readonly StructuredFile[],
  dropped: readonly JsonPath[],
  context: AppendContext & Pick<TranslateContext, 'remote' | 'limits' | 'structured'>,
): Promise<ReadonlyMap<string, JsonPath>> {
  const { entries } = translation;
  const drops = context.client.host?.structured === 'drop';
  const results = new Map(drops ? [...dropped, ...found.map(({ result }) => result)].map(keyed) : []);
  // an object that has been renamed in there stays
  for (const { result } of context.remote?.values ?? []) results.delete(pointer(result));
  for (const [place, result] of results) {
    const here = found.filter((one) => pointer(one.result) === place);
    const isSaid = here.length > 0 || translation.texts.has(place);
    const isAround = !isSaid && translation.around.has(place);
    const lost = droppedStructure(translation, result, here, { ...context, isSaid, isAround });
    if (lost) await dropStructure(lost, here, translation, context);
    else results.delete(place);
  }
  const kept = found.filter(({ result }) => !results.has(pointer(result)));
  if (context.client.host?.structured === 'with-blocks') await addBlocks(kept, translation, context);
  for (const one of kept) await linkStructured(one, context, entries);
  return results;
}

function keyed(result: JsonPath): readonly [string, JsonPath] {
  return [pointer(result), result];
}

async function dropStructure(
  dropped: DroppedStructure,
  found: readonly StructuredFile[],
  translation: Translation,
  context: AppendContext,
): Promise<void> {
  await appendFiles(dropped, found, translation, context);
  context.edits.remove([...dropped.result, 'structuredContent']);
}

/** Blocks for the files that a result has only in its structuredContent, which stays. */
async function addBlocks(
  found: readonly StructuredFile[],
  translation: Translation,
  context: AppendContext & Pick<TranslateContext, 'limits'>,
): Promise<void> {
  for (const [place, result] of new Map(found.map(({ result }) => keyed(result)))) {
    const here = found.filter((one) => pointer(one.result) === place);
    const content = contentOf(translation.message, result, context.limits);
    if (content === 'too long') continue;
    await appendFiles({ result, length: content?.length, block: undefined }, here, translation, context);
  }
}

/** Appends to a result's content what it lacks of structuredContent: text, and the files that no block of it has. */
async function appendFiles(
  place: DroppedStructure,
  found: readonly StructuredFile[],
  { moves, entries, inStructure }: Pick<Translation, 'moves' | 'entries' | 'inStructure'>,
  context: AppendContext,
): Promise<void> {
  const { result, length = 0, block } = place;
  const shown = new Set(entriesOf(result, entries).map(({ file }) => file.ref.digest));
  const lacking = found.flatMap(({ file }) => {
    const isShown = shown.has(file.ref.digest);
    shown.add(file.ref.digest);
    return isShown ? [] : [file];
  });
  const blocks = block ? [block] : [];
  const first = moves.placeOf([...result, 'content', length]);
  if (block) {
    const named = entriesOf(result, inStructure).filter(({ file }) => !shown.has(file.ref.digest));
    addAll(
      entries,
      named.map((one) => ({ ...one, place: { contentIndex: first } })),
    );
  }
  for (const [index, file] of lacking.entries()) {
    context.shown.begin(lacking.slice(index, index + BEGUN_TOGETHER));
    entries.push({ file, result, place: { contentIndex: first + blocks.length } });
    const { file: seen, client } = await context.shown.in(result, file, 'content');
    addAll(blocks, context.write(CONTENT, seen, {}, client));
  }
  appendBlocks(place, apart(blocks, first === 0, context.client), context);
}

async function linkStructured(
  { cut, file, result, path }: StructuredFile,
  { structured, edits }: Pick<TranslateContext, 'structured' | 'edits'>,
  entries: FileEntry[],
): Promise<void> {
  const { url, link: short } = file.ref;
  const link = await structured.fitting(cut, [url, short.url, '']);
  // the client would accept neither, so the string stays
  if (link === undefined) return;
  // the quotes are on either side of the cut
  const quotes = { start: cut.value.offset - 1, end: cut.value.offset + 1 };
  edits.replace(quotes, JSON.stringify(link));
  await structured.change(result, [{ path, value: link }]);
  entries.push({ file, result, place: { pointer: pointer(path) } });
}

/** Adds a structuredContent of Wharf's own, for clients that look for files there, if the tool has none. */
export async function addStructured(
  message: HeldMessage,
  result: JsonPath,
  entries: readonly FileEntry[],
  { dialects, client, structured, edits }: Pick<TranslateContext, 'dialects' | 'client' | 'structured' | 'edits'>,
): Promise<void> {
  if (rangeAt(message, RANGE.structuredContent, [...result, 'structuredContent'])) return;
  if (!eraOf(client.protocolVersion).hasStructuredContent) return;
  const files = [...new Set(entriesOf(result, entries).map(({ file }) => file))];
  const value = dialects.map((dialect) => dialect.structure?.(files, client)).find((made) => made !== undefined);
  if (!value || (await structured.declared(result)) !== 'none') return;
  edits.set([...result, 'structuredContent'], value);
}
