import { encodingFacts } from '../../../gateway/encodings.js';
import { isObject, textIn } from '../../../gateway/json/value.js';
import type { ArgumentReading, JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { FileSlot } from '../../../gateway/ports/file-slot.js';

/** A model that has no file passes its name. No base64 has a dot. */
const FILE_NAME = /^[^\n/\\]{1,200}\.[a-z][a-z0-9]{1,4}$/i;
const HANDLE = /^mcp-file:/i;
const DATA_URI = /^data:/i;
const WEB = /^https?:/i;
/** A letter alone is a drive of Windows. */
const SCHEME = /^[a-z][a-z0-9+.-]+:/i;
/** Schemes with another article than their first letter has: those that are spelled letter by letter, most of them. */
const AN = /^(?:[aeio]|(?:ftps?|hdfs|ldaps?|nfs|rsync|rtmp|rtsp|s3[an]?|sftp|smb|ssh|svn):)/i;
/** A path on the model's own machine. */
const LOCAL_PATH =
  /^[a-z]:[/\\]|^(?:\.{0,2}\/|~\/)(?:[\w .@+-]+[/\\])*[\w .@+-]*\.[a-z0-9]{1,8}$|^\/(?:tmp|etc|home|usr|var|mnt|root|opt|data|users|private|proc|dev)\//i;
/** How many items are checked to decide whether a list contains files. */
const MAX_LISTED = 100;
/** `[name](mcp-file://…)` */
const MARKDOWN_LINK = /^\[[^\]]*\]\(\s*(\S+?)\s*\)$/;
/** The line of a result's text that names the handle. */
const LABELLED = /^handle:\s{0,9}(mcp-file:\S+)(?:\s|$)/i;
/** A handle without its beginning. */
const BARE_ID = /^f_[A-Za-z0-9_-]{22}$/;
/** Handles and links are short; only a short string is worth unwrapping. */
const MAX_WRAPPED = 4096;
/** Shorter than this, unpadded or url-safe base64 cannot be told from a word. */
const MIN_LOOSE_BASE64 = 64;

