import { LongText } from '../../../schema/instance.js';
import { ByteStore } from '../../../wire/json/byte-store.js';
import { pointer } from '../../../wire/json/pointer.js';
import type { MessageCuts } from '../../cut/message-cuts.js';
import { isInStructure, type MessageText } from '../../cut/message-texts.js';
import type { NestedCut } from '../../cut/text-parts.js';
import { textOf } from '../host/said-around.js';
import { type ClaimedNested, type PublishedNested, placeOf } from '../nested-files.js';
import { ESCAPE_LENGTH, structuredPath } from '../structured-results.js';
import type { StructureContext, TranslateContext } from '../translate-context.js';
import type { FileEntry } from './file-entries.js';

/** Raw bytes of a string that is compared with a schema as it is; of a longer one only the length. */
const MOST_READ = 64 * 1024;

/** What may stand in the place of a file; undefined where the file stays. */
type Replacing = (nested: NestedCut) => Buffer | undefined;

/**
 * The files in texts without those in strings of structuredContent whose tool's outputSchema would not allow a link there: such
 * a string stays as it came. Checked before there are files to link to.
 */
export async function fittingWords(
  claimed: readonly ClaimedNested[],
  cuts: MessageCuts,
  { client, structured, sampleLinks, refused }: StructureContext & Pick<TranslateContext, 'refused'>,
): Promise<readonly ClaimedNested[]> {
  // the client was shown no schema that could refuse it
  if (client.host?.structured === 'drop') return claimed;
  const words = wordsAround(claimed, cuts);
  if (words.length === 0) return claimed;
  const samples = (await sampleLinks()).map((link) => Buffer.from(link));
  const stays = new Set<NestedCut>();
  for (const { text, files } of words) {
    const texts = samples.map((link) => replaced(text, (nested) => (files.has(nested) ? link : undefined)));
    if ((await structured.fitting(text, texts)) === undefined) for (const nested of files) stays.add(nested);
  }
  const kept: ClaimedNested[] = [];
  for (const one of claimed) {
    const { cut } = one.nested;
    // one that is left out must not stay either
    const isDue = !stays.has(one.nested) || (await refused?.judge(cut, one.claims, placeOf(cut.value)));
    if (isDue) kept.push(one);
  }
  return kept;
}

/**
 * Notes what strings of structuredContent have become. One that the outputSchema does not allow stays as it came.
 * @returns the files that have links there
 * @throws GatewayError `file_type_refused` where a file that is left out would have to stay
 */
export async function settleWords(
  published: readonly PublishedNested[],
  cuts: MessageCuts,
  { client, structured }: Pick<StructureContext, 'client' | 'structured'>,
): Promise<FileEntry[]> {
  const entries: FileEntry[] = [];
  const byPart = new Map(published.map((one) => [one.nested, one]));
  for (const { text, files } of wordsAround(published, cuts)) {
    const path = structuredPath(text.value.path);
    const { result } = placeOf(text.value);
    const value = replaced(text, ({ replacement }) => replacement);
    const here = [...files].flatMap((nested) => byPart.get(nested) ?? []);
    const isAllowed = client.host?.structured === 'drop' || (await structured.change(result, [{ path, value }]));
    if (!isAllowed) stay(here);
    else for (const { file } of here) if (file) entries.push({ file, result, place: { pointer: pointer(path) } });
  }
  return entries;
}

function stay(here: readonly PublishedNested[]): void {
  for (const { nested, refused } of here) {
    if (refused) throw refused.error;
    nested.replacement = undefined;
  }
}

/** The strings of structuredContent with files among their words. */
function wordsAround(
  found: readonly { nested: NestedCut }[],
  cuts: MessageCuts,
): { text: MessageText; files: ReadonlySet<NestedCut> }[] {
  const all = new Set(found.flatMap(({ nested }) => (isInStructure(nested.cut.value) ? [nested] : [])));
  if (all.size === 0) return [];
  return cuts.texts.flatMap((text) => {
    if (!isInStructure(text.value)) return [];
    const files = text.nested.parts.filter((part): part is NestedCut => !(part instanceof ByteStore) && all.has(part));
    return files.length === 0 ? [] : [{ text, files: new Set(files) }];
  });
}

/** A string with links in it, or its length where it is long or not in memory. */
function replaced({ value, nested }: MessageText, replacing: Replacing): string | LongText {
  const parts = nested.parts.map((part, index) => {
    if (!(part instanceof ByteStore)) return inMemory(part, replacing);
    const next = nested.parts[index + 1];
    const head = next && !(next instanceof ByteStore) && replacing(next) ? next.head : 0;
    return { size: part.size - head, pieces: () => [part.slice(0, part.size - head)] };
  });
  const known = parts.filter((part) => part !== undefined);
  const length = known.reduce((sum, { size }) => sum + size, 0);
  const isWhole = known.length === parts.length;
  if (isWhole && length <= MOST_READ) return textOf(known.flatMap(({ pieces }) => pieces()));
  return new LongText(Math.floor(length / ESCAPE_LENGTH), isWhole ? length : length + value.length);
}

function inMemory(
  part: NestedCut,
  replacing: Replacing,
): { size: number; pieces: () => readonly Buffer[] } | undefined {
  const link = replacing(part);
  const pieces = link ? [link] : part.cut.inline;
  return pieces && { size: pieces.reduce((sum, piece) => sum + piece.length, 0), pieces: () => pieces };
}
