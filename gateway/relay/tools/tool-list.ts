import { breathe } from '../../budget/turn.js';
import { addItems, type Edit, insertMember, replaceRange } from '../../json/edits.js';
import { patchText } from '../../json/patch.js';
import { isObject } from '../../json/value.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import { STATELESS_SINCE } from '../../mcp/request.js';
import type { ClientFacts } from '../../ports/client.js';
import type { JsonObject, JsonPatch, JsonPath } from '../../ports/dialect.js';
import type { FileSlot } from '../../ports/file-slot.js';
import { publishedSchema } from '../../schema/published.js';
import { addAll } from '../../wire/add-all.js';
import type { HeldMessage, WatchRange } from '../../wire/json/reader.js';
import type { Room } from '../client/room.js';
import type { RemoteMethods } from '../upstream/unknown-methods.js';
import type { ToolDeps } from './deps.js';
import { listedTools, toolRanges } from './listed-tools.js';
import { isWharfs } from './own-tool-mark.js';
import { toolPatches } from './shown-tool.js';

const NOTHING = Buffer.alloc(0);

/** Bytes by which a tool with a file argument grows at least: with less room no tool is looked at for that. */
const LEAST_ROOM = 256;

export interface ToolListDeps
  extends Pick<ToolDeps, 'catalog' | 'tools' | 'server' | 'limits' | 'accepts' | 'dialects'> {
  /** What the server has been found not to know. */
  remoteMethods: Pick<RemoteMethods, 'lacks'>;
}

/**
 * A tools/list result as the client gets it: file arguments take handles, what is cut out of results is no longer
 * declared as base64, and Wharf's own tools stand at the end. Tools in which nothing changes keep every byte, and so do
 * those that are too much to be looked into, or for whose changes there is no room.
 * @param at where the result stands in the message
 */
export async function editToolList(
  message: HeldMessage,
  at: JsonPath,
  view: string,
  client: ClientFacts,
  deps: ToolListDeps,
  room: Room,
): Promise<Edit[]> {
  const { catalog } = deps;
  const hidden = new Set<WatchRange>();
  let isEmptied = true;
  for await (const { range, tool, isHeavy } of listedTools(message, at, deps.limits)) {
    if (isWharfs(tool)) hidden.add(range);
    else isEmptied = false;
    catalog.note(view, tool, isHeavy);
  }
  const uploadTool = deps.tools.requestName(catalog.beside(view));
  const edits = addOwnTools(message, at, view, client, deps, room, isEmptied);
  addAll(edits, hiding(hidden, [...toolRanges(message, at)]));
  let isPersonal = false;
  let hasFiles = false;
  for await (const { range, text, tool, isHeavy } of listedTools(message, at, deps.limits)) {
    if (isHeavy || hidden.has(range) || room.left < LEAST_ROOM) continue;
    const { slots } = catalog.factsOf(tool);
    await breathe();
    const patches = patchesFor(tool, slots, client, uploadTool, deps);
    await breathe();
    hasFiles ||= slots.length > 0;
    // what is left as it is for one client may be another for all others
    isPersonal ||= isPersonalView(tool, slots, patches, client, uploadTool, deps);
    if (patches.length === 0) continue;
    await breathe();
    const bytes = patchText(text, patches);
    if (room.take(bytes.length - text.length)) edits.push({ start: range.start, end: range.end, bytes });
  }
  // 2026-07-28: capabilities come with each request, and are no part of what a cache goes by
  if (client.protocolVersion >= STATELESS_SINCE && (isPersonal || hasFiles)) {
    addAll(edits, keepFromCaches(message, at, isPersonal));
  }
  return edits;
}

function patchesFor(
  tool: JsonObject,
  slots: readonly FileSlot[],
  client: ClientFacts,
  uploadTool: string | undefined,
  deps: ToolListDeps,
): JsonPatch[] {
  const patches: JsonPatch[] = [];
  const schema = isObject(tool.outputSchema) ? publishedSchema(tool.outputSchema) : undefined;
  if (schema && schema !== tool.outputSchema) patches.push({ path: ['outputSchema'], value: schema });
  addAll(patches, toolPatches(tool, slots, client, { ...deps, uploadTool }));
  return patches;
}

