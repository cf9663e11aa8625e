import { isMediaType } from '../../files/names/media-type.js';
import type { FileClaims } from '../../ports/file.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import type { NestedPlace } from '../cut/nested-places.js';

/** Types of MCP's blocks whose `data` is base64. */
const BLOCKS: ReadonlySet<unknown> = new Set(['image', 'audio']);

/** Top-level types of RFC 6838. Any other text with a slash is more likely a path. */
const TOP_LEVEL = /^(?:application|audio|font|image|model|text|video)\//i;

/** `mimeType`, `media_type`, `Content-Type`, `format` … */
const TYPE_KEY = /type|mime|format/i;

/** A longer text is not a media type, and is not searched. */
const MAX_TYPE = 256;

/** Members in which a writer gives a file's name. */
const NAMES = ['name', 'filename', 'fileName'];

/**
 * What the object around a string says of it as a file: it is the `data` of an image or audio block, the `blob` of a
 * resource, or beside a media type. Undefined for any other string, which may be base64 by chance.
 */
export function markedAs({ holder, key }: NestedPlace): FileClaims | undefined {
  // MCP's resources have their text beside a media type
  if (Array.isArray(holder) || key === 'text') return undefined;
  const mimeType = mediaTypeIn(holder);
  const isBlock = isBlockData(holder, key);
  const isResource = isResourceBlob(holder, key);
  if (mimeType === undefined && !isBlock && !isResource) return undefined;
  return {
    ...(mimeType !== undefined && { mimeType }),
    ...namedAs({ holder, key }),
    ...(isResource && { uri: String(holder.uri) }),
  };
}

/** The name that stands beside a string which is a file. */
export function namedAs({ holder, key }: NestedPlace): Pick<FileClaims, 'name'> {
  if (Array.isArray(holder)) return {};
  const names = NAMES.filter((member) => member !== key).map((member) => holder[member]);
  const name = names.find((value) => typeof value === 'string');
  return typeof name === 'string' ? { name } : {};
}

/**
 * Makes the test whether `markedAs` says something of a place. It reads each object once, however many strings are in
 * it.
 */
export function createMarks(): (place: NestedPlace) => boolean {
  const typed = new Map<JsonObject, boolean>();
  return ({ holder, key }) => {
    if (Array.isArray(holder) || key === 'text') return false;
    if (isBlockData(holder, key) || isResourceBlob(holder, key)) return true;
    const known = typed.get(holder) ?? mediaTypeIn(holder) !== undefined;
    typed.set(holder, known);
    return known;
  };
}

function isBlockData(holder: JsonObject, key: string | number): boolean {
  return key === 'data' && BLOCKS.has(holder.type);
}

function isResourceBlob(holder: JsonObject, key: string | number): boolean {
  return key === 'blob' && typeof holder.uri === 'string';
}

/** The media type among an object's members: that of a member named after it, otherwise the first. */
function mediaTypeIn(holder: JsonObject): string | undefined {
  const found = Object.entries(holder).filter((member): member is [string, string] => isType(member[1]));
  return (found.find(([key]) => TYPE_KEY.test(key)) ?? found[0])?.[1];
}

function isType(value: JsonValue): boolean {
  return typeof value === 'string' && value.length <= MAX_TYPE && TOP_LEVEL.test(value) && isMediaType(value);
}
