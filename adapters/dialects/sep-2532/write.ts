import { eraOf } from '../../../gateway/mcp/era.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, OutgoingFile, SlotPlace } from '../../../gateway/ports/dialect.js';
import { addressItem, imageBlock, previewAlone, withExtras } from '../common/blocks.js';
import { factLines, linkLines, previewLines } from '../common/words.js';

/**
 * A file for a client that streams: text with its facts, a preview, and a `resource_link` to its handle, which
 * `resources/stream` answers with the bytes. A resource becomes what every client understands: its address.
 */
export function write(place: SlotPlace, file: OutgoingFile, holder: JsonObject, client: ClientFacts): JsonObject[] {
  const shown = file.preview?.image;
  const image = shown && imageBlock(shown);
  const link = eraOf(client.protocolVersion).hasResourceLinks ? linkBlock(file) : undefined;
  switch (place.kind) {
    case 'content':
      return withExtras([textBlock(file, client), ...(image ? [image] : []), ...(link ? [link] : [])], holder);
    case 'prompt':
      return withExtras([previewAlone(file) ?? link ?? textBlock(file, client)], holder);
    case 'resource':
      return [addressItem(file, holder)];
  }
}

function textBlock(file: OutgoingFile, client: ClientFacts): JsonObject {
  const resource = `Resource: ${file.ref.uri} (resources/stream gives its bytes)`;
  const lines = [...factLines(file), resource, ...linkLines(file, client), ...previewLines(file)];
  return { type: 'text', text: lines.join('\n') };
}

function linkBlock({ ref }: OutgoingFile): JsonObject {
  const { uri, name, mimeType, size } = ref;
  return { type: 'resource_link', uri, name, mimeType, size, streamable: true };
}
