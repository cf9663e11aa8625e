import type { JsonObject, OutgoingFile } from '../../../gateway/ports/dialect.js';

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

/** Keeps the original block's `annotations` and `_meta` on the first block that replaces it. */
export function withExtras([first, ...others]: JsonObject[], { annotations, _meta }: JsonObject): JsonObject[] {
  if (!first) return [];
  const extras = { ...(annotations !== undefined && { annotations }), ...(_meta !== undefined && { _meta }) };
  return [{ ...first, ...extras }, ...others];
}
