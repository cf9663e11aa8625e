import type { HostBehaviour } from '../../gateway/ports/host.js';

type Json = Record<string, unknown>;

export interface ToolResult {
  content: Json[];
  structuredContent?: Json;
  isError?: boolean;
}

/** What reaches a model or a user: texts, images, and files as files. */
export interface Seen {
  text: string;
  images: number;
  files: number;
  /** The host has cut text off. */
  isCut: boolean;
}

export const NOTHING: Seen = { text: '', images: 0, files: 0, isCut: false };
export const said = (words: string): Seen => ({ ...NOTHING, text: words });
const text = said;
const IMAGE: Seen = { ...NOTHING, images: 1 };
const FILE: Seen = { ...NOTHING, files: 1 };

/** A result as a host whose source is closed is reported to pass it to the model: kept, dropped, or turned into text. */
export function seenByModel(host: HostBehaviour, result: ToolResult): Seen {
  const { content, structuredContent, isError } = result;
  const blocks = (list: readonly Json[]) => joined(list.map((block) => shownBlock(host, block)));
  const ofTexts = () => joined(content.filter(({ type }) => type === 'text').map((block) => text(String(block.text))));
  const json = structuredContent && text(JSON.stringify(structuredContent));
  const media = content.filter(({ type }) => type !== 'text');
  const withJson = (): Seen => {
    if (!json) return blocks(content);
    switch (host.structured.is) {
      case 'both':
        return joined([blocks(content), json]);
      case 'content':
        return blocks(content);
      case 'without-text':
        return joined([json, blocks(media)]);
      case 'without-content':
        return json;
    }
  };
  if (isError && host.errors.is === 'string') return limited(host, text(JSON.stringify(content)));
  if (isError && host.errors.is === 'text') return limited(host, ofTexts(), host.errorText);
  return limited(host, withJson());
}

/** What its user sees of a result. @param model what the model does, and may repeat */
export function seenByUser(host: HostBehaviour, { content }: ToolResult, model: Seen): Seen {
  const texts = content.filter(({ type }) => type === 'text').map((block) => text(String(block.text)));
  switch (host.user.is) {
    case 'answer':
      return { ...model, images: 0, files: 0 };
    case 'text':
      return joined(texts);
    case 'blocks':
      return joined([...texts, ...content.filter(({ type }) => type === 'image').map(() => IMAGE)]);
  }
}

function shownBlock(host: HostBehaviour, block: Json): Seen {
  const { type, mimeType, resource } = block;
  switch (type) {
    case 'text':
      return text(String(block.text));
    case 'image': {
      const { reach, types } = host.images.is;
      if (reach === 'nothing') return NOTHING;
      if (reach === 'json') return text(JSON.stringify(block));
      return types && !types.includes(String(mimeType)) ? NOTHING : IMAGE;
    }
    case 'resource_link':
      if (host.links.is === 'text') return text(`${block.name} ${block.uri}`);
      return host.links.is === 'json' ? text(JSON.stringify(block)) : NOTHING;
    case 'resource':
      return embedded(host, resource as Json);
    default:
      return NOTHING;
  }
}

function embedded({ blobs }: HostBehaviour, resource: Json): Seen {
  if (typeof resource.text === 'string') return text(resource.text);
  switch (blobs.is) {
    case 'shown':
    case 'unchecked':
      return FILE;
    case 'saved':
      return text('Saved as /tmp/file');
    case 'json':
      return text(JSON.stringify(resource));
    case 'decoded':
      return text(Buffer.from(String(resource.blob), 'base64').toString('utf8'));
    case 'named':
      return text(String(resource.mimeType));
    default:
      return NOTHING;
  }
}

function limited(host: HostBehaviour, seen: Seen, limit = host.text): Seen {
  if (!limit) return seen;
  const { most, unit } = limit.is;
  const length = unit === 'bytes' ? Buffer.byteLength(seen.text) : seen.text.length;
  return length <= most ? seen : { ...seen, text: seen.text.slice(0, most), isCut: true };
}

/** Parts as one. */
export function joined(parts: readonly Seen[]): Seen {
  const texts = parts.map((part) => part.text).filter((one) => one !== '');
  return {
    text: texts.join('\n'),
    images: parts.reduce((sum, { images }) => sum + images, 0),
    files: parts.reduce((sum, { files }) => sum + files, 0),
    isCut: parts.some(({ isCut }) => isCut),
  };
}
