import { GatewayError } from '../../errors.js';
import type { Edits } from '../../json/edit.js';
import { eraOf } from '../../mcp/era.js';
import type { Limits } from '../../policy/limits.js';
import type { OutgoingFile } from '../../ports/dialect.js';
import type { JsonPath } from '../../ports/json.js';
import { addAll } from '../../wire/add-all.js';
import { pointer } from '../../wire/json/pointer.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import { type ClaimedCut, inlineLimitOf, isStructured, type MessageCuts } from '../cut/message-cuts.js';
import { isInStructure } from '../cut/message-texts.js';
import { BlockMoves } from './beside/block-moves.js';
import { type FileEntry, limitCaching, resultsOf, tellPrograms } from './beside/file-entries.js';
import { addStructured, replaceStructured } from './beside/files-in-structure.js';
import { fittingWords, settleWords } from './beside/words-in-structure.js';
import { refuseDuplicates } from './duplicates.js';
import { setApart } from './host/apart.js';
import { resultOf } from './host/shown-file.js';
import { type ClaimedNested, nestedFiles, publishNested, refuseTooLarge } from './nested-files.js';
import type { OutgoingFiles } from './outgoing-files.js';
import type { Replacement } from './remote-edits.js';
import { isExpected, knownDigests, mayBeLinked, structuredFiles } from './structured-files.js';
import type { NamingContext, StructureContext, TranslateContext, WritingContext } from './translate-context.js';
import { emptyStrings, refusedStrings, textsForRefused } from './types/left-out.js';

/**
 * Turns the cuts of a message into links: replaces the objects that contained files and their copies in
 * structuredContent, and lists the files in `_meta` for programs. Unclaimed cuts stay where they were.
 * Every file that the edits mention is stored and has a record.
 * @throws GatewayError when a file is ambiguous or invalid (not base64, named twice)
 */
export async function translate(
  message: HeldMessage,
  cuts: MessageCuts,
  files: OutgoingFiles,
  context: TranslateContext,
): Promise<void> {
  const { edits } = context;
  const checked = await checkedFiles(message, cuts, context);
  const { replacements, unshown, inTexts, inStructure } = await allReplacements(checked, cuts, files, context);
  setApart(replacements, context.client);
  const moves = new BlockMoves(replacements);
  const entries = replaceHolders(replacements, moves, edits);
  for (const { file, block } of inTexts) {
    entries.push({ file, result: resultOf(block), place: { contentIndex: moves.placeOf(block) } });
  }
  const around = inTexts.map(({ block }) => resultOf(block));
  await translateStructured({ message, cuts, moves, entries, unshown, around, inStructure }, files, context);
  for (const { file, result, path } of context.remote?.values ?? []) {
    entries.push({ file, result, place: { pointer: pointer(path) } });
  }
  const replaced = new Set(
    replacements.flatMap(({ link = 'gone', range }) => (link === 'gone' ? [pointer(range.path)] : [])),
  );
  tellPrograms(message, entries, { moves, replaced }, context);
  for (const result of resultsOf(entries)) {
    const here = replacements.filter(({ range }) => pointer(resultOf(range.path)) === pointer(result));
    if (here.some(({ link, kind }) => !link && kind === 'content'))
      await addStructured(message, result, entries, context);
    const isResource = here.some(({ kind }) => kind === 'resource');
    // the result belongs to one principal, and expires with its links
    if (isResource && eraOf(context.client.protocolVersion).hasCacheFields) {
      limitCaching(message, result, entries, edits);
    }
  }
}

/** The files of a message that may become links. */
interface CheckedFiles {
  /** In objects of their own. */
  stored: readonly ClaimedCut[];
  /** In texts. */
  nested: readonly ClaimedNested[];
  /** What takes the places of files that are left out. */
  leftOut: readonly Replacement[];
}

/** Nothing has a record yet: what makes a message fail is found here, as far as it can be. */
async function checkedFiles(message: HeldMessage, cuts: MessageCuts, context: TranslateContext): Promise<CheckedFiles> {
  const mine = cuts.claimed.filter((claimed) => claimed.reading && context.mayHoldFiles(claimed.cut.value.path));
  for (const claimed of mine) refuseWhatIsNoFile(claimed, context.limits);
  const leftOut = textsForRefused(mine, context);
  const stored = mine.filter(({ cut }) => cut.stored && !context.stays(cut));
  const known = await knownDigests(stored, cuts, context);
  const nested = await fittingWords(await nestedFiles(message, cuts, { ...context, known }), cuts, context);
  refuseTooLarge(nested, context.limits);
  if (stored.length > 0 || nested.length > 0) refuseDuplicates(message);
  await refuseLost(cuts, stored, nested, context);
  return { stored, nested, leftOut };
}

/** Refuses a string that must be a file but is not. Small ones pass, for the client to judge. */
function refuseWhatIsNoFile({ cut, place, reading }: ClaimedCut, limits: Limits): void {
  if (cut.stored || !cut.fault || place.encoding === 'dataUri' || !reading) return;
  const length = cut.inline?.reduce((sum, piece) => sum + piece.length, 0);
  const inlineLimit = inlineLimitOf(cut, place, reading, limits);
  if (length !== undefined && length <= Math.ceil(inlineLimit / 3) * 4) return;
  if (cut.fault.code === 'syntax') throw new GatewayError('upstream_invalid', { reason: cut.fault.message });
  throw new GatewayError('file_not_base64', { path: cut.path, reason: cut.fault.message });
}

