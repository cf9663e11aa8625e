import { breathe } from '../../budget/turn.js';
import type { Edits } from '../../json/edit.js';
import { patchText } from '../../json/patch.js';
import { eraOf } from '../../mcp/era.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Identity } from '../../ports/identity.js';
import type { JsonPath } from '../../ports/json.js';
import type { CallOwner } from '../../ports/owner.js';
import type { ToolFacts } from '../../tools/tool.js';
import type { HeldMessage, WatchRange } from '../../wire/json/reader.js';
import type { Room } from '../client/room.js';
import type { UnknownMethods } from '../upstream/unknown-methods.js';
import { expireAtOnce, hasScope, keepPrivate } from './caching.js';
import type { Beside, ListedFacts } from './catalog.js';
import type { ToolDeps } from './deps.js';
import { toolRanges, toolText, toolTexts } from './listed-tools.js';
import type { Shown } from './offered-tools.js';
import { readerOf } from './reader.js';
import { ToolWriter } from './tool-writer.js';

/** A file argument adds at least this many bytes to a tool: with less room no tool is edited. */
const LEAST_ROOM = 256;

interface ToolListDeps
  extends Pick<
    ToolDeps,
    'catalog' | 'offered' | 'tools' | 'server' | 'limits' | 'toolLimits' | 'accepts' | 'dialects'
  > {
  /** Methods that the server is known to lack. */
  unknownMethods: Pick<UnknownMethods, 'lacks'>;
}

/** A tools/list result for one client. */
interface ToolList {
  /** Whose work it is. */
  owner: CallOwner;
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
  const { owner, message, at, view, client, room, edits, identity } = list;
  const { catalog, dialects, offered } = deps;
  const shown = offered.shownTo(identity);
  const { tools, hidden } = await noteTools(list, shown, deps);
  const beside = catalog.beside(view, shown);
  const reader = readerOf(client, dialects);
  const writer = new ToolWriter(owner, reader, { ...deps, uploadTool: deps.tools.requestName(beside) });
  addOwnTools(list, tools.size === 0, beside, deps);
  hide(hidden, [...toolRanges(message, at)], edits);
  let isPersonal = false;
  let hasFiles = false;
  for (const [range, read] of tools) {
    const pause = breathe(owner);
    if (pause) await pause;
    const given = shown && read.name !== undefined ? offered.patches(read.name) : [];
    const underItsName = () => patchText(message.slice(range.start, range.end), given);
    if (read.isHeavy || room.left < LEAST_ROOM) {
      // a name that cannot be called is worse than a list that is too long
      if (given.length > 0) edits.replace(range, underItsName());
      continue;
    }
    const written = writer.known(read) ?? (await writer.write(read, toolText(message, range, deps.limits), given));
    if (!written) continue;
    hasFiles ||= read.facts.slots.length > 0;
    isPersonal ||= written.isPersonal;
    const { text } = written;
    if (!text) continue;
    if (room.take(text.length - (range.end - range.start))) edits.replace(range, text);
    else if (given.length > 0) edits.replace(range, underItsName());
  }
  // the list depends on capabilities, which come with each request, and which caches ignore
  const { hasCacheFields } = eraOf(client.protocolVersion);
  if (hasCacheFields && (isPersonal || hasFiles)) {
    if (isPersonal || hasScope(message, at)) keepPrivate(edits, at);
    expireAtOnce(message, at, edits);
  } else if (hasCacheFields && shown) keepPrivate(edits, at);
}

/** Records all tools, because the names of Wharf's own depend on them. */
async function noteTools(
  { owner, message, at, view }: ToolList,
  shown: Shown | undefined,
  { catalog, limits }: ToolListDeps,
): Promise<Noted> {
  const tools = new Map<WatchRange, ListedFacts>();
  const hidden = new Set<WatchRange>();
  await breathe(owner);
  for (const listed of toolTexts(message, at, limits)) {
    const pause = breathe(owner);
    if (pause) await pause;
    const { range } = listed;
    const tool = await catalog.noteListed(view, listed, owner);
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
