import { RANGE } from '../../mcp/ranges.js';
import type { Limits } from '../../policy/limits.js';
import type { Dialect, FilesFromServers, SlotPlace } from '../../ports/dialect.js';
import { EACH, segmentsOf } from '../../schema/argument-path.js';
import { compileWatchTree, nodeBelow, type WatchNode, type WatchTree } from '../../wire/json/watch-tree.js';
import { KeptTrees } from './kept-trees.js';

/** Slot name of every string in structuredContent: only a provisional file. */
export const STRUCTURED_SLOT = 'structuredContent';

/** Key of the list of files in a result's `_meta`, for programs. Only Wharf writes it: a server's own is removed. */
export const FILES_META_KEY = 'dev.wharf/files';

/** Key in a tool error's `_meta` with the file it concerns, for programs. */
export const FILE_ERROR_META_KEY = 'dev.wharf/fileError';

/**
 * Marks Wharf's own tools for another Wharf in front of this one, which replaces them with its own because it knows
 * only its own handles.
 */
export const OWN_TOOL_META_KEY = 'dev.wharf/tool';

const SUBSCRIPTION_ID_KEY = 'io.modelcontextprotocol/subscriptionId';

/**
 * The places that matter in an upstream's message: the envelope, the slots of all dialects, and the places of edits. A
 * result can also be inside another message: `tasks/get` of the tasks extension answers with `result.result`, and
 * `notifications/tasks` carries `params.result`.
 * @param envelope further places at the top of a message
 * @param fileMin raw length from which a string counts where only a file may be; absent: as anywhere else
 */
export function toClientTree(
  places: readonly SlotPlace[],
  { envelope, fileMin }: { envelope?: Readonly<Record<string, WatchNode>>; fileMin?: number | undefined } = {},
): WatchTree {
  const result = resultNode(places, fileMin);
  const contents = places.filter((place) => place.kind === 'content');
  result.keys = { ...result.keys, result: resultNode(contents, fileMin) };
  const params: WatchNode = {
    keys: {
      progressToken: { capture: RANGE.progressToken, watch: RANGE.progressToken },
      requestId: { capture: RANGE.requestId, watch: RANGE.requestId },
      taskId: { capture: RANGE.taskId },
      _meta: { keys: { [SUBSCRIPTION_ID_KEY]: { capture: RANGE.subscriptionId, watch: RANGE.subscriptionId } } },
      result: resultNode(contents, fileMin),
    },
  };
  return compileWatchTree({
    keys: {
      ...envelope,
      id: { capture: RANGE.id, watch: RANGE.id },
      method: { capture: 'method' },
      params,
      result,
      error: { watch: RANGE.error },
    },
  });
}

/** Those of the servers of this process. */
export const TO_CLIENT_TREES = new KeptTrees((places, fileMin) => toClientTree(places, { fileMin }));

/** Names under which a resource's address and type are kept while its content streams. */
export const CONTENT = { uri: 'contentUri', mimeType: 'contentType' } as const;

/** The places that matter in the answer to a `resources/read` whose content is passed on as it arrives. */
export function contentsTree(places: readonly SlotPlace[]): WatchTree {
  const result: WatchNode = { watch: RANGE.result };
  for (const place of places.filter(({ kind }) => kind === 'resource')) {
    at(result, place.path).slot = place.name;
    const holder = at(result, place.holder);
    holder.keys = { ...holder.keys, text: {}, uri: { capture: CONTENT.uri }, mimeType: { capture: CONTENT.mimeType } };
  }
  return compileWatchTree({
    keys: {
      id: { capture: RANGE.id, watch: RANGE.id },
      method: { capture: 'method' },
      result,
      error: { watch: RANGE.error },
    },
  });
}

function resultNode(places: readonly SlotPlace[], fileMin: number | undefined): WatchNode {
  const node: WatchNode = {
    watch: RANGE.result,
    keys: {
      structuredContent: { slot: STRUCTURED_SLOT, deep: STRUCTURED_SLOT, watch: RANGE.structuredContent },
      _meta: {
        watch: RANGE.meta,
        keys: {
          [SUBSCRIPTION_ID_KEY]: { capture: RANGE.subscriptionId, watch: RANGE.subscriptionId },
        },
      },
      isError: { watch: RANGE.isError },
      resultType: { watch: RANGE.resultType },
      cacheScope: { watch: RANGE.cacheScope },
      ttlMs: { watch: RANGE.ttlMs },
      capabilities: { watch: RANGE.capabilities },
      tools: { watch: RANGE.tools, items: { watch: RANGE.tool } },
      nextCursor: { watch: RANGE.nextCursor },
      content: { watch: RANGE.content },
      contents: { watch: RANGE.contents },
      messages: { watch: RANGE.messages },
      inputRequests: { watch: RANGE.inputRequests },
      status: { watch: RANGE.status },
      statusMessage: { watch: RANGE.statusMessage },
    },
  };
  for (const place of places) {
    at(node, place.holder).watch = RANGE.holder;
    const slot = at(node, place.path);
    slot.slot = place.name;
    if (fileMin !== undefined && place.encoding === 'base64') slot.slotMin = fileMin;
  }
  // A duplicate of the key with a block's type would make its file ambiguous too.
  for (const place of places) {
    const holder = at(node, place.holder);
    for (const key of ['type', 'mimeType', 'resource']) holder.keys = { [key]: {}, ...holder.keys };
  }
  return node;
}

/** A place where a file may be, and how the object around it is read. */
export interface KnownPlace {
  readonly place: SlotPlace;
  readonly from: FilesFromServers;
}

/** By the names of slots. */
export function places(dialects: readonly Dialect[]): ReadonlyMap<string, KnownPlace> {
  return new Map(
    dialects.flatMap(
      ({ fromServers: from }) => from?.places.map((place): [string, KnownPlace] => [place.name, { place, from }]) ?? [],
    ),
  );
}

/** Shorter strings of base64 (48 bytes) are not scanned: the antivirus knows nothing that short. */
export const SCANNED_FROM = 64;

/** Where rules ask where bytes come from, every file counts that is not empty. */
export const NOTED_FROM = 1;

/**
 * A string of fewer raw bytes decodes to less than every inline limit, so it need not be checked.
 * @param isScanned the antivirus reads what stays inline too
 */
export function slotMin(limits: Limits, isScanned: boolean): number {
  if (isScanned) return SCANNED_FROM;
  return Math.ceil(Math.min(limits.inlineImage, limits.inlineOther, limits.inlineResource) / 3) * 4;
}

/** The node at a path such as `content[].resource.blob`; missing nodes are created. */
function at(root: WatchNode, path: string): WatchNode {
  let node = root;
  for (const segment of segmentsOf(path)) node = nodeBelow(node, segment === EACH ? undefined : segment);
  return node;
}
