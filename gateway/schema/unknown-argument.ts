import { isObject } from '../json/value.js';
import type { FileArgument } from '../ports/file-slot.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { EACH, joinPath, segmentsOf } from './argument-path.js';
import { Budget } from './budget.js';
import { alternatives } from './walk.js';

/** A path under `files:` that does not lead to an argument of its tool. */
export interface UnknownArgument {
  path: string;
  /** The arguments that the tool has at the place where the path fails. */
  known: string[];
}

/** Schemas read for one path: unions and references may nest, and refer to themselves. */
const MAX_STEPS = 500;
/** Most arguments that are listed, because a tool's declaration may be long. */
const MAX_KNOWN = 50;
const MAX_NAME = 100;

/** Keywords that may allow arguments which `properties` does not name. */
const OPENINGS = ['$dynamicRef', '$recursiveRef', 'dependentSchemas', 'else', 'patternProperties', 'then'] as const;

/**
 * The configured file arguments that a tool does not declare. An argument that its schema leaves open is not reported.
 */
export function unknownArguments(tool: JsonObject, files: readonly FileArgument[]): UnknownArgument[] {
  return files.flatMap(({ path }) => {
    const known = knownInstead(tool, segmentsOf(path));
    return known ? [{ path, known }] : [];
  });
}

function knownInstead({ inputSchema: root }: JsonObject, path: readonly string[]): string[] | undefined {
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
    else return namesAt(parts, path.slice(0, index));
  }
  return undefined;
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
  return parts.some(({ additionalProperties: rest }) => isObject(rest) && Object.keys(rest).length > 0);
}

function namesAt(parts: readonly JsonObject[], above: readonly string[]): string[] {
  const names = parts.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : []));
  if (names.length === 0) return above.length === 0 ? [] : [joinPath(above)];
  return [...new Set(names)].slice(0, MAX_KNOWN).map((name) => joinPath([...above, name.slice(0, MAX_NAME)]));
}
