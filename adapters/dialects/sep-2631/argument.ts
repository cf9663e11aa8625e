import { isObject, textIn } from '../../../gateway/json/value.js';
import type { ArgumentReading, JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { FileClaims } from '../../../gateway/ports/file.js';
import type { FileSlot } from '../../../gateway/ports/file-slot.js';

/** Origins of a file in older revisions. */
const SOURCES = ['upload', 'generated'];

/**
 * A link of Wharf's: in objects of results it stands for the handle, for clients that know no handles. Any other address is
 * between the caller and the tool.
 */
const OWN_LINK = /^https?:\S*\/(?:d\/|f_)/i;

/** A cheap test, by a member that each file has. */
export function mayHoldFile(value: JsonValue): boolean {
  return isObject(value) && value.type === 'file';
}

/**
 * Reads objects: a FileValue, a `type: "file"` block copied from a result, and the object inputs of the oldest
 * revisions. The current revision's inputs are URI strings, which every client may write. Base64 is a file as well: another
 * Wharf declares the arguments so in which the server behind it takes base64, and programs go on to send that.
 */
export function readArgument(value: JsonValue, slot: FileSlot): ArgumentReading | undefined {
  if (!isObject(value)) return undefined;
  if (value.type === 'file') return readBlock(value);
  const uri = textIn(value, 'uri');
  if (uri === undefined) return undefined;
  if (/^mcp-file:/i.test(uri)) return { kind: 'handle', uri };
  return OWN_LINK.test(uri) && !takesObjects(slot) ? { kind: 'link', url: uri } : undefined;
}

function takesObjects({ deliveries }: FileSlot): boolean {
  return deliveries.some((delivery) => delivery.kind === 'encoded' && delivery.encoding === 'object');
}

function readBlock(block: JsonObject): ArgumentReading {
  const inner = isObject(block.file) ? block.file : block;
  const uri = textIn(inner, 'uri');
  if (uri !== undefined) return byUri(uri, inner);
  const { content } = inner;
  if (!isObject(content)) return invalid('is a file object without a URI and without content');
  const text = textIn(content, 'text');
  if (text !== undefined) return { kind: 'text', text, claims: claimsOf(inner) };
  const blob = textIn(content, 'blob');
  if (blob !== undefined) return { kind: 'base64', text: blob, claims: claimsOf(inner) };
  const wrapped = isObject(content.file) ? content.file : undefined;
  if (!wrapped) {
    const address = textIn(content, 'uri');
    return address === undefined ? invalid('is a file object whose content is empty') : byUri(address, inner);
  }
  const address = textIn(wrapped, 'uri');
  const { type, source } = wrapped;
  if (type !== 'file' || typeof source !== 'string' || !SOURCES.includes(source) || address === undefined) {
    return invalid(
      `is a file object whose content.file needs type "file", a uri, and a source of ${SOURCES.join(', ')}`,
    );
  }
  return byUri(address, inner);
}

function byUri(uri: string, about: JsonObject): ArgumentReading {
  if (/^data:/i.test(uri)) return { kind: 'dataUri', text: uri, claims: claimsOf(about) };
  if (/^mcp-file:/i.test(uri)) return { kind: 'handle', uri };
  if (/^https?:/i.test(uri)) return { kind: 'link', url: uri };
  return { kind: 'invalid', reason: 'schemeNotAllowed', text: 'is a file object whose URI is not a file handle' };
}

function claimsOf(about: JsonObject): FileClaims {
  const name = textIn(about, 'name');
  const mimeType = textIn(about, 'mimeType');
  return { ...(name !== undefined && { name }), ...(mimeType !== undefined && { mimeType }) };
}

function invalid(text: string): ArgumentReading {
  return { kind: 'invalid', reason: 'malformedUri', text };
}
