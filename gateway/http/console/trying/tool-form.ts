import { createHash } from 'node:crypto';
import { prettyJson } from '../../../json/pretty.js';
import { isObject, textIn } from '../../../json/value.js';
import type { JsonObject, JsonValue } from '../../../ports/json.js';
import { argumentOf, EACH, joinPath } from '../../../schema/argument-path.js';
import { placeOf } from '../../../schema/place.js';
import { isSpecial } from '../../../schema/segments.js';
import type { TriedTool } from './trials.js';

/** Most arguments that have a field of their own; the others are written as JSON. */
const MAX_FIELDS = 60;

/** Most values of a choice: a longer list is written as text. */
const MAX_CHOICES = 200;

/** Characters of a label, of a description, and of a default. */
const MAX_LABEL = 100;
const MAX_ABOUT = 600;
const MAX_DEFAULT = 10_000;

/** How the description of a file argument ends for clients that know nothing of files. */
const FOR_MODELS = /(?:A file|Files)\b.{0,300}?\. Pass .*$/s;

type FieldKind = 'text' | 'number' | 'integer' | 'choice' | 'file' | 'json';

/** One argument as a person fills it in. */
export interface Field {
  kind: FieldKind;
  /** Where its value is among the arguments; with `[]` in it, its files are for the items of a list, one for each. */
  path: readonly string[];
  label: string;
  about: string | undefined;
  isRequired: boolean;
  /** Fields after it put files into it, so that it need not be written. */
  hasInner: boolean;
  /** What the schema says besides, in words: `at least 1`. */
  hints: readonly string[];
  /** Of a choice: each value as JSON text. */
  choices: readonly string[];
  /** Of a file: whether it takes several, which ones, and the largest, bytes. */
  isMany: boolean;
  accept: readonly string[];
  most: number | undefined;
  /** Of JSON: the type that its schema names, if it is one. */
  type: JsonValue | undefined;
  /** The text that it begins with. */
  initial: string;
}

/** A tool's arguments as a form. */
export interface ToolForm {
  fields: readonly Field[];
  /** Arguments without a field. */
  more: number;
  /** Changes with the fields, so that what is sent is known to be of this form. */
  shape: string;
}

/** The form for a tool, cut to a bounded size. */
export function formOf({ name, declared, slots }: TriedTool): ToolForm {
  const root = placeOf(declared, [])?.schema;
  const properties = isObject(root?.properties) ? root.properties : {};
  const required = new Set(Array.isArray(root?.required) ? root.required : []);
  const names = Object.keys(properties);
  // what a call needs comes first where not all have room
  const chosen =
    names.length <= MAX_FIELDS
      ? names
      : [...names.filter((one) => required.has(one)), ...names.filter((one) => !required.has(one))].slice(
          0,
          MAX_FIELDS,
        );
  const own = chosen.map((one): Field => {
    const about = { name: one, isRequired: required.has(one), schema: schemaAt(declared, one, properties[one]) };
    const slot = slots.find(({ slot: { path } }) => path[0] === one && argumentOf(path).length === 1);
    return slot ? fileField(slot, about) : valueField(about);
  });
  const inner = slots
    .filter(({ slot: { path } }) => isInner(path))
    .slice(0, MAX_FIELDS)
    .map((slot) => {
      const path = argumentOf(slot.slot.path);
      const schema = placeOf(declared, path)?.schema ?? {};
      return fileField(slot, { name: joinPath(path), isRequired: false, schema });
    });
  const fields = [
    ...own.flatMap((field) => {
      const within = inner.filter(({ path }) => path[0] === field.path[0]);
      return [{ ...field, hasInner: within.length > 0 }, ...within];
    }),
    ...inner.filter(({ path }) => !chosen.includes(path[0] ?? '')),
  ];
  return { fields, more: names.length - chosen.length, shape: shapeOf(name, fields) };
}

/** Whether a slot is within an argument, with at most one list on the way to it: a form has no rows within rows, and no names to fill in. */
function isInner(path: readonly string[]): boolean {
  if (path.some((segment) => segment !== EACH && isSpecial(segment))) return false;
  return argumentOf(path).length > 1 && path.filter((segment) => segment === EACH).length <= 1;
}

interface About {
  name: string;
  isRequired: boolean;
  schema: JsonObject;
}

/** An argument's schema with its references followed, as far as that is plausible. */
function schemaAt(declared: JsonObject, name: string, written: JsonValue | undefined): JsonObject {
  const whole = placeOf(declared, [name])?.schema ?? {};
  // what stands beside a union or a reference is about the argument as well
  return isObject(written) ? { ...whole, ...wordsOf(written) } : whole;
}

