import { patchValue } from '../../json/patch.js';
import { isObject, valueAt } from '../../json/value.js';
import type { Limits } from '../../policy/limits.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect, FileFacts, ShownSlot } from '../../ports/dialect.js';
import type { FileSlot } from '../../ports/file-slot.js';
import type { JsonObject, JsonPatch, JsonPath } from '../../ports/json.js';
import { EACH } from '../../schema/argument-path.js';
import { placeOf } from '../../schema/place.js';
import { addAll } from '../../wire/add-all.js';
import type { RemoteMethods } from '../upstream/unknown-methods.js';
import { passesBetween } from './file-slots.js';
import { liftSlot, liftsArguments } from './lifted-arguments.js';
import { maxSizeOf } from './max-size.js';

export interface ToolViewDeps {
  server: string;
  limits: Limits;
  accepts: number;
  dialects: readonly Dialect[];
  /** Name of the tool of Wharf's own that gives upload links, where there is one. */
  uploadTool: string | undefined;
  /** What the server has been found not to know. */
  remoteMethods: Pick<RemoteMethods, 'lacks'>;
}

/** Stands in for a file where only the methods by which one would be uploaded are asked for. */
const NO_FILE: FileFacts = { name: '', mimeType: '', size: 0, digest: '' };

const UNUSABLE = 'The server wants this file uploaded and takes no uploads: a call with it fails.';

/** What has to change in a tool so that a client can hand its files over: in order, below the tool. */
export function toolPatches(
  tool: JsonObject,
  slots: readonly FileSlot[],
  client: ClientFacts,
  deps: ToolViewDeps,
): JsonPatch[] {
  const owner = { principal: '', server: deps.server };
  const patches: JsonPatch[] = [];
  let seen = tool;
  const lifts = liftsArguments(client, deps.dialects);
  const shown: Omit<ShownSlot, 'schema'>[] = [];
  for (const slot of slots) {
    const place = passesBetween(slot, client, deps.dialects) ? undefined : placeOf(seen, slot.path);
    if (!place) continue;
    if (place.copies.length > 0) seen = patchValue(seen, place.copies);
    addAll(patches, place.copies);
    let { at } = place;
    if (lifts && slot.lifted !== undefined) {
      const lifting = liftSlot(seen, slot.lifted, at);
      seen = patchValue(seen, lifting.patches);
      addAll(patches, lifting.patches);
      at = lifting.at;
    }
    const name = lifts && slot.lifted !== undefined ? slot.lifted : topLevelName(slot);
    const maxSize = maxSizeOf(slot, { ...deps, owner }).bytes;
    shown.push({
      slot,
      at,
      ...(name !== undefined && { name }),
      declared: place.schema,
      maxSize,
      maxInline: Math.min(maxSize, deps.limits.inlineArgument),
      ...(slot.path.at(-1) === EACH && { maxItems: slot.maxItems ?? deps.limits.filesPerArgument }),
      ...(deps.uploadTool && { uploadTool: deps.uploadTool }),
    });
  }
  for (const dialect of deps.dialects.toReversed()) {
    const current = shown.map((entry) => ({ ...entry, schema: objectAt(seen, entry.at) }));
    const own = dialect.showTool?.(seen, current, client) ?? [];
    seen = patchValue(seen, own);
    addAll(patches, own);
  }
  for (const { slot, at } of shown) {
    if (!isUnusable(slot, deps)) continue;
    const { description } = objectAt(seen, at);
    const value = typeof description === 'string' ? `${UNUSABLE} ${description}` : UNUSABLE;
    patches.push({ path: [...at, 'description'], value });
  }
  return patches;
}

/** No way of handing a file over is left: the server declares that it must be uploaded, and has no method for that. */
function isUnusable({ deliveries }: FileSlot, { dialects, remoteMethods }: ToolViewDeps): boolean {
  return deliveries.every((delivery) => {
    if (delivery.kind !== 'uploaded') return false;
    const transfer = dialects.find(({ name }) => name === delivery.dialect)?.transfer;
    return transfer !== undefined && remoteMethods.lacks(transfer.uploadRequests(NO_FILE, delivery.revision));
  });
}

function topLevelName({ path: [name, ...below] }: FileSlot): string | undefined {
  return below.length === 0 || (below.length === 1 && below[0] === EACH) ? name : undefined;
}

function objectAt(tool: JsonObject, at: JsonPath): JsonObject {
  const found = valueAt(tool, at);
  return isObject(found) ? found : {};
}
