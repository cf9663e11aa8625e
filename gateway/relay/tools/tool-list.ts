import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { breathe } from '../../budget/turn.js';
import type { Edits } from '../../json/edit.js';
import { patchText, patchValue } from '../../json/patch.js';
import { eraOf } from '../../mcp/era.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect } from '../../ports/dialect.js';
import type { Identity } from '../../ports/identity.js';
import type { JsonPatch, JsonPath } from '../../ports/json.js';
import type { Owner } from '../../ports/owner.js';
import type { Tool, ToolFacts } from '../../tools/tool.js';
import type { HeldMessage, WatchRange } from '../../wire/json/reader.js';
import type { Room } from '../client/room.js';
import type { RemoteMethods } from '../upstream/unknown-methods.js';
import type { Beside, ListedFacts } from './catalog.js';
import type { ToolDeps } from './deps.js';
import { type ToolText, toolIn, toolRanges, toolTexts } from './listed-tools.js';
import type { Shown } from './offered-tools.js';
import { plainReader, type Reader, readerOf } from './reader.js';
import { type ShowContext, show } from './show.js';

/** A file argument adds at least this many bytes to a tool: with less room no tool is edited. */
const LEAST_ROOM = 256;

interface ToolListDeps
  extends Pick<
    ToolDeps,
    'catalog' | 'offered' | 'tools' | 'server' | 'limits' | 'toolLimits' | 'accepts' | 'dialects'
  > {
  /** Methods that the server is known to lack. */
  remoteMethods: Pick<RemoteMethods, 'lacks'>;
}

/** A tools/list result for one client. */
interface ToolList {
  /** Whose work it is. */
  owner: Owner;
  message: HeldMessage;
  /** Path of the result in the message. */
  at: JsonPath;
  view: string;
  client: ClientFacts;
  /** Whose tools are shown. */
  identity: Identity;
  /** How much longer the message may become. */
  room: Room;
  edits: Edits;
}

/** The findings of a first pass over a list. */
interface Noted {
  /** The server's own tools. Each declaration is parsed again when it is shown, because all at once are too large. */
  tools: ReadonlyMap<WatchRange, ListedFacts>;
  /** Those of another Wharf's, and those that the caller may not use. */
  hidden: ReadonlySet<WatchRange>;
}

/**
 * A tools/list result for the client: file arguments take handles, strings that are cut out of results are no longer
 * declared as base64, and Wharf's own tools come last. Unchanged tools keep every byte, and so do tools that are too
 * large to parse or to be changed.
 */
export async function editToolList(list: ToolList, deps: ToolListDeps): Promise<void> {
  const { message, at, view, client, room, edits, identity } = list;
  const { catalog, dialects, offered } = deps;
  const shown = offered.shownTo(identity);
  const { tools, hidden } = await noteTools(list, shown, deps);
  const beside = catalog.beside(view, shown);
  const shared = { ...deps, uploadTool: deps.tools.requestName(beside) };
  const reader = readerOf(client, dialects);
  addOwnTools(list, tools.size === 0, beside, deps);
  hide(hidden, [...toolRanges(message, at)], edits);
  let isPersonal = false;
  let hasFiles = false;
  const kind = kindOf(client, dialects);
  for await (const listed of toolTexts(message, at, list.owner, deps.limits)) {
    const { range, text } = listed;
    const read = tools.get(range);
    if (!read) continue;
    const given = shown && read.name !== undefined ? offered.patches(read.name) : [];
    if (read.isHeavy || room.left < LEAST_ROOM) {
      // a name that cannot be called is worse than a list that is too long
      if (given.length > 0) edits.replace(range, patchText(text, given));
      continue;
    }
    // what else is said to clients stands at file slots
    const known = read.facts.slots.length === 0 && given.length === 0 ? read.known : undefined;
    if (known?.staysFor(kind)) continue;
    const declared = await toolIn(listed);
    if (!declared) continue;
    hasFiles ||= read.facts.slots.length > 0;
    const tool = { ...read, declared: patchValue(declared, given) };
    await breathe(list.owner);
    const own = await patchesFor(list.owner, tool, reader, {
      ...shared,
      limits: deps.toolLimits.lower(deps.limits, [read.name]),
    });
    isPersonal ||= own.isPersonal;
    const patches = [...given, ...own.patches];
    if (patches.length > 0) await writeTool({ listed, patches, given }, list);
    else if (!own.isPersonal) known?.stays(kind);
  }
  // capabilities come with each request, and caches ignore them
  const { hasCacheFields } = eraOf(client.protocolVersion);
  if (hasCacheFields && (isPersonal || hasFiles)) keepFromCaches(message, at, isPersonal, edits);
  else if (hasCacheFields && shown) keepPrivate(edits, at);
}

/**
 * What a client sees in another way than the server declares it.
 * @returns with it, whether other clients see it otherwise: what is unchanged for one may be changed for all others
 */
