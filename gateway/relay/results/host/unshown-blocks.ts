import { GatewayError } from '../../../errors.js';
import { fill } from '../../../files/ingest/fill.js';
import { Ingest, type Stored } from '../../../files/ingest/ingest.js';
import { JsonDocument } from '../../../json/document.js';
import { exactValue } from '../../../json/light-value.js';
import { isObject } from '../../../json/value.js';
import { RANGE } from '../../../mcp/ranges.js';
import type { Limits } from '../../../policy/limits.js';
import type { ClientFacts } from '../../../ports/client.js';
import type { OutgoingFile, SlotPlace } from '../../../ports/dialect.js';
import type { JsonObject, JsonPath } from '../../../ports/json.js';
import type { Owner } from '../../../ports/owner.js';
import { pointer } from '../../../wire/json/pointer.js';
import type { HeldMessage, WatchRange } from '../../../wire/json/reader.js';
import type { CutDeps, MessageCuts } from '../../cut/message-cuts.js';
import { replacedText } from '../../cut/splice.js';
import type { TextParts } from '../../cut/text-parts.js';
import type { OutgoingFiles } from '../outgoing-files.js';
import type { Replacement } from '../remote-edits.js';
import type { LinkContext, NamingContext, TranslateContext, WritingContext } from '../translate-context.js';
import { apart } from './apart.js';
import { headed, isShownPage, tellsEmbedded, textOfBlock } from './embedded-text.js';
import { type ImageRoom, mostImages, sizeOf } from './image-room.js';
import { LinkWords, tellsLinks } from './link-words.js';
import { shortened } from './shortened-text.js';
import { isErrorAt, resultOf } from './shown-file.js';
import { TextRoom } from './text-room.js';
import {
  choosesImages,
  headFor,
  limitOfTool,
  textLimit,
  type Unshown,
  unshownBytes,
  unshownEmbedded,
  unshownText,
} from './unshown.js';

/** A block like any other, but never one of a slot. */
const BLOCK: SlotPlace = { name: 'block', path: 'content[]', holder: 'content[]', kind: 'content', encoding: 'base64' };

interface UnshownDeps {
  cut: CutDeps;
  owner: Owner;
  signal: AbortSignal;
}

/** Words of blocks with bytes; a result without them has only text. */
const WORDS = ['"image"', '"audio"', '"blob"'].map((word) => Buffer.from(word));

/** What needs no file of its own. Links have a number of their own. */
const WITHOUT_FILE: ReadonlySet<Unshown['kind']> = new Set(['image', 'link']);

/** The word of a block with an embedded text. */
const RESOURCE = Buffer.from('"resource"');
const IS_ERROR = Buffer.from('"isError"');
const STRUCTURED = Buffer.from('"structuredContent"');

/** A cheap test for results with blocks that the client's host would not show. */
export function mayBeUnshown(message: HeldMessage, { host }: ClientFacts): boolean {
  const isErrorOf = errorsOf(message);
  return message.ranges.some(({ name, path, start, end }) => {
    if (name !== RANGE.content) return false;
    const isError = isErrorOf(path);
    const keepsErrors = host?.errorImages === 'keep' || !isError;
    const keepsBytes = !choosesImages(host) && host?.blobs !== 'drop' && keepsErrors;
    const limit = textLimit(host, isError);
    // a long string is not among the bytes held, and a line has at least one byte
    const isLong = message.slots.length > 0;
    if (limit && (isLong || end - start > Math.min(limit.most, limit.lines ?? limit.most))) return true;
    const keepsTexts = !tellsEmbedded(host, isError);
    if (keepsBytes && keepsTexts) return false;
    const bytes = message.slice(start, end);
    return isLong || WORDS.some((word) => bytes.includes(word)) || (!keepsTexts && bytes.includes(RESOURCE));
  });
}

/**
 * Whether the result that holds a member is an error. A result may repeat a key 70,000 times, and a search for each took
 * 60 ms.
 */
function errorsOf(message: HeldMessage): (member: JsonPath) => boolean {
  let known: JsonPath | undefined;
  let isError = false;
  return (member) => {
    if (
      !known ||
      known.length !== member.length ||
      !known.every((key, at) => at === member.length - 1 || key === member[at])
    ) {
      isError = isErrorAt(message, member.slice(0, -1));
      known = member;
    }
    return isError;
  };
}

