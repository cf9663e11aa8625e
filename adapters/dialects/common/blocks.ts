import { isObject } from '../../../gateway/json/value.js';
import type { JsonObject, OutgoingFile } from '../../../gateway/ports/dialect.js';

/** A picture's block in a result. */
export function imageBlock({ mimeType, base64 }: { mimeType: string; base64: string }): JsonObject {
  return { type: 'image', data: base64, mimeType };
}

/**
 * The preview of an image, which can stand for it in a prompt message, where there is room for one block only. That of a
 * document is its first page: a reader would take it for the whole.
 */
export function previewAlone({ ref: { mimeType }, preview }: OutgoingFile): JsonObject | undefined {
  return preview?.image && mimeType.startsWith('image/') ? imageBlock(preview.image) : undefined;
}

/** An item of `resources/read` that gives a file's address instead of its bytes. */
export function addressItem({ ref }: OutgoingFile, holder: JsonObject): JsonObject {
  const item: JsonObject = { uri: holder.uri ?? ref.uri, mimeType: 'text/uri-list', text: ref.link.url };
  return holder._meta === undefined ? item : { ...item, _meta: holder._meta };
}

/** Blocks that stand for the file itself. */
const NAMING = new Set<unknown>(['resource_link', 'file']);

/**
 * Keeps the original block's `annotations` and `_meta` on the first block that replaces it, and the `_meta` of the resource in
 * it on the block that names the file, which is a resource too.
 */
export function withExtras(
  [first, ...others]: JsonObject[],
  { annotations, _meta, resource }: JsonObject,
): JsonObject[] {
  if (!first) return [];
  const block = { ...first, ...(annotations !== undefined && { annotations }), ...(_meta !== undefined && { _meta }) };
  const of = isObject(resource) && isObject(resource._meta) ? resource._meta : undefined;
  if (!of) return [block, ...others];
  const at = others.findIndex(({ type }) => NAMING.has(type));
  if (at >= 0) return [block, ...others.with(at, { ...others[at], _meta: of })];
  return [{ ...block, _meta: isObject(_meta) ? { ...of, ..._meta } : of }, ...others];
}