async function patchesFor(
  owner: Owner,
  tool: Tool,
  reader: Reader,
  context: ShowContext,
): Promise<{ patches: readonly JsonPatch[]; isPersonal: boolean }> {
  const patches = show(tool, reader, context);
  await breathe(owner);
  const isPersonal =
    !reader.isPlain && !isDeepStrictEqual(patches, show(tool, plainReader(reader, context.dialects), context));
  return { patches, isPersonal };
}

/** Writes a tool as the client sees it, or, where that is too long for the message, under its name at least. */
async function writeTool(
  { listed: { range, text }, patches, given }: { listed: ToolText; patches: JsonPatch[]; given: readonly JsonPatch[] },
  { owner, room, edits }: ToolList,
): Promise<void> {
  await breathe(owner);
  const bytes = patchText(text, patches);
  if (room.take(bytes.length - text.length)) edits.replace(range, bytes);
  else if (given.length > 0) edits.replace(range, patchText(text, given));
}

/** Records all tools, because the names of Wharf's own depend on them. */
async function noteTools(
  { owner, message, at, view }: ToolList,
  shown: Shown | undefined,
  { catalog, limits }: ToolListDeps,
): Promise<Noted> {
  const tools = new Map<WatchRange, ListedFacts>();
  const hidden = new Set<WatchRange>();
  for await (const listed of toolTexts(message, at, owner, limits)) {
    const { range } = listed;
    const tool = await catalog.noteListed(view, listed);
    if (tool === 'wharfs' || (shown && tool && (tool.name === undefined || shown(tool.name) === undefined)))
      hidden.add(range);
    else if (tool) tools.set(range, { ...tool, facts: withoutSchema(tool.facts) });
  }
  catalog.settle(view);
  return { tools, hidden };
}

/** Those of all tools at once are too large. */
function withoutSchema({ outputSchema: _, ...facts }: ToolFacts): ToolFacts {
  return facts;
}

/** What of a client decides how it sees tools without files. */
function kindOf(client: ClientFacts, dialects: readonly Dialect[]): string {
  return hash('sha256', JSON.stringify([client, dialects.map(({ name }) => name)]), 'base64');
}

/**
 * Removes entries from a list, each with its superfluous comma.
 * @param all of the list, or of several
 */
function hide(hidden: ReadonlySet<WatchRange>, all: readonly WatchRange[], edits: Edits): void {
  if (hidden.size === 0) return;
  const isFirst = ({ path }: WatchRange) => path.at(-1) === 0;
  let before: WatchRange | undefined;
  for (const [index, range] of all.entries()) {
    if (isFirst(range)) before = undefined;
    const next = all[index + 1];
    const isHidden = hidden.has(range);
    if (isHidden && before) edits.replace({ start: before.end, end: range.end }, '');
    // the first ones lose the comma after them, up to the first one that stays
    else if (isHidden) {
      edits.replace({ start: range.start, end: next && !isFirst(next) ? next.start : range.end }, '');
    }
    if (!isHidden || before) before = range;
  }
}

/** Added on the last page, once some tool is known to take files. @param isEmptied the list has no entry left */
function addOwnTools(
  { message, at, client, room, edits }: ToolList,
  isEmptied: boolean,
  beside: Beside,
  { tools }: ToolListDeps,
): void {
  const cursor = rangeAt(message, RANGE.nextCursor, [...at, 'nextCursor']);
  if (!tools.any || (cursor && firstByte(message, cursor) === '"')) return;
  const list = rangeAt(message, RANGE.tools, [...at, 'tools']);
  if (!list || firstByte(message, list) !== '[') return;
  const own = tools.definitions(beside, client).map((tool) => JSON.stringify(tool));
  if (own.length === 0) return;
  const items = isEmptied ? own.join(',') : `,${own.join(',')}`;
  const end = { start: list.end - 1, end: list.end - 1 };
  if (room.take(Buffer.byteLength(items))) edits.replace(end, items);
}

function firstByte(message: HeldMessage, { start }: WatchRange): string {
  return message.slice(start, start + 1).toString('latin1');
}

/**
 * The list depends on capabilities: caches must not give it to other callers, or to the same client again.
 * @param isPersonal state this even if the server says nothing about caches; caches then do not share it anyway
 */
function keepFromCaches(message: HeldMessage, at: JsonPath, isPersonal: boolean, edits: Edits): void {
  if (isPersonal || rangeAt(message, RANGE.cacheScope, [...at, 'cacheScope'])) keepPrivate(edits, at);
  if (rangeAt(message, RANGE.ttlMs, [...at, 'ttlMs'])) edits.set([...at, 'ttlMs'], 0);
}

/** Keeps caches from sharing the result. */
export function keepPrivate(edits: Edits, result: JsonPath): void {
  edits.set([...result, 'cacheScope'], 'private');
}
