import { GatewayError } from '../../errors.js';
import { RANGE } from '../../mcp/ranges.js';
import { fileLine } from '../../policy/file-words.js';
import type { Limits } from '../../policy/limits.js';
import type { ClientFacts } from '../../ports/client.js';
import type { JsonPath, OutgoingFile } from '../../ports/dialect.js';
import type { FileClaims } from '../../ports/file.js';
import type { ToolSettings } from '../../ports/file-slot.js';
import { addAll } from '../../wire/add-all.js';
import { parseJson } from '../../wire/json/parse.js';
import type { HeldMessage, SlotValue } from '../../wire/json/reader.js';
import type { Cut } from '../cut/cut.js';
import { beginsAsFormat } from '../cut/format-begin.js';
import type { MessageCuts } from '../cut/message-cuts.js';
import { isInStructure, type MessageText } from '../cut/message-texts.js';
import type { NestedPlace } from '../cut/nested-places.js';
import type { NestedCut, TextParts } from '../cut/text-parts.js';
import { isReadByModel } from './host/read-by-model.js';
import { isErrorAt } from './host/shown-file.js';
import { textLimit } from './host/unshown.js';
import { isSpokenOfAsFile, markedAs, namedAs } from './nested-marks.js';
import type { OutgoingFiles } from './outgoing-files.js';
import { isConfigured } from './structured-files.js';
import { structuredPath } from './structured-results.js';
import type { NamingContext, TranslateContext } from './translate-context.js';
import type { RefusedFile } from './types/refused-files.js';

interface NestedContext {
  mayHoldFiles: (path: JsonPath) => boolean;
  stays: (cut: Cut) => boolean;
  settings: (path: JsonPath) => ToolSettings | undefined;
  limits: Pick<Limits, 'inlineOther'>;
  client: Pick<ClientFacts, 'host'>;
  /** Digests of the message's files, and of strings of structuredContent where one is expected: servers repeat them. */
  known: ReadonlySet<string>;
}

/** A file in a text, and what is around it says of it. */
export interface ClaimedNested {
  nested: NestedCut;
  claims: FileClaims;
  /** It is all of a block's text, in which a model then reads what it is. */
  isAlone: boolean;
}

/** A string in a text that is long enough to be a file. */
interface FoundNested extends ClaimedNested {
  /** What is around it, or in it, says so. */
  isFile: boolean;
}

/** In the spelling of a message; it ends what many programs print. */
const LINE_BREAK = '\\n';

/** Bytes that are enough to know a format by. */
const BEGIN = 24;

/** The files in text blocks, and in strings of structuredContent with words in them, as `results.text` says. */
export async function nestedFiles(
  message: HeldMessage,
  cuts: MessageCuts,
  context: NestedContext,
): Promise<ClaimedNested[]> {
  const found: FoundNested[] = [];
  for (const text of cuts.texts) {
    const { path, offset } = text.value;
    const mode = context.settings(path)?.results.text ?? 'auto';
    if (mode === 'off' || !text.nested.hasCuts || !context.mayHoldFiles(path)) continue;
    if (!isInStructure(text.value) && !isTextBlock(message, offset)) continue;
    addAll(found, await foundIn(text, mode, message, context));
  }
  // what one text marks as a file, another text may repeat without a mark
  const marked = new Map<string | undefined, FileClaims>();
  for (const { isFile, nested, claims } of found) {
    const digest = nested.cut.stored?.digest;
    if (isFile && !marked.has(digest)) marked.set(digest, claims);
  }
  return found.flatMap((one) => {
    const claims = one.isFile ? one.claims : marked.get(one.nested.cut.stored?.digest);
    return claims ? [{ ...one, claims }] : [];
  });
}

function isTextBlock(message: HeldMessage, offset: number): boolean {
  const holder = message.ranges.find(({ name, start, end }) => name === RANGE.holder && start < offset && offset < end);
  const block: unknown = holder && parseJson(message.slice(holder.start, holder.end).toString('utf8'));
  return (block as { type?: unknown } | undefined)?.type === 'text';
}