/** A cheap test of a whole short body for results that are written in another way for this client's host. */
export function mayBeUnshownIn(body: Buffer, { host }: ClientFacts): boolean {
  for (const isError of [false, true]) {
    const { most = Number.POSITIVE_INFINITY, lines = most } = textLimit(host, isError) ?? {};
    if (body.length > Math.min(most, lines)) return true;
  }
  const isError = body.includes(IS_ERROR);
  const isSpecial =
    choosesImages(host) ||
    host?.blobs === 'drop' ||
    (isError && host?.errorImages !== 'keep') ||
    (host?.structured === 'drop' && body.includes(STRUCTURED));
  if (isSpecial && WORDS.some((word) => body.includes(word))) return true;
  return tellsEmbedded(host, isError) && body.includes(RESOURCE);
}

/** Moves images that stayed inline into files, where the host would not show them. */
export async function storeUnshown(
  { message, cuts, images }: { message: HeldMessage; cuts: MessageCuts; images: ImageRoom },
  { client, dialects }: Pick<TranslateContext, 'client' | 'dialects'>,
): Promise<void> {
  for (const { cut, holder, range, reading, place } of cuts.claimed) {
    if (!cut.inline || !reading || place.kind !== 'content') continue;
    const isError = isErrorAt(message, resultOf(range.path));
    const data = headFor(client.host, (length) => beginOf(cut.inlineBody ?? [], length));
    const type = cut.dataUri ? { type: 'image', mimeType: cut.dataUri.mimeType, data } : { ...holder, data };
    const { most = Number.POSITIVE_INFINITY } = textLimit(client.host, isError) ?? {};
    // a data: URI in a text would be cut off in its midst
    const isLong = place.encoding === 'dataUri' && sizeOf(cut.inline) > most;
    const isBeyond = isLong || images.isBeyond(cut.value.path.slice(0, -1));
    const isPage = isShownPage(holder, { ...client, dialects }, { isError });
    const what = unshownBytes(type, client.host, { isError, isBeyond, isPage, isBegun: true });
    if (what?.kind !== 'bytes' || what.isShown) continue;
    // what is not base64 passes, but where a model service would refuse the whole conversation for it
    if (cut.size === undefined && client.host?.imageTypes === undefined) continue;
    cut.storeLate();
    await cut.pressure;
  }
}

/** What finds such blocks. */
type SearchContext = LinkContext &
  Pick<TranslateContext, 'client' | 'dialects' | 'mayHoldFiles' | 'refused' | 'longestText'>;

/** What makes files of them. */
type PublishContext = NamingContext & WritingContext & Pick<TranslateContext, 'limits'>;

/**
 * What replaces small blocks whose bytes the host would not show, and texts longer than it shows; and what is said of links
 * that it does not show.
 * @throws GatewayError `too_many_files`, or the error of storing one
 */
export async function unshownBlocks(
  {
    message,
    cuts,
    files,
    images,
  }: { message: HeldMessage; cuts: MessageCuts; files: OutgoingFiles; images: ImageRoom },
  context: SearchContext & PublishContext,
  deps: UnshownDeps,
): Promise<Replacement[]> {
  const { limits } = context;
  const found = withinFiles(unshownIn({ message, cuts, images }, context), limits);
  if (found.length === 0) return [];
  const actual = found.filter(({ what }) => !WITHOUT_FILE.has(what.kind)).length;
  if (actual > limits.files) {
    const facts = { limit: 'limits.files', allowed: limits.files, actual };
    throw new GatewayError('too_many_files', facts);
  }
  const isBatch = typeof found[0]?.path[0] === 'number';
  const located = await JsonDocument.of(message.skeleton(), isBatch, deps.owner).findInSteps(
    found.flatMap((one) => (isGone(one) ? [one.path, placeBefore(one.path)] : [one.path])),
  );
  const replacements: Replacement[] = [];
  for (const { path, block, what } of found) {
    const range = located.at(path);
    if (!range) continue;
    if (isGone({ what })) {
      // with the comma before it
      const start = located.at(placeBefore(path))?.end;
      if (start === undefined) continue;
      replacements.push({ range: { path, start, end: range.end }, kind: 'content', blocks: [], link: 'gone' });
      continue;
    }
    const written = await replaced({ path, block, what }, files, context, deps);
    replacements.push({ range: { ...range, path }, kind: 'content', ...written });
  }
  return replacements;
}

interface FoundBlock {
  path: JsonPath;
  block: JsonObject;
  what: Unshown;
}