/** The beginning of a handle, of an address of a refused kind, or of a data: URI. */
const MAY_BE_FILE = /mcp-file:|^\s*["'<(]?(?:data|file|javascript):/i;
/** The two parts of a Wharf link; as one pattern, `http:http:http:…` would take quadratic time. */
const IN_LINK = [/https?:/i, /\/(?:d\/|f_)/i] as const;

/** A cheap test, by the beginning of a string. */
export function mayHoldFile(value: JsonValue): boolean {
  if (typeof value !== 'string') return false;
  const head = value.slice(0, MAX_WRAPPED);
  return MAY_BE_FILE.test(head) || IN_LINK.every((part) => part.test(head));
}

/**
 * Reads what any client may write: a handle, a link of Wharf's, a data: URI, base64, or a block copied from a result.
 */
export function readArgument(value: JsonValue, slot: FileSlot): ArgumentReading | undefined {
  if (typeof value === 'string') return readString(unwrapped(value), slot);
  if (Array.isArray(value)) return readList(value, slot);
  return isObject(value) ? (readBlock(value) ?? readContent(value, slot)) : undefined;
}

/** Files in a list where one file is expected: the server would get their handles. Any other list is the tool's own. */
function readList(list: readonly JsonValue[], slot: FileSlot): ArgumentReading | undefined {
  const files = list.slice(0, MAX_LISTED).map((item) => (Array.isArray(item) ? undefined : readArgument(item, slot)));
  if (!files.some((file) => file?.kind === 'handle' || file?.kind === 'dataUri' || file?.kind === 'link')) {
    return undefined;
  }
  const text = `is a list of ${list.length}, and takes one file; pass one file handle`;
  return { kind: 'invalid', reason: 'malformedUri', text };
}

function readString(text: string, slot: FileSlot): ArgumentReading | undefined {
  if (HANDLE.test(text)) return { kind: 'handle', uri: text };
  if (DATA_URI.test(text)) return { kind: 'dataUri', text, claims: {} };
  const encodings = slot.deliveries.map((delivery) => (delivery.kind === 'encoded' ? delivery.encoding : undefined));
  if (text === '' || encodings.some((encoding) => encoding && encodingFacts(encoding).isPlainText)) {
    // a link of Wharf's is a file; any other address is between the caller and the tool
    return WEB.test(text) && /\/(?:d\/|f_)/.test(text) ? { kind: 'link', url: text } : undefined;
  }
  if (WEB.test(text)) return { kind: 'link', url: text };
  const scheme = SCHEME.exec(text)?.[0];
  if (scheme !== undefined || LOCAL_PATH.test(text.slice(0, MAX_WRAPPED))) {
    const what =
      scheme === undefined
        ? 'a path, which only your own computer can read'
        : `${AN.test(scheme) ? 'an' : 'a'} ${scheme} address, which is not followed here`;
    return { kind: 'invalid', reason: 'schemeNotAllowed', text: `is ${what}; upload the file and pass its handle` };
  }
  if (FILE_NAME.test(text.slice(0, MAX_WRAPPED))) {
    const words = 'is the name of a file, and its bytes are needed; upload the file and pass its handle';
    return { kind: 'invalid', reason: 'malformedUri', text: words };
  }
  if (encodings.includes('hex') && /^(?:[0-9a-f]{2})+$/i.test(text)) return undefined;
  if (BARE_ID.test(text)) return { kind: 'handle', uri: text };
  // `base64` and most editors end a text with a line break
  const { length } = text.slice(0, MAX_WRAPPED).trim();
  const isLoose = length === 0 || length % 4 !== 0 || /[-_]/.test(text);
  if (isLoose && length < MIN_LOOSE_BASE64 && !encodings.includes('base64url')) {
    return { kind: 'invalid', reason: 'malformedUri', text: 'is neither a file handle, nor a data: URI, nor base64' };
  }
  return { kind: 'base64', text, claims: {} };
}

/** A `resource_link`, or a resource list's entry, copied whole. */
function readBlock(block: JsonObject): ArgumentReading | undefined {
  const { uri } = block;
  if (typeof uri !== 'string') return undefined;
  if (HANDLE.test(uri)) return { kind: 'handle', uri };
  return block.type === 'resource_link' && WEB.test(uri) ? { kind: 'link', url: uri } : undefined;
}

/** A small image or resource of a result, copied whole: it has no handle. Tools that take objects accept these too. */
function readContent(block: JsonObject, slot: FileSlot): ArgumentReading | undefined {
  if (slot.deliveries.some((delivery) => delivery.kind === 'encoded' && delivery.encoding === 'object'))
    return undefined;
  const { type, resource } = block;
  const holder = type === 'resource' && isObject(resource) ? resource : block;
  const mimeType = textIn(holder, 'mimeType');
  const claims = mimeType === undefined ? {} : { mimeType };
  const isMedia = type === 'image' || type === 'audio';
  if (!isMedia && holder === block) return undefined;
  const base64 = isMedia ? textIn(block, 'data') : textIn(holder, 'blob');
  if (base64 !== undefined) return { kind: 'base64', text: base64, claims };
  const text = isMedia ? undefined : textIn(holder, 'text');
  return text === undefined ? undefined : { kind: 'text', text, claims };
}

function handleIn(json: string): string | undefined {
  try {
    const block = JSON.parse(json) as JsonValue;
    return isObject(block) && typeof block.uri === 'string' && HANDLE.test(block.uri) ? block.uri : undefined;
  } catch {
    return undefined;
  }
}

/** Models put quotes, brackets or links around what they copy, and write objects as text where text is expected. */
function unwrapped(text: string): string {
  if (text.length > MAX_WRAPPED) return text;
  const trimmed = text.trim();
  if (trimmed.startsWith('{')) return handleIn(trimmed) ?? text;
  const inner =
    (MARKDOWN_LINK.exec(trimmed) ?? LABELLED.exec(trimmed))?.[1] ??
    /^(["'`<])(.*)["'`>]$/s.exec(trimmed)?.[2] ??
    trimmed;
  return HANDLE.test(inner) || WEB.test(inner) || DATA_URI.test(inner) ? inner : text;
}