function wordsOf({ title, description, default: initial }: JsonObject): JsonObject {
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(initial !== undefined && { default: initial }),
  };
}

function base({ name, isRequired, schema }: About): Omit<Field, 'kind' | 'path'> {
  return {
    label: short(textIn(schema, 'title') ?? name, MAX_LABEL),
    about: aboutOf(schema),
    isRequired,
    hasInner: false,
    hints: [],
    choices: [],
    isMany: false,
    accept: [],
    most: undefined,
    type: typeOf(schema),
    initial: '',
  };
}

function fileField({ slot, most }: TriedTool['slots'][number], about: About): Field {
  return {
    ...base(about),
    kind: 'file',
    // what is added to it for a model, which has handles and no files, is of no use to a person
    about: base(about).about?.replace(FOR_MODELS, '').trim() || undefined,
    path: argumentOf(slot.path),
    label: short(about.name, MAX_LABEL),
    isMany: slot.path.includes(EACH),
    accept: slot.accept?.slice(0, MAX_CHOICES) ?? [],
    most: Number.isFinite(most) ? most : undefined,
  };
}

function valueField(about: About): Field {
  const { name, schema } = about;
  const choices = choicesOf(schema);
  const kind = choices.length > 0 ? 'choice' : kindOf(schema);
  return {
    ...base(about),
    kind,
    path: [name],
    choices,
    hints: kind === 'json' || kind === 'choice' ? [] : hintsOf(schema),
    initial: initialOf(schema.default, kind),
  };
}

/** The values of a closed list, as JSON; none where it is open, or too long for a list. */
function choicesOf(schema: JsonObject): string[] {
  const { const: only } = schema;
  const values = Array.isArray(schema.enum) ? schema.enum : only === undefined ? [] : [only];
  if (typeOf(schema) === 'boolean' && values.length === 0) return ['true', 'false'];
  const texts = values.map((value) => (typeof value === 'object' ? undefined : JSON.stringify(value)));
  const isPlain = texts.length <= MAX_CHOICES && texts.every((text) => text !== undefined && text.length <= MAX_ABOUT);
  return isPlain ? texts.filter((text) => text !== undefined) : [];
}

function kindOf(schema: JsonObject): FieldKind {
  switch (typeOf(schema)) {
    case 'string':
      return 'text';
    case 'number':
      return 'number';
    case 'integer':
      return 'integer';
    default:
      return 'json';
  }
}

/** Its only type, null aside. */
function typeOf({ type }: JsonObject): JsonValue | undefined {
  const types = (Array.isArray(type) ? type.slice(0, 8) : [type]).filter((one) => one !== 'null');
  return types.length === 1 ? types[0] : undefined;
}

const BOUNDS = [
  ['minimum', 'at least'],
  ['exclusiveMinimum', 'more than'],
  ['maximum', 'at most'],
  ['exclusiveMaximum', 'less than'],
  ['multipleOf', 'a multiple of'],
  ['minLength', 'characters, at least'],
  ['maxLength', 'characters, at most'],
] as const;

function hintsOf(schema: JsonObject): string[] {
  const numbers = BOUNDS.flatMap(([word, said]) =>
    typeof schema[word] === 'number' ? [`${said} ${schema[word]}`] : [],
  );
  const { format, pattern } = schema;
  return [
    ...numbers,
    ...(typeof format === 'string' ? [`format ${short(format, MAX_LABEL)}`] : []),
    ...(typeof pattern === 'string' ? [`pattern ${short(pattern, MAX_LABEL)}`] : []),
  ];
}

function initialOf(value: JsonValue | undefined, kind: FieldKind): string {
  if (value === undefined) return '';
  if (kind === 'text') return typeof value === 'string' && value.length <= MAX_DEFAULT ? value : '';
  if (kind === 'number' || kind === 'integer') return typeof value === 'number' ? String(value) : '';
  if (kind === 'choice') return typeof value === 'object' ? '' : JSON.stringify(value);
  const { text, isCut } = prettyJson(value, MAX_DEFAULT);
  return isCut ? '' : text;
}

function aboutOf(schema: JsonObject): string | undefined {
  const text = textIn(schema, 'description');
  return text === undefined || text.trim() === '' ? undefined : short(text.trim(), MAX_ABOUT);
}

/** The beginning of a text of a server's. */
function short(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}

function shapeOf(name: string, fields: readonly Field[]): string {
  const parts = fields.map(({ kind, path, isMany, choices }) => [kind, path, isMany, choices]);
  return createHash('sha256')
    .update(JSON.stringify([name, parts]))
    .digest('base64url')
    .slice(0, 16);
}