/** Images that are shown get texts as long as there may be files: no result fails for want of words. */
function withinFiles(found: readonly FoundBlock[], { files }: Pick<Limits, 'files'>): FoundBlock[] {
  const isShown = ({ what }: FoundBlock) => what.kind === 'bytes' && what.isShown === true;
  let left = files - found.filter((one) => !WITHOUT_FILE.has(one.what.kind) && !isShown(one)).length;
  return found.flatMap((one): FoundBlock[] => {
    if (!isShown(one) || left-- > 0) return [one];
    const image = one.what.kind === 'bytes' ? one.what.image : undefined;
    return image ? [{ ...one, what: { kind: 'image', ...image } }] : [];
  });
}

/** True for a link of the server's of which nothing stays. It is never the first block of its list. */
function isGone({ what }: Pick<FoundBlock, 'what'>): boolean {
  return what.kind === 'link' && what.text === '';
}

function placeBefore(path: JsonPath): JsonPath {
  return [...path.slice(0, -1), Number(path.at(-1)) - 1];
}

function unshownIn(
  { message, cuts, images }: { message: HeldMessage; cuts: MessageCuts; images: ImageRoom },
  context: SearchContext,
): FoundBlock[] {
  const { limits, client } = context;
  const texts = cuts.texts.map(({ value, nested }) => ({ value, inline: nested.inline ?? withLinks(nested) }));
  const inline = new Map(
    [...cuts.cuts, ...texts].flatMap((cut) => (cut.inline ? [[pointer(cut.value.path), cut.inline] as const] : [])),
  );
  const gone = cuts.cuts.filter((cut) => !cut.inline && !inline.has(pointer(cut.value.path)));
  const stored = new Set(gone.map((cut) => pointer(blockOf(cut.value.path))));
  const links = new LinkWords(context);
  // by place: a server may write the key many times, of which the last counts
  const contents = new Map<string, WatchRange>();
  for (const range of message.ranges) if (range.name === RANGE.content) contents.set(pointer(range.path), range);
  return [...contents.values()].flatMap((range) => {
    if (!context.mayHoldFiles(range.path)) return [];
    const content = exactValue(message, range, limits);
    if (!Array.isArray(content)) return [];
    const isError = isErrorAt(message, range.path.slice(0, -1));
    const blocks = content.flatMap((block, index): Omit<FoundBlock, 'what'>[] => {
      const path = [...range.path, index];
      // what has been cut is replaced already, or stays as it came: here it is empty
      if (!isObject(block) || stored.has(pointer(path)) || context.refused?.holdsAt(path)) return [];
      return [{ path, block: whole(block, path, inline) }];
    });
    const given = textLimit(client.host, isError);
    const limit = given && limitOfTool(given, context.longestText(range.path));
    const texts = blocks.flatMap(({ block }) => textOfBlock(block) ?? []);
    const telling = tellsLinks(client.host, isError);
    const words = telling && links.of(blocks, telling, { texts, limit });
    const room =
      limit && new TextRoom(limit, [...texts, ...(words?.values() ?? [])], mostImages(content, client.host, isError));
    return blocks.flatMap(({ path, block }): FoundBlock[] => {
      const told = words?.get(block);
      if (telling && told !== undefined) return [{ path, block, what: { kind: 'link', text: told, telling } }];
      const isBeyond = images.isBeyond(path);
      const isPage = isShownPage(block, { ...client, dialects: context.dialects }, { isError });
      const what =
        unshownBytes(block, client.host, { isError, isBeyond, isPage }) ??
        (isPage ? undefined : unshownText(block, room)) ??
        unshownEmbedded(block, client.host, isError);
      return what ? [{ path, block, what }] : [];
    });
  });
}

/** A text whose files have left it, with their links: as it came, it might be too long to be in memory. */
function withLinks(nested: TextParts): readonly Buffer[] | undefined {
  return nested.hasCuts ? replacedText(nested) : undefined;
}

/** The block that holds a string, by its place: an embedded resource is a part of one. */
function blockOf(path: JsonPath): JsonPath {
  return path.slice(0, path.at(-2) === 'resource' ? -2 : -1);
}

/** A block with its strings that were taken out of the message and are still in memory. @param inline by place */
function whole(block: JsonObject, path: JsonPath, inline: ReadonlyMap<string, readonly Buffer[]>): JsonObject {
  const { resource } = block;
  // of two equal keys the last counts, which may have another value
  for (const key of ['text', 'data']) {
    const held = block[key] === '' && inline.get(pointer([...path, key]));
    if (held) return { ...block, [key]: textOf(held) };
  }
  if (!isObject(resource) || resource.blob !== '') return block;
  const blob = inline.get(pointer([...path, 'resource', 'blob']));
  return blob ? { ...block, resource: { ...resource, blob: textOf(blob) } } : block;
}

