import type { JsonObject, JsonValue } from '../ports/json.js';
import { type Argument, textOf } from './argument.js';
import { joined, wordsOf } from './words.js';

type CompanionKind = 'name' | 'mimeType' | 'size';
type Companions = Partial<Record<CompanionKind, string>>;

const NAMES: Record<CompanionKind, ReadonlySet<string>> = {
  name: new Set(['filename', 'originalfilename', 'originalname', 'name', 'fname']),
  mimeType: new Set(['mimetype', 'mime', 'contenttype', 'mediatype', 'filemimetype', 'filecontenttype']),
  size: new Set([
    'size',
    'filesize',
    'sizebyte',
    'sizebytes',
    'bytesize',
    'contentlength',
    'filesizebytes',
    'sizeinbytes',
  ]),
};

const ENCODING_WORDS = /^(base64|b64|data|content|bytes|hex|uri|raw|string|encoded|in|as)$/;

/**
 * The fact that an argument called `name` holds about the file in the one called `of`: `image_name` of `image_base64`.
 * A list of values that are not media types, such as `text` and `html`, takes none.
 */
export function companionKind(name: string, of: string, schema: JsonObject): CompanionKind | undefined {
  const words = joined(name);
  const stem = wordsOf(of)
    .filter((word) => !ENCODING_WORDS.test(word))
    .join('');
  const rest = stem !== '' && words.startsWith(stem) ? words.slice(stem.length) : words;
  for (const kind of ['name', 'mimeType', 'size'] as const) {
    if (!NAMES[kind].has(words) && !NAMES[kind].has(rest)) continue;
    return kind === 'mimeType' && !valuesOf(schema).every(isMediaType) ? undefined : kind;
  }
  return undefined;
}

/** True when a schema for a media type names only types of text, which needs no base64. */
export function isForText(schema: JsonObject): boolean {
  const listed = valuesOf(schema).map(textOf);
  const types = listed.length > 0 ? listed : (textOf(schema.description).match(/\b[a-z]+\/[\w.+-]+/g) ?? []);
  return types.length > 0 && types.every((type) => /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml|yaml)$/.test(type));
}

/** The values that a schema lists; empty when it allows others. */
function valuesOf({ enum: values, const: fixed }: JsonObject): readonly JsonValue[] {
  if (Array.isArray(values)) return values;
  return fixed === undefined ? [] : [fixed];
}

function isMediaType(value: JsonValue): value is string {
  return typeof value === 'string' && /^[\w.+-]+\/[\w.+*-]+$/.test(value);
}

/**
 * The siblings that a file can fill.
 * @param isAlone whether it is the only file there; otherwise only siblings with its own name count
 */
export function companionsOf(argument: Argument, isAlone: boolean): Companions {
  const found: Companions = {};
  const items = argument.path.at(-1) === '[]' ? '[]' : '';
  for (const [name, schema] of Object.entries(argument.siblings)) {
    const kind = companionKind(name, argument.name, schema);
    if (kind === undefined || found[kind] !== undefined) continue;
    if (!isAlone && !bearsStem(name, argument.name)) continue;
    if (!holds(schema, kind, items !== '') || !speaksOfFile(name, schema, argument)) continue;
    found[kind] = name + items;
  }
  return found;
}

/** The media types that a sibling lists, which are those the tool accepts. */
export function acceptedTypes(argument: Argument, companions: Companions): string[] | undefined {
  const { mimeType } = companions;
  const own = textOf(argument.schema.contentMediaType);
  if (/^[\w.+-]+\/[\w.+-]+$/.test(own)) return [own];
  const values = mimeType === undefined ? undefined : argument.siblings[mimeType]?.enum;
  if (!Array.isArray(values) || values.length === 0) return undefined;
  const types = values.filter(isMediaType);
  return types.length === values.length ? types : undefined;
}

function bearsStem(name: string, of: string): boolean {
  const stem = wordsOf(of)
    .filter((word) => !ENCODING_WORDS.test(word))
    .join('');
  return stem !== '' && joined(name).startsWith(stem);
}

function holds(schema: JsonObject, kind: CompanionKind, inList: boolean): boolean {
  const value = inList ? schema.items : schema;
  if (inList && schema.type !== 'array') return false;
  const type = typeof value === 'object' && value !== null && !Array.isArray(value) ? value.type : undefined;
  const types = Array.isArray(type) ? type : [type];
  return kind === 'size' ? types.includes('integer') || types.includes('number') : types.includes('string');
}

/** `name` alone may name anything, and a file name may be that of the tool's output. */
function speaksOfFile(name: string, schema: JsonObject, argument: Argument): boolean {
  const said = textOf(schema.description);
  if (/\b(?:output|result\w*|destination|save|saved|new)\b/i.test(said)) return false;
  return joined(name) !== 'name' || argument.path.length > 1 || /\bfile/i.test(said);
}
