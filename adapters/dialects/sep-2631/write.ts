import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, OutgoingFile, SlotPlace } from '../../../gateway/ports/dialect.js';
import { fileLine, previewLines } from '../common/words.js';
import { downloads, readsFileValues } from './capability.js';
import { fileValue } from './file-value.js';

/** What a client that fetches files by their handles gets in the place of a file. */
export function write(place: SlotPlace, file: OutgoingFile, holder: JsonObject): JsonObject[] {
  switch (place.kind) {
    case 'content':
      return withExtras([textBlock(file), ...preview(file), fileBlock(file)], holder);
    case 'prompt':
      // there is room for one block, and what is to be seen is seen
      return withExtras([preview(file)[0] ?? fileBlock(file)], holder);
    case 'resource':
      return [resourceItem(file, holder)];
  }
}

/**
 * Clients whose MCP library refuses blocks it does not know cannot declare what they speak, and find the handles in
 * structuredContent.
 */
export function structure(files: readonly OutgoingFile[], client: ClientFacts): JsonObject | undefined {
  if (downloads(client) || !readsFileValues(client)) return undefined;
  return { files: files.map(({ ref }) => fileValue(ref)) };
}

/** The model's own reference: its host shows it what it makes of the file. No link, which is a right in itself. */
function textBlock(file: OutgoingFile): JsonObject {
  const lines = [fileLine(file), `Handle: ${file.ref.uri}`, ...previewLines(file.preview)];
  return { type: 'text', text: lines.join('\n') };
}

function fileBlock({ ref }: OutgoingFile): JsonObject {
  return { type: 'file', file: fileValue(ref) };
}

function preview({ preview: image }: OutgoingFile): JsonObject[] {
  return image ? [{ type: 'image', data: image.base64, mimeType: image.mimeType }] : [];
}

/** `FileResourceContents` */
function resourceItem({ ref }: OutgoingFile, holder: JsonObject): JsonObject {
  return {
    uri: holder.uri ?? ref.uri,
    mimeType: ref.mimeType,
    content: { uri: ref.uri },
    ...(holder._meta !== undefined && { _meta: holder._meta }),
  };
}

/** The original block's `annotations` and `_meta` live on, on the first block that replaces it. */
function withExtras([first = {}, ...others]: JsonObject[], { annotations, _meta }: JsonObject): JsonObject[] {
  return [
    { ...first, ...(annotations !== undefined && { annotations }), ...(_meta !== undefined && { _meta }) },
    ...others,
  ];
}