/** The beginning of a string of base64 in pieces, in which slashes and line breaks may be escaped. */
function beginOf(pieces: readonly Buffer[], length: number): string {
  const [first = Buffer.alloc(0)] = pieces;
  const held = first.length < length ? Buffer.concat(pieces) : first;
  const begin = held.toString('latin1', 0, Math.min(length, held.length));
  return begin.includes('\\') ? textOf(pieces).slice(0, length) : begin;
}

/** A string of a message, from its raw spelling. */
function textOf(pieces: readonly Buffer[]): string {
  return JSON.parse(`"${Buffer.concat(pieces).toString('utf8')}"`) as string;
}

async function replaced(
  { path, block, what }: FoundBlock,
  files: OutgoingFiles,
  context: PublishContext,
  deps: UnshownDeps,
): Promise<Pick<Replacement, 'blocks' | 'file' | 'link' | 'resource'>> {
  if (what.kind === 'link') {
    const { annotations } = block;
    const about = { type: 'text', text: what.text, ...(annotations !== undefined && { annotations }) };
    return { blocks: [about], link: what.telling === 'before' ? 'kept' : 'told' };
  }
  if (what.kind === 'text-resource') {
    if (what.isAlone) return { blocks: [{ type: 'text', text: what.text, ...extrasOf(block) }] };
    const { blob: _, ...resource } = block.resource as JsonObject;
    return { blocks: [{ ...block, resource: { ...resource, text: what.text } }] };
  }
  if (what.kind === 'image') return { blocks: [{ ...block, data: what.data, mimeType: what.mimeType }] };
  const stored = await store(what.bytes, path, deps);
  const file = await files.publish(stored, what.claims, context.subject(path), (type) =>
    context.names.nameAt(path, type),
  );
  // the same bytes were a file already
  if (files.keyOf(stored.digest) !== stored.key)
    deps.cut.library.discardStored(Promise.resolve(stored), deps.owner.principal);
  const result = resultOf(path);
  if (what.kind === 'bytes') {
    if (what.isShown) {
      const about = besideImage(file, path, context.write, context.shown.clientIn(result));
      return what.image ? { blocks: [...about.blocks, { ...block, ...what.image }], file } : about;
    }
    const seen = await context.shown.in(result, file, 'content');
    return { blocks: context.write(BLOCK, seen.file, block, seen.client), file, resource: what.claims.uri };
  }
  const text = withText(block, shortened(what.text, what.limit), context.shown.tellsEmbedded(result));
  const isReadWhole = what.bytes.length <= context.limits.inlineOther;
  const told = context.write(BLOCK, file, extrasOf(block), context.shown.clientIn(result, { isReadWhole }));
  // a host that shows less than is known of it cuts off the end: Codex 0.171, with a model that it does not know, leaves
  // out all texts after the first 12,000 bytes
  return { blocks: [...told, text], file };
}

/** The text about an image that stays as it is. */
function besideImage(
  file: OutgoingFile,
  path: JsonPath,
  write: WritingContext['write'],
  client: ClientFacts,
): Pick<Replacement, 'blocks' | 'file' | 'link'> {
  const blocks = write(BLOCK, { ...file, preview: { facts: {} } }, {}, client);
  return { blocks: apart(blocks, path.at(-1) === 0, client), file, link: 'kept' };
}

function withText({ resource, ...block }: JsonObject, text: string, isAlone: boolean): JsonObject {
  if (!isObject(resource)) return { ...block, text };
  return isAlone
    ? { type: 'text', text: headed(resource, text), ...extrasOf(block) }
    : { ...block, resource: { ...resource, text } };
}

function extrasOf({ annotations, _meta }: JsonObject): JsonObject {
  return { ...(annotations !== undefined && { annotations }), ...(_meta !== undefined && { _meta }) };
}

/** @throws GatewayError the store's errors, `file_too_large` */
async function store(bytes: Buffer, path: JsonPath, { cut, owner, signal }: UnshownDeps): Promise<Stored> {
  const limit = { name: 'limits.file', bytes: cut.limits.file, path: pointer(path) };
  const ingest = new Ingest(cut.ingest, { owner, limit }, signal);
  try {
    await fill(ingest, one(bytes));
    ingest.seal();
    return await ingest.commit();
  } catch (error) {
    ingest.abort();
    throw error;
  }
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
