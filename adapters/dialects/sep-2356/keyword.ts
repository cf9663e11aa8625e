import { isObject } from '../../../gateway/json/value.js';
import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';

/** The keyword's present name, which is the one Wharf writes. */
export const KEYWORD = 'x-mcp-file';

/** Its name from 2026-03-26 to 2026-04-28. */
export const OLD_KEYWORD = 'mcpFile';

export const KEYWORDS = [KEYWORD, OLD_KEYWORD] as const;

/** Member of a form that names its fields for files (2026-03-04 to 2026-03-26), as `inputFiles` of a tool does. */
export const FORM_SIDECAR = 'requestedFiles';

/** A file's declaration; the same in the keyword, in `inputFiles` and in `requestedFiles`. */
export interface Descriptor {
  accept?: readonly string[];
  maxSize?: number;
  /** From SEP-2631. */
  transferModes?: readonly JsonValue[];
  /** Sibling that takes the file's name (2026-04-22). */
  filenameProperty?: string;
}

/** A media type, a wildcard such as `image/*`, or an extension. */
const ENTRY = /^(?:[a-z0-9][\w!#$&^.+-]*\/(?:\*|[a-z0-9][\w!#$&^.+-]*)|\.[^\s/*]+)$/i;

/** @returns undefined when it is malformed: then the argument is an ordinary one */
export function readDescriptor(value: JsonValue | undefined): Descriptor | undefined {
  if (!isObject(value)) return undefined;
  const { accept, maxSize, transferModes, filenameProperty } = value;
  if (accept !== undefined && !isListOfTexts(accept)) return undefined;
  if (maxSize !== undefined && !(Number.isSafeInteger(maxSize) && Number(maxSize) > 0)) return undefined;
  return {
    ...(accept !== undefined && accept.length > 0 && { accept }),
    ...(maxSize !== undefined && { maxSize: Number(maxSize) }),
    ...(Array.isArray(transferModes) && { transferModes }),
    ...(typeof filenameProperty === 'string' && { filenameProperty }),
  };
}

/** A declaration for clients: only members of the draft, and none that would say nothing. */
export function descriptorOf(accept: readonly string[] | undefined, maxSize: number): JsonObject {
  const kinds = accept?.map((entry) => (entry.split(';', 1)[0] as string).trim()) ?? [];
  const known = kinds.includes('*/*') ? [] : kinds.filter((entry) => ENTRY.test(entry));
  return { ...(known.length > 0 && { accept: known }), maxSize: Math.max(1, maxSize) };
}

function isListOfTexts(value: JsonValue): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string' && entry !== '');
}
