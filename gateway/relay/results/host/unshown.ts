import { hasLateSize, longestEdge } from '../../../files/names/picture-size.js';
import { pictureType } from '../../../files/names/picture-type.js';
import { isObject } from '../../../json/value.js';
import { isTextual } from '../../../policy/accept.js';
import type { FileClaims } from '../../../ports/file.js';
import type { Host, ShownText } from '../../../ports/host.js';
import type { JsonObject } from '../../../ports/json.js';
import { utf8Text } from '../../../wire/utf8.js';
import { headed, tellsEmbedded, textOfBlock } from './embedded-text.js';
import { hasImageRoom } from './image-room.js';
import type { TextRoom } from './text-room.js';

/** What a block holds that a host would not show. */
export type Unshown =
  /**
   * Bytes: they become a file. `isShown`: the block stays behind the text about it, because it may be left out; as `image`, if
   * that is there.
   */
  | { kind: 'bytes'; bytes: Buffer; claims: FileClaims; isShown?: true; image?: ImageData }
  /** An image that its block says in another way than MCP has it, or with another type: model services refuse both. */
  | ({ kind: 'image' } & ImageData)
  /** An embedded text, or bytes that are one. `isAlone`: nothing but texts is shown. */
  | { kind: 'text-resource'; text: string; isAlone: boolean }
  /** A link of the server's, and what is said of it: nothing where that is said already. */
  | { kind: 'link'; text: string; telling: 'before' | 'instead' }
  /** A text longer than the host shows. */
  | { kind: 'long-text'; text: string; bytes: Buffer; claims: FileClaims; limit: ShownText };

/** An image as MCP has it. */
interface ImageData {
  mimeType: string;
  data: string;
}

/** The last chunk of a PNG, and as many characters of base64 as have it, unless others follow: a multiple of four. */
const PNG_END = 'IEND';
const END_LENGTH = 400;

const DATA_URI_HEAD = /^data:[\w.+-]{1,127}\/[\w.+-]{1,127};base64,/i;

/** Characters of base64 that tell the type of an image, and mostly its size. */
const HEAD_LENGTH = 2000;

/** The blanks behind the padding belong to it: after none they would be looked at n times, 3 s for 64 KiB of them. */
const BASE64 = /^[A-Za-z0-9+/\s]*(?:={1,2}\s*)?$/;

interface BytesPlace {
  isError: boolean;
  /** Without room in its result. */
  isBeyond: boolean;
  /** A page that its user is shown. */
  isPage?: boolean;
  /** Of its bytes, only the first are known. */
  isBegun?: boolean;
}

/** The bytes of a block that do not reach the model, or reach it as base64 text. */
export function unshownBytes(
  block: JsonObject,
  host: Host | undefined,
  { isError, isBeyond, isPage = false, isBegun = false }: BytesPlace,
): Unshown | undefined {
  const { type, data, mimeType, resource } = block;
  const isText = isError && host?.errorImages !== 'keep';
  const claims = typeof mimeType === 'string' ? { mimeType } : {};
  if (type === 'image') {
    const { images, imageTypes, imageEdge = Number.POSITIVE_INFINITY } = host ?? {};
    // servers that hand on what a browser gave them send a whole data: URI
    const text = typeof data === 'string' ? data.slice(DATA_URI_HEAD.exec(data)?.[0].length ?? 0) : '';
    const head = Buffer.from(
      headFor(host, (length) => text.slice(0, length)),
      'base64',
    );
    const type = typeIn(head, mimeType);
    const isTaken = type !== undefined && imageTypes?.includes(type) === true;
    const isShown = imageTypes === undefined || (isTaken && (isBegun || !breaksOff(head, text)));
    const fits = (longestEdge(head) ?? 0) <= imageEdge;
    if (images === 'drop' || !isShown || !fits || isText || isBeyond)
      return bytesOf(typeof data === 'string' ? text : data, claims);
    const isOther = imageTypes !== undefined && type !== undefined && (type !== mimeType || text !== data);
    const image = isOther ? { mimeType: type, data: text } : undefined;
    const bytes = images === 'with-text' ? bytesOf(image?.data ?? data, claims) : undefined;
    if (bytes) return { ...bytes, isShown: true, ...(image && { image }) };
    return image && { kind: 'image', ...image };
  }
  if (!isText && (host?.blobs !== 'drop' || isPage)) return undefined;
  if (type === 'audio') return bytesOf(data, claims);
  if (type !== 'resource' || !isObject(resource)) return undefined;
  const found = bytesOf(resource.blob, claimsOf(resource));
  const text = found && isTextual(found.claims.mimeType ?? '') ? utf8Text(found.bytes) : undefined;
  if (text === undefined) return found;
  const isHeaded = !isText && host?.embeddedTexts === 'as-text';
  return { kind: 'text-resource', text: isHeaded ? headed(resource, text) : text, isAlone: isText || isHeaded };
}

