import { encodingFacts } from '../../../gateway/encodings.js';
import { isObject, valueAt } from '../../../gateway/json/value.js';
import { mostText } from '../../../gateway/policy/amounts.js';
import { filledText, sentence } from '../../../gateway/policy/file-words.js';
import type { JsonObject, JsonPatch, JsonPath, JsonValue, ShownSlot } from '../../../gateway/ports/dialect.js';
import type { FileSlot } from '../../../gateway/ports/file-slot.js';
import { UNIONS } from '../../../gateway/schema/walk.js';
import { takesInline } from '../common/transfer-modes.js';
import { readArgument } from './argument.js';

/**
 * Keywords about the base64 as a text, which would refuse a handle. They may also stand around the branch of a union that is
 * the file. `x-mcp-header` would put megabytes into a header.
 */
const OF_A_TEXT = [
  'contentEncoding',
  'contentMediaType',
  'pattern',
  'format',
  'minLength',
  'maxLength',
  'x-mcp-header',
];

/** All that would refuse a handle at the file's own place. */
const OF_THE_ENCODING = [
  ...OF_A_TEXT,
  'items',
  'minItems',
  'maxItems',
  'properties',
  'required',
  'additionalProperties',
  // what else may restrict a text
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
];

/** Values for a model to copy: of a file they are base64, which it would then type. */
const EXAMPLES = ['examples', 'example', 'default'];

/**
 * Shows every file argument as a string whose description says what to put there: descriptions are what all clients
 * show.
 */
export function showTool(tool: JsonObject, slots: readonly ShownSlot[]): JsonPatch[] {
  return slots.flatMap((shown) => {
    const { slot, at, schema } = shown;
    const patches = [...showCompanions(tool, shown), ...withoutAround(tool, at)];
    const { type } = schema;
    const isString = type === 'string' || (Array.isArray(type) && type.includes('string'));
    if (!isString) patches.push({ path: [...at, 'type'], value: 'string' });
    for (const key of OF_THE_ENCODING) {
      // without an encoding, it describes the file itself
      if (key === 'contentMediaType' && schema.contentEncoding === undefined) continue;
      if (schema[key] !== undefined) patches.push({ path: [...at, key], value: undefined });
    }
    for (const patch of takesText(slot) ? [] : withoutExamples(tool, at, slot)) patches.push(patch);
    const described = typeof schema.description === 'string' ? withoutHowTo(schema.description) : '';
    const said = described === '' ? [] : [sentence(described)];
    const text = [...said, ...(slot.purpose ? [sentence(slot.purpose)] : []), howTo(shown)];
    patches.push({ path: [...at, 'description'], value: text.join(' ') });
    return patches;
  });
}

/** True where the text of a file may be typed as it is. */
function takesText({ deliveries }: FileSlot): boolean {
  return deliveries.some((delivery) => delivery.kind === 'encoded' && encodingFacts(delivery.encoding).isPlainText);
}

/** A default that is empty stays: it says that the argument may be left out. */
function withoutExamples(tool: JsonObject, at: JsonPath, slot: FileSlot): JsonPatch[] {
  const places = at.at(-1) === 'items' ? [at, at.slice(0, -1)] : [at];
  return places.flatMap((path) => {
    const schema = valueAt(tool, path);
    if (!isObject(schema)) return [];
    const shown = EXAMPLES.filter(
      (key) => schema[key] !== undefined && (key !== 'default' || isFile(schema[key], slot)),
    );
    return shown.map((key) => ({ path: [...path, key], value: undefined }));
  });
}

/** A value, or one of a list, that a call would give as a file's bytes. */
function isFile(value: JsonValue | undefined, slot: FileSlot): boolean {
  return [value].flat().some((one) => {
    const kind = typeof one === 'string' ? readArgument(one, slot)?.kind : undefined;
    return kind === 'base64' || kind === 'dataUri';
  });
}

/** The schemas of the same value, of which the slot's is one branch, say nothing about its encoding. */
function withoutAround(tool: JsonObject, at: JsonPath): JsonPatch[] {
  const patches: JsonPatch[] = [];
  for (let path = unionAround(at); path; path = unionAround(path)) {
    const schema = valueAt(tool, path);
    if (!isObject(schema)) continue;
    for (const key of OF_A_TEXT) {
      if (schema[key] !== undefined) patches.push({ path: [...path, key], value: undefined });
    }
  }
  return patches;
}

/** The place of the schema with the union of which another is a branch. */
function unionAround(at: JsonPath): JsonPath | undefined {
  return UNIONS.some((word) => word === at.at(-2)) && typeof at.at(-1) === 'number' ? at.slice(0, -2) : undefined;
}

const COMPANIONS = { name: 'name', mimeType: 'media type', size: 'size in bytes' } as const;

/**
 * Tells the model that it need not guess arguments that are filled from a file. A lifted argument has no such siblings.
 */
function showCompanions(tool: JsonObject, { slot, at }: ShownSlot): JsonPatch[] {
  const key = slot.path.findLast((segment) => segment !== '[]');
  const index = at.findLastIndex((step, position) => step === 'properties' && at[position + 1] === key);
  if (slot.declaredBy !== 'config' || index < 0) return [];
  return (['name', 'mimeType', 'size'] as const).flatMap((kind) => {
    const companion = slot.companions[kind]?.replace(/\[\]$/, '');
    if (companion === undefined) return [];
    const path = [...at.slice(0, index + 1), companion];
    const schema = valueAt(tool, path);
    if (!isObject(schema)) return [];
    const said = typeof schema.description === 'string' ? `${sentence(schema.description)} ` : '';
    const value = `${said}${filledText(COMPANIONS[kind])}`;
    return [{ path: [...path, 'description'], value }];
  });
}

/** A client that does not upload reads the smaller size in the keyword, so each size is given with what it is for. */
function howTo({ slot, maxSize, maxInline, uploadTool }: ShownSlot): string {
  const from = uploadTool === undefined ? "another tool's result" : `${uploadTool} or from another tool's result`;
  const kinds = slot.accept === undefined ? '' : ` of type ${slot.accept.join(', ')}`;
  const most = maxInline < maxSize ? `${DATA_URI}, up to ${mostText(maxInline)}. ` : `${DATA_URI}. `;
  const inline = takesInline(slot) ? most : '';
  return `${A_FILE}${kinds}, at most ${mostText(maxSize)}. ${PASS_HANDLE} ${from}. ${inline}${NO_BASE64}`;
}

const A_FILE = 'A file';
const PASS_HANDLE = 'Pass a file handle (mcp-file://…) from';
const DATA_URI = 'A short data: URI also works';
const NO_BASE64 = 'Do not type base64 yourself.';

/** Without what another Wharf has said of its argument, if that is the server: the limits and tools of this one count. */
function withoutHowTo(description: string): string {
  if (!description.endsWith(NO_BASE64)) return description;
  const pass = description.lastIndexOf(PASS_HANDLE);
  const start = pass < 0 ? -1 : description.lastIndexOf(A_FILE, pass);
  return start < 0 ? description : description.slice(0, start).trim();
}