/** True when a client that declares nothing is shown something else. */
function isPersonalView(
  tool: JsonObject,
  slots: readonly FileSlot[],
  patches: readonly JsonPatch[],
  client: ClientFacts,
  uploadTool: string | undefined,
  deps: ToolListDeps,
): boolean {
  if (Object.keys(client.capabilities).length === 0 && !client.dialects?.length) return false;
  const { protocolVersion } = client;
  return (
    JSON.stringify(patches) !==
    JSON.stringify(patchesFor(tool, slots, { protocolVersion, capabilities: {} }, uploadTool, deps))
  );
}

/**
 * Takes entries out of a list, each with the comma that is too much then.
 * @param all of the list, or of several
 */
function hiding(hidden: ReadonlySet<WatchRange>, all: readonly WatchRange[]): Edit[] {
  if (hidden.size === 0) return [];
  const edits: Edit[] = [];
  const isFirst = ({ path }: WatchRange) => path.at(-1) === 0;
  let before: WatchRange | undefined;
  for (const [index, range] of all.entries()) {
    if (isFirst(range)) before = undefined;
    const next = all[index + 1];
    const isHidden = hidden.has(range);
    if (isHidden && before) edits.push({ start: before.end, end: range.end, bytes: NOTHING });
    // of the first ones the comma behind them goes, up to what stays
    else if (isHidden) {
      edits.push({ start: range.start, end: next && !isFirst(next) ? next.start : range.end, bytes: NOTHING });
    }
    if (!isHidden || before) before = range;
  }
  return edits;
}

/** On the last page, once it is known that some tool takes files. @param isEmptied nothing of the list is left */
function addOwnTools(
  message: HeldMessage,
  at: JsonPath,
  view: string,
  client: ClientFacts,
  { tools, catalog }: ToolListDeps,
  room: Room,
  isEmptied: boolean,
): Edit[] {
  const cursor = rangeAt(message, RANGE.nextCursor, [...at, 'nextCursor']);
  if (!tools.any || (cursor && firstByte(message, cursor) === '"')) return [];
  const list = rangeAt(message, RANGE.tools, [...at, 'tools']);
  if (!list || firstByte(message, list) !== '[') return [];
  const own = tools.definitions(catalog.beside(view), client).map((tool) => JSON.stringify(tool));
  if (own.length === 0) return [];
  const items = own.join(',');
  const added = addItems(message, list, items);
  const edit = isEmptied ? { ...added, bytes: Buffer.from(items) } : added;
  return room.take(edit.bytes.length) ? [edit] : [];
}

function firstByte(message: HeldMessage, { start }: WatchRange): string {
  return message.slice(start, start + 1).toString('latin1');
}

/**
 * A list that is another one for other capabilities: no cache may give it to anybody, nor to the same client again.
 * @param isPersonal it must say so even where its server says nothing of caches, which then keep it from others anyway
 */
function keepFromCaches(message: HeldMessage, at: JsonPath, isPersonal: boolean): Edit[] {
  const scope = rangeAt(message, RANGE.cacheScope, [...at, 'cacheScope']);
  const ttl = rangeAt(message, RANGE.ttlMs, [...at, 'ttlMs']);
  return [...(scope || isPersonal ? keepPrivate(message, at) : []), ...(ttl ? [replaceRange(ttl, '0')] : [])];
}

/** 2026-07-28: no cache may share the result. */
export function keepPrivate(message: HeldMessage, at: JsonPath): Edit[] {
  const scope = rangeAt(message, RANGE.cacheScope, [...at, 'cacheScope']);
  if (scope) return [replaceRange(scope, '"private"')];
  const range = rangeAt(message, RANGE.result, at);
  return range ? [insertMember(message, range, '"cacheScope":"private"')] : [];
}