/** An embedded text that the model gets only as a text block. */
export function unshownEmbedded(
  { type, resource }: JsonObject,
  host: Host | undefined,
  isError: boolean,
): Unshown | undefined {
  if (!tellsEmbedded(host, isError)) return undefined;
  if (type !== 'resource' || !isObject(resource) || typeof resource.text !== 'string') return undefined;
  return { kind: 'text-resource', text: headed(resource, resource.text), isAlone: true };
}

/** True when the host shows not every image. */
export function choosesImages(host: Host | undefined): boolean {
  const { images, imageTypes, imageEdge } = host ?? {};
  return (
    images === 'drop' ||
    images === 'with-text' ||
    imageTypes !== undefined ||
    imageEdge !== undefined ||
    hasImageRoom(host)
  );
}

/**
 * As much of an image's base64 as tells what matters to the host. A JPEG has its size behind its metadata: a thumbnail of
 * up to 64 KiB, and a colour profile of any length.
 * @param begin the first characters of the base64
 */
export function headFor(host: Host | undefined, begin: (length: number) => string): string {
  const head = begin(HEAD_LENGTH);
  const isEnough = host?.imageEdge === undefined || !hasLateSize(Buffer.from(head, 'base64'));
  return isEnough ? head : begin(Number.POSITIVE_INFINITY);
}

/**
 * The type that an image's first bytes have. HEIC and AVIF are taken at their word.
 * @returns undefined for what is not an image, such as HTML: model services refuse the whole request for it
 */
function typeIn(head: Buffer, said: unknown): string | undefined {
  const found = pictureType(head)?.mime;
  if (found !== undefined) return found;
  return isIsoMedia(head) ? String(said).toLowerCase() : undefined;
}

/** True for a PNG without its end, which a model service refuses too. Mostly the last bytes tell it. */
function breaksOff(head: Buffer, base64: string): boolean {
  if (pictureType(head)?.mime !== 'image/png') return false;
  const end = Buffer.from(base64.slice(-END_LENGTH), 'base64');
  return !end.includes(PNG_END) && !Buffer.from(base64, 'base64').includes(PNG_END);
}

/** True for the beginning of HEIC and AVIF. */
function isIsoMedia(head: Buffer): boolean {
  return head.toString('latin1', 4, 8) === 'ftyp';
}

/** How much text the host shows of a result, if it has a limit. */
export function textLimit(host: Host | undefined, isError: boolean): ShownText | undefined {
  const limit = (isError ? host?.errorText : undefined) ?? host?.text;
  return typeof limit === 'object' ? limit : undefined;
}

/** The limit for the results of a tool that says how long they may be. */
export function limitOfTool(limit: ShownText, longestText: number | undefined): ShownText {
  const { withImages: _, ...raised } = limit;
  const most = Math.min(longestText ?? 0, limit.atMost ?? 0);
  return most > limit.most ? { ...raised, most } : limit;
}

/** A text that is longer than the host shows. */
export function unshownText(block: JsonObject, room: TextRoom | undefined): Unshown | undefined {
  const text = textOfBlock(block);
  const limit = text === undefined ? undefined : room?.limitFor(text);
  if (text === undefined || limit === undefined) return undefined;
  const claims = isObject(block.resource) ? claimsOf(block.resource) : { mimeType: 'text/plain' };
  return { kind: 'long-text', text, bytes: Buffer.from(text), claims, limit };
}

function claimsOf({ mimeType, uri, name }: JsonObject): FileClaims {
  return {
    ...(typeof mimeType === 'string' && { mimeType }),
    ...(typeof uri === 'string' && { uri }),
    ...(typeof name === 'string' && { name }),
  };
}

/** What is not base64 passes, for the client to judge. */
function bytesOf(text: unknown, claims: FileClaims): (Unshown & { kind: 'bytes' }) | undefined {
  if (typeof text !== 'string' || !BASE64.test(text)) return undefined;
  return { kind: 'bytes', bytes: Buffer.from(text, 'base64'), claims };
}