/** Refuses a message with a string that has to be put back but cannot, before any of its files has a record. */
async function refuseLost(
  cuts: MessageCuts,
  files: readonly ClaimedCut[],
  nested: readonly ClaimedNested[],
  context: StructureContext & Pick<TranslateContext, 'mayHoldFiles'>,
): Promise<void> {
  const inTexts = new Set(nested.map((claimed) => claimed.nested.cut));
  const digests = new Set([...files.map(({ cut }) => cut), ...inTexts].map(({ stored }) => stored?.digest));
  for (const cut of cuts.cuts) {
    if (inTexts.has(cut)) continue;
    if (!cut.lost || files.some(({ range }) => range.start < cut.value.offset && cut.value.offset < range.end))
      continue;
    const isFile = isStructured(cut) && context.mayHoldFiles(cut.value.path) && cut.stored !== undefined;
    const isDue = isFile && (digests.has(cut.stored?.digest) || (await isExpected(cut, context)));
    if (isDue && (await mayBeLinked(cut, context))) continue;
    cut.putBack();
  }
}

/**
 * @returns all that replaces objects; `unshown` is the part that does so because the host would not show the objects,
 * `inTexts` what has become links in texts, which are measured with them, and `inStructure` what has in structuredContent
 */
async function allReplacements(
  { stored, nested, leftOut }: CheckedFiles,
  cuts: MessageCuts,
  files: OutgoingFiles,
  context: NamingContext & WritingContext & Pick<TranslateContext, 'refused' | 'remote' | 'structured' | 'unshown'>,
): Promise<{
  replacements: readonly Replacement[];
  unshown: readonly Replacement[];
  inTexts: readonly { file: OutgoingFile; block: JsonPath }[];
  inStructure: readonly FileEntry[];
}> {
  const shown = stored.filter(({ cut }) => !context.refused?.of(cut));
  const own = [...leftOut, ...(await publishedBlocks(shown, files, context))];
  const withRemote = [...own, ...besides(context.remote?.replacements ?? [], own)];
  const published = await publishNested(nested, files, context);
  const inTexts = published.flatMap(({ nested: { cut }, file }) =>
    file && !isInStructure(cut.value) ? [{ file, block: cut.value.path.slice(0, -1) }] : [],
  );
  const inStructure = await settleWords(published, cuts, context);
  const unshown = besides(await context.unshown(), withRemote);
  return { replacements: [...withRemote, ...unshown], unshown, inTexts, inStructure };
}

/** Makes files of what is stored, and says what takes the places of the objects that held them. */
async function publishedBlocks(
  claims: readonly ClaimedCut[],
  files: OutgoingFiles,
  context: NamingContext & WritingContext,
): Promise<Replacement[]> {
  const replacements: Replacement[] = [];
  for (const { cut, place, holder, range, reading } of claims) {
    if (!cut.stored || !reading) continue;
    const claimsOfUri = cut.dataUri && place.encoding === 'dataUri' ? cut.dataUri : {};
    const file = await files.publish(
      cut.stored,
      { ...reading.claims, ...claimsOfUri },
      context.subject(cut.value.path),
      (type) => context.names.nameAt(range.path, type),
    );
    const { file: seen, client } = await context.shown.in(resultOf(range.path), file, place.kind);
    const blocks = context.write(place, seen, holder, client);
    replacements.push({ range, kind: place.kind, blocks, file, resource: reading.claims.uri });
  }
  return replacements;
}

/**
 * Those of `others` that overlap none of `own`: an object that contains one file and names another counts as the one it
 * contains.
 */
function besides(others: readonly Replacement[], own: readonly Replacement[]): Replacement[] {
  return others.filter(
    ({ range }) => !own.some((other) => other.range.start < range.end && range.start < other.range.end),
  );
}

/** Writes what replaces objects. @returns the files in it, in the order of the message */
function replaceHolders(replacements: readonly Replacement[], moves: BlockMoves, edits: Edits): FileEntry[] {
  const entries: FileEntry[] = [];
  for (const one of replacements.toSorted((a, b) => a.range.start - b.range.start)) {
    const { link, range, blocks, file, resource } = one;
    const text = blocks.map((block) => JSON.stringify(block)).join(',');
    if (link === 'kept') edits.replace({ start: range.start, end: range.start }, `${text},`);
    else edits.replace(range, text);
    const place = { contentIndex: moves.placeOf(range.path) };
    if (file) entries.push({ file, result: resultOf(range.path), place, resource });
  }
  return entries;
}

/** What has been written for the blocks of a message, before its structuredContent. */
interface WrittenBlocks {
  message: HeldMessage;
  cuts: MessageCuts;
  moves: BlockMoves;
  /** Gets those of structuredContent too. */
  entries: FileEntry[];
  unshown: readonly Replacement[];
  /** Results with links among the words of their texts. */
  around: readonly JsonPath[];
  /** Files with links among the words of structuredContent. */
  inStructure: readonly FileEntry[];
}

/** The files of structuredContent become links, or it goes; strings of files that are left out become empty. */
async function translateStructured(
  { message, cuts, moves, entries, unshown, around, inStructure }: WrittenBlocks,
  files: OutgoingFiles,
  context: TranslateContext,
): Promise<void> {
  const emptied = await refusedStrings(cuts, context);
  const found = await structuredFiles(message, cuts, files, context);
  const withFiles = [...context.dropped, ...unshown.flatMap(({ link, range }) => (link ? [] : [resultOf(range.path)]))];
  const dropped = [...withFiles, ...unshown.map(({ range }) => resultOf(range.path)), ...around];
  const texts = new Set(withFiles.map((result) => pointer(result)));
  const places = new Set(around.map((result) => pointer(result)));
  const written = { message, cuts, moves, entries, texts, around: places, inStructure };
  const gone = await replaceStructured(written, found, dropped, context);
  addAll(
    entries,
    inStructure.filter(({ result }) => !gone.has(pointer(result))),
  );
  await emptyStrings(emptied, context, (result) => gone.has(pointer(result)));
}