async function foundIn(
  { value, nested }: MessageText,
  mode: ToolSettings['results']['text'],
  message: HeldMessage,
  { limits, client, known, stays, settings }: NestedContext,
): Promise<FoundNested[]> {
  const isBlock = !isInStructure(value);
  const isLong = isBlock && isBeyondHost({ path: value.path, nested }, message, client);
  const isAlone = nested.size <= LINE_BREAK.length;
  const isRead = isReadByModel(client);
  // a program may want structuredContent as it is, so that only what repeats a file goes there
  const mayBeFile = isBlock || isRead || isConfigured(value.path, settings);
  const found: FoundNested[] = [];
  for (const { nested: one, place, isAmongWords } of await nested.files()) {
    const { stored, lost, dataUri } = one.cut;
    if (!stored || stays(one.cut)) continue;
    // it was cut by the limit of a tool whose result this is not
    if (stored.size <= limits.inlineOther && !lost) continue;
    const said = dataUri ?? one.said ?? (place && (markedAs(place) ?? begunAs(place, stored.head)));
    const isKnown = isFormat(stored.head);
    const isForModel = isLong || (isRead && isKnown);
    // base64 in lines that is too long to be put back as it came: a link is better than no answer
    const isMeant = (isBlock && !isAmongWords && mode === 'json') || isForModel || lost || known.has(stored.digest);
    // out of other texts only what begins as a file is taken; of JSON, or alone, a program may want the base64
    const isMarked = said !== undefined || (isAmongWords && !isAlone && isKnown);
    found.push({
      isFile: isMeant || (isMarked && mayBeFile),
      nested: one,
      claims: { ...(place && namedAs(place)), ...said },
      isAlone: isBlock && isRead && isAlone && !one.isInJson,
    });
  }
  return found;
}

/** Base64 beside the name of a file, and the like, is one if its bytes begin as one. */
function begunAs(place: NestedPlace, head: Buffer): FileClaims | undefined {
  return isFormat(head) && isSpokenOfAsFile(place) ? {} : undefined;
}

function isFormat(head: Buffer): boolean {
  return beginsAsFormat(head.toString('base64', 0, BEGIN));
}

/** True for a text that the client's host would not show whole, if its base64 were put back. */
function isBeyondHost(
  { path, nested }: { path: JsonPath; nested: TextParts },
  message: HeldMessage,
  { host }: Pick<ClientFacts, 'host'>,
): boolean {
  // of a prompt's texts no host has a limit
  if (path.at(-3) !== 'content') return false;
  const limit = textLimit(host, isErrorAt(message, path.slice(0, -3)));
  return limit !== undefined && nested.length > limit.most;
}

/** @throws GatewayError `file_too_large` */
export function refuseTooLarge(claimed: readonly ClaimedNested[], { file: allowed }: Pick<Limits, 'file'>): void {
  for (const { nested } of claimed) {
    const { stored, path } = nested.cut;
    const actual = stored?.size ?? 0;
    if (actual > allowed) throw new GatewayError('file_too_large', { path, limit: 'limits.file', allowed, actual });
  }
}

/** A file in a text that has got its link, or is left out. */
export interface PublishedNested {
  nested: NestedCut;
  /** Undefined for one that is left out. */
  file: OutgoingFile | undefined;
  refused: RefusedFile | undefined;
}

/** Puts links in their places: short ones, because a model reads the text, and spelled as the text is. */
export async function publishNested(
  claimed: readonly ClaimedNested[],
  files: OutgoingFiles,
  { subject, names, refused }: NamingContext & Pick<TranslateContext, 'refused'>,
): Promise<PublishedNested[]> {
  const published: PublishedNested[] = [];
  for (const { nested, claims, isAlone } of claimed) {
    const { stored, value } = nested.cut;
    if (!stored) continue;
    const isBlock = !isInStructure(value);
    const place = placeOf(value);
    const put = (text: string) => {
      nested.replacement = Buffer.from(inner(JSON.stringify(nested.isInJson ? inner(JSON.stringify(text)) : text)));
    };
    const leftOut = await refused?.judge(nested.cut, claims, place);
    if (leftOut) {
      // programs read what is in structuredContent
      put(isBlock ? leftOut.text : '');
      published.push({ nested, file: undefined, refused: leftOut });
      continue;
    }
    const file = await files.publish(stored, claims, subject(value.path), (type) => names.nameAt(place.path, type));
    const { url } = file.ref.link;
    put(isAlone ? `${fileLine(file.ref)}\n${url}` : url);
    published.push({ nested, file, refused: undefined });
  }
  return published;
}

/** Where a file in a text is: its block, or its string of structuredContent, and its result. */
export function placeOf({ slot, path }: Pick<SlotValue, 'slot' | 'path'>): { path: JsonPath; result: JsonPath } {
  if (isInStructure({ slot })) return { path, result: path.slice(0, -structuredPath(path).length - 1) };
  const block = path.slice(0, -1);
  return { path: block, result: block.slice(0, -2) };
}

/** A JSON string without its quotes. */
function inner(json: string): string {
  return json.slice(1, -1);
}
