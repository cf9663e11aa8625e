import { GatewayError } from '../../errors.js';
import { type Duplicate, itemPaths } from '../../json/document.js';
import type { JsonPath } from '../../ports/json.js';
import { pointer } from '../../wire/json/pointer.js';
import { companionPath } from './companions.js';
import { type Call, type FileUse, type Post, splits } from './post.js';

/**
 * Reads the body once, for all changes. A body without changes passes unchanged.
 * @throws GatewayError `request_invalid` when it repeats a key on the way to a change
 */
export function findPlaces(post: Post): Post | Promise<Post> {
  const { edits, calls, document, messages } = post;
  const isSplit = splits(post);
  if (edits.isEmpty && calls.length === 0 && !isSplit) return post;
  const edited = edits.paths();
  const ways = calls.flatMap((call) => call.uses.flatMap((use) => waysTo(call, use)));
  const found = document.findInSteps([...edited, ...ways, ...(isSplit ? itemPaths(messages.count) : [])]);
  const checked = ({ duplicates }: Post['document']): Post => {
    if (duplicates.length > 0) refuseDuplicates(duplicates, edited);
    return post;
  };
  return found instanceof Promise ? found.then(checked) : checked(found);
}

/** JSON parsers differ on which of two equal keys counts: the server could read another file than was checked. */
function refuseDuplicates(duplicates: readonly Duplicate[], edited: readonly JsonPath[]): void {
  const pointers = new Set(edited.map(pointer));
  const own = duplicates.find(({ path, key }) => pointers.has(path + pointer([key])));
  const { path, key } = own ?? (duplicates[0] as Duplicate);
  const twice = `the object at ${path || 'the top'} names "${key}" twice`;
  if (own) throw new GatewayError('request_invalid', { reason: twice });
  throw new GatewayError('request_invalid', { reason: `${twice}, so the file in it is ambiguous`, path, key });
}

/** Every place that one value may need: each object above it, and its companions. */
function waysTo({ base }: Call, { slot, path }: FileUse): JsonPath[] {
  const full = [...base, ...path];
  const above = full.map((_, length) => full.slice(0, length + 1));
  const { name, mimeType, size } = slot.companions;
  const beside = [name, mimeType, size].filter((companion) => companion !== undefined);
  return [...above, ...beside.map((companion) => [...base, ...companionPath(companion, path)])];
}
