import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, OutgoingFile, SlotPlace } from '../../../gateway/ports/dialect.js';
import { imageBlock, previewAlone, withExtras } from '../common/blocks.js';
import { factLines, previewLines } from '../common/words.js';
import { downloads, readsFileValues } from './capability.js';
import { fileValue } from './file-value.js';

/** What replaces a file for a client that fetches files by their handles. */
export function write(place: SlotPlace, file: OutgoingFile, holder: JsonObject): JsonObject[] {
  switch (place.kind) {
    case 'content':
      return withExtras([textBlock(file), ...preview(file), fileBlock(file)], holder);
    case 'prompt':
      return withExtras([previewAlone(file) ?? fileBlock(file)], holder);
    case 'resource':
      return [resourceItem(file, holder)];
  }
}

/**
 * Some clients cannot declare their dialect because their MCP library refuses unknown blocks. They find the handles in
 * structuredContent.
 */
export function structure(files: readonly OutgoingFile[], client: ClientFacts): JsonObject | undefined {
  if (downloads(client) || !readsFileValues(client)) return undefined;
  return { files: files.map(({ ref }) => fileValue(ref)) };
}

/**
 * The model's own reference to the file, since the host decides how it shows the file. It has no link, because a link
 * is a credential.
 */
function textBlock(file: OutgoingFile): JsonObject {
  const lines = [...factLines(file), `Handle: ${file.ref.uri}`, ...previewLines(file)];
  return { type: 'text', text: lines.join('\n') };
}

function fileBlock({ ref }: OutgoingFile): JsonObject {
  return { type: 'file', file: fileValue(ref) };
}

function preview(file: OutgoingFile): JsonObject[] {
  const image = file.preview?.image;
  return image ? [imageBlock(image)] : [];
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
