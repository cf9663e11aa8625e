import { isObject } from '../json/value.js';
import type { FileArgument } from '../ports/file-slot.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { EACH, joinPath, segmentsOf } from './argument-path.js';
import { Budget } from './budget.js';
import { alternatives, UNIONS } from './walk.js';

/** A path under `files:` that does not lead to an argument of its tool which may be a file. */
export interface UnknownArgument {
  path: string;
  /** The arguments that the tool has at the place where the path fails. */
  known: string[];
  /** The tool has the argument, and takes nothing but a list there: `known` says how its items are named. */
  isList?: true;
}

/** Schemas read for one path: unions and references may nest, and refer to themselves. */
const MAX_STEPS = 500;
/** Most arguments that are listed, because a tool's declaration may be long. */
const MAX_KNOWN = 50;
const MAX_NAME = 100;

/** Keywords that may allow arguments which `properties` does not name. */
const OPENINGS = ['$dynamicRef', '$recursiveRef', 'dependentSchemas', 'else', 'patternProperties', 'then'] as const;

/**
 * The configured file arguments that a tool does not declare, or declares as a list of what was configured as one file. An
 * argument that its schema leaves open is not reported.
 */
export function unknownArguments(tool: JsonObject, files: readonly FileArgument[]): UnknownArgument[] {
  return files.flatMap((file) => {
    const { path } = file;
    const found = knownInstead(tool, segmentsOf(path));
    return found && !(found.isList && isWrittenAsList(file)) ? [{ path, ...found }] : [];
  });
}

/** True where one file is itself a list. */
function isWrittenAsList({ encoding, template }: FileArgument): boolean {
  return encoding === 'bytes' || Array.isArray(template);
}

function knownInstead(
  { inputSchema: root }: JsonObject,
  path: readonly string[],
): Omit<UnknownArgument, 'path'> | undefined {
  if (!isObject(root)) return undefined;
  const budget = new Budget(MAX_STEPS);
  /** Schemas with all their parts; undefined when they cannot be determined. */
  const partsOf = (schemas: readonly JsonValue[]): JsonObject[] | undefined => {
    const parts: JsonObject[] = [];
    for (const schema of schemas) {
      for (const part of alternatives(schema, root, budget)) {
        if (!part) return undefined;
        parts.push(part);
      }
    }
    return parts;
  };
  let parts = partsOf([root]);
  for (const [index, segment] of path.entries()) {
    if (!parts) return undefined;
    const inner = segment === EACH ? itemsOf(parts) : propertiesNamed(parts, segment);
    if (inner.length > 0) parts = partsOf(inner);
    else if (isOpen(parts, segment)) return undefined;
    else return { known: namesAt(parts, path.slice(0, index)) };
  }
  if (!parts || !isList(parts)) return undefined;
  const items = partsOf(itemsOf(parts)) ?? [];
  return { known: namesAt(items, [...path, EACH]), isList: true };
}

/** True when a value of these schemas is a list wherever it is there at all: `Optional[list[str]]` is a union with null. */
function isList(parts: readonly JsonObject[]): boolean {
  const typed = parts.filter((part) => part.type !== undefined || !UNIONS.some((word) => part[word] !== undefined));
  const types = typed.flatMap(({ type }) => type ?? ['anything']);
  return types.includes('array') && types.every((type) => type === 'array' || type === 'null');
}

function itemsOf(parts: readonly JsonObject[]): JsonValue[] {
  return parts.flatMap(({ items }) => (items === undefined ? [] : [items]));
}

function propertiesNamed(parts: readonly JsonObject[], name: string): JsonValue[] {
  return parts.flatMap(({ properties }) => {
    const found = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    return found === undefined ? [] : [found];
  });
}

/** True when a value of these schemas may have members that they do not name. */
function isOpen(parts: readonly JsonObject[], segment: string): boolean {
  if (parts.some((part) => OPENINGS.some((word) => part[word] !== undefined))) return true;
  const types = parts.flatMap(({ type }) => type ?? []);
  if (segment === EACH) return types.length === 0 || types.includes('array');
  const { length } = parts.filter(({ properties }) => properties !== undefined);
  if (length === 0 && !parts.some(({ additionalProperties }) => additionalProperties === false))
    return types.length === 0 || types.includes('object');
  // a map with a described value; some libraries write `{}` for "anything else is ignored"
  return parts.some(
    ({ additionalProperties: rest }) => rest === true || (isObject(rest) && Object.keys(rest).length > 0),
  );
}

function namesAt(parts: readonly JsonObject[], above: readonly string[]): string[] {
  const names = parts.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : []));
  if (names.length === 0) return above.length === 0 ? [] : [joinPath(above)];
  return [...new Set(names)].slice(0, MAX_KNOWN).map((name) => joinPath([...above, name.slice(0, MAX_NAME)]));
}
