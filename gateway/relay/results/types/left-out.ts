import type { JsonPath } from '../../../ports/json.js';
import type { Cut } from '../../cut/cut.js';
import { type ClaimedCut, isStructured, type MessageCuts } from '../../cut/message-cuts.js';
import type { Replacement } from '../remote-edits.js';
import { isExpected } from '../structured-files.js';
import { structuredPath } from '../structured-results.js';
import type { TranslateContext } from '../translate-context.js';
import { type RefusedFile, refusedBlock } from './refused-files.js';

/** A string of structuredContent that is a refused file. */
interface RefusedString {
  cut: Cut;
  file: RefusedFile;
}

/** The texts that stand in the places of refused files. */
export function textsForRefused(
  claimed: readonly ClaimedCut[],
  { refused }: Pick<TranslateContext, 'refused'>,
): Replacement[] {
  return claimed.flatMap(({ cut, place, holder, range }) => {
    const file = refused?.of(cut);
    return file ? [{ range, kind: place.kind, blocks: [refusedBlock(place.kind, file, holder)] }] : [];
  });
}

/** The strings of structuredContent that repeat a refused file, or are files themselves and refused. */
export async function refusedStrings(
  cuts: MessageCuts,
  context: Pick<TranslateContext, 'mayHoldFiles' | 'refused' | 'settings' | 'structured' | 'client'>,
): Promise<RefusedString[]> {
  const { refused } = context;
  if (!refused) return [];
  const found: RefusedString[] = [];
  for (const cut of cuts.cuts.filter(isStructured)) {
    const { path } = cut.value;
    if (!context.mayHoldFiles(path)) continue;
    const result = path.slice(0, -structuredPath(path).length - 1);
    const own = async () => ((await isExpected(cut, context)) ? refused.judge(cut, {}, { path, result }) : undefined);
    const file = refused.same(cut) ?? (await own());
    if (file) found.push({ cut, file });
  }
  return found;
}

/**
 * Empties strings of structuredContent. @param isDropped true for a result whose structuredContent is left out altogether
 * @throws GatewayError `file_type_refused` where the tool's outputSchema allows no empty string
 */
export async function emptyStrings(
  strings: readonly RefusedString[],
  { client, structured, edits }: Pick<TranslateContext, 'client' | 'structured' | 'edits'>,
  isDropped: (result: JsonPath) => boolean,
): Promise<void> {
  for (const { cut, file } of strings) {
    const path = structuredPath(cut.value.path);
    const result = cut.value.path.slice(0, -path.length - 1);
    if (isDropped(result)) continue;
    const isFree = client.host?.structured === 'drop' || (await structured.fitting(cut, [''])) !== undefined;
    if (!isFree) throw file.error;
    edits.replace({ start: cut.value.offset - 1, end: cut.value.offset + 1 }, '""');
    await structured.change(result, [{ path, value: '' }]);
  }
}
