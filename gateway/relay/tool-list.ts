import type { ClientFacts, JsonObject, JsonPatch, JsonPath, JsonValue } from '../ports/dialect.js';
import { addAll } from '../wire/add-all.js';
import type { HeldMessage } from '../wire/json/reader.js';
import { type Edit, insertMember, rangeAt, replaceRange } from './edits.js';
import type { RelayDeps } from './exchange.js';
import { patchText } from './json-patch.js';
import { isObject, STATELESS_SINCE } from './request.js';
import { publishedSchema } from './schema/published.js';
import { RANGE } from './slots.js';
import { toolPatches } from './tool-view.js';

/**
 * A tools/list result as the client gets it: file arguments take handles, what is cut out of results is no longer
 * declared as base64, and Wharf's own tools stand at the end. Tools in which nothing changes keep every byte.
 * @param at where the result stands in the message
 */
export function editToolList(
  message: HeldMessage,
  at: JsonPath,
  result: JsonObject,
  view: string,
  client: ClientFacts,
  deps: RelayDeps,
): Edit[] {
  deps.catalog.observe(view, result);
  const uploadTool = deps.tools.requestName(deps.catalog.beside(view));
  const edits: Edit[] = [];
  let isPersonal = false;
  let hasFiles = false;
  // by where they stand and not by index: there may be tens of thousands, and `tools` may be named twice
  for (const range of message.ranges) {
    if (range.name !== RANGE.tool || !isBelow(range.path, at)) continue;
    const text = message.slice(range.start, range.end);
    const tool = JSON.parse(text.toString('utf8')) as JsonValue;
    if (!isObject(tool)) continue;
    const patches = patchesFor(tool, client, uploadTool, deps);
    hasFiles ||= deps.catalog.factsOf(tool).slots.length > 0;
    // what is left as it is for one client may be another for all others
    isPersonal ||= isPersonalView(tool, patches, client, uploadTool, deps);
    if (patches.length === 0) continue;
    edits.push({ start: range.start, end: range.end, bytes: patchText(text, patches) });
  }
  const added = addOwnTools(message, at, result, view, client, deps);
  addAll(edits, added);
  // 2026-07-28: capabilities come with each request, and are no part of what a cache goes by
  if (client.protocolVersion >= STATELESS_SINCE && (isPersonal || hasFiles)) {
    addAll(edits, keepFromCaches(message, at, isPersonal));
  }
  return edits;
}

function isBelow(path: JsonPath, at: JsonPath): boolean {
  return path.length === at.length + 2 && at.every((key, index) => key === path[index]);
}

function patchesFor(
  tool: JsonObject,
  client: ClientFacts,
  uploadTool: string | undefined,
  deps: RelayDeps,
): JsonPatch[] {
  const patches: JsonPatch[] = [];
  const schema = isObject(tool.outputSchema) ? publishedSchema(tool.outputSchema) : undefined;
  if (schema && schema !== tool.outputSchema) patches.push({ path: ['outputSchema'], value: schema });
  const { slots } = deps.catalog.factsOf(tool);
  addAll(patches, toolPatches(tool, slots, client, { ...deps, uploadTool }));
  return patches;
}

/** True when a client that declares nothing is shown something else. */
function isPersonalView(
  tool: JsonObject,
  patches: readonly JsonPatch[],
  client: ClientFacts,
  uploadTool: string | undefined,
  deps: RelayDeps,
): boolean {
  if (Object.keys(client.capabilities).length === 0 && !client.dialects?.length) return false;
  const { protocolVersion } = client;
  return (
    JSON.stringify(patches) !==
    JSON.stringify(patchesFor(tool, { protocolVersion, capabilities: {} }, uploadTool, deps))
  );
}

/** On the last page, once it is known that some tool takes files. */
function addOwnTools(
  message: HeldMessage,
  at: JsonPath,
  result: JsonObject,
  view: string,
  client: ClientFacts,
  deps: RelayDeps,
): Edit[] {
  const { tools, catalog } = deps;
  if (!tools.any || typeof result.nextCursor === 'string') return [];
  const range = rangeAt(message, RANGE.tools, [...at, 'tools']);
  if (!range || !Array.isArray(result.tools)) return [];
  const own = tools.definitions(catalog.beside(view), client).map((tool) => JSON.stringify(tool));
  if (own.length === 0) return [];
  const text = `${result.tools.length > 0 ? ',' : ''}${own.join(',')}`;
  const end = range.end - 1;
  return [{ start: end, end, bytes: Buffer.from(text) }];
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
