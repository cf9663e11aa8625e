import { eraOf } from '../../../gateway/mcp/era.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, OutgoingFile, SlotPlace } from '../../../gateway/ports/dialect.js';
import { addressItem, imageBlock, previewAlone, withExtras } from '../common/blocks.js';
import { factLines, handleLines, linkLines, previewLines } from '../common/words.js';

/** What replaces a file for a client that declared no dialect. */
export function write(place: SlotPlace, file: OutgoingFile, holder: JsonObject, client: ClientFacts): JsonObject[] {
  switch (place.kind) {
    case 'content':
      return withExtras(contentBlocks(file, client), holder);
    case 'prompt':
      return withExtras([promptBlock(file, client)], holder);
    case 'resource':
      return resourceItems(file, holder);
  }
}

/** Text first, then the image, then the link: models read in order, and some hosts drop everything but text. */
function contentBlocks(file: OutgoingFile, client: ClientFacts): JsonObject[] {
  const blocks: JsonObject[] = [textBlock(file, client)];
  if (file.preview?.image) blocks.push(imageBlock(file.preview.image));
  if (hasResourceLink(file, client)) blocks.push(linkBlock(file));
  return blocks;
}

function promptBlock(file: OutgoingFile, client: ClientFacts): JsonObject {
  return previewAlone(file) ?? (hasResourceLink(file, client) ? linkBlock(file) : textBlock(file, client));
}

/** The address, behind the preview of an image where the host is shown that. */
function resourceItems(file: OutgoingFile, holder: JsonObject): JsonObject[] {
  const address = addressItem(file, holder);
  const image = file.preview?.image;
  return image ? [{ uri: address.uri ?? '', mimeType: image.mimeType, blob: image.base64 }, address] : [address];
}

function textBlock(file: OutgoingFile, client: ClientFacts): JsonObject {
  return {
    type: 'text',
    text: [...factLines(file), ...linkLines(file, client), ...handleLines(file), ...previewLines(file, client)].join(
      '\n',
    ),
  };
}

function linkBlock({ ref: { url, name, mimeType, size } }: OutgoingFile): JsonObject {
  return { type: 'resource_link', uri: url, name, mimeType, size };
}

function hasResourceLink({ ref: { mimeType } }: OutgoingFile, { host, protocolVersion }: ClientFacts): boolean {
  if (host?.resourceLinks === 'drop' || host?.resourceLinks === 'as-text') return false;
  // VS Code reads each link at once, and would show its model the image twice, or as text
  if (host?.resourceLinks === 'no-images' && mimeType.startsWith('image/')) return false;
  return eraOf(protocolVersion).hasResourceLinks;
}
