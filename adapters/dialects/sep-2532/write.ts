import { eraOf } from '../../../gateway/mcp/era.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, JsonValue, OutgoingFile, SlotPlace } from '../../../gateway/ports/dialect.js';
import { factLines, linkLines, previewLines } from '../common/words.js';

/**
 * A file for a client that streams: text with its facts, a preview, and a `resource_link` to its handle, which
 * `resources/stream` answers with the bytes. A resource becomes what every client understands: its address.
 */
export function write(place: SlotPlace, file: OutgoingFile, holder: JsonObject, client: ClientFacts): JsonObject[] {
  const { ref, preview } = file;
  const shown = preview?.image;
  const image = shown && { type: 'image', data: shown.base64, mimeType: shown.mimeType };
  const link = eraOf(client.protocolVersion).hasResourceLinks ? linkBlock(file) : undefined;
  switch (place.kind) {
    case 'content':
      return withExtras([textBlock(file, client), ...(image ? [image] : []), ...(link ? [link] : [])], holder);
    case 'prompt':
      return withExtras([image ?? link ?? textBlock(file, client)], holder);
    case 'resource': {
      const item: JsonObject = { uri: holder.uri ?? ref.uri, mimeType: 'text/uri-list', text: ref.link.url };
      return [holder._meta === undefined ? item : { ...item, _meta: holder._meta }];
    }
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

/** Keeps the block's other members on the first block that replaces it. */
function withExtras(blocks: JsonObject[], holder: JsonObject): JsonObject[] {
  const [first] = blocks;
  for (const key of ['annotations', '_meta'] as const) {
    const extra: JsonValue | undefined = holder[key];
    if (first && extra !== undefined) first[key] = extra;
  }
  return blocks;
}
