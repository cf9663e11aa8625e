import { isObject } from '../json/value.js';
import type { FileArgument } from '../ports/file-slot.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { EACH, segmentsOf } from './argument-path.js';
import { pointed } from './place.js';

/** A path under `files:` that leads to no argument of its tool. */
export interface UnknownArgument {
  path: string;
  /** What the tool has where the path leaves it. */
  known: string[];
}

/** Schemas looked at for one path: unions and references may nest, and refer to themselves. */
const MAX_STEPS = 500;
/** Arguments that are named: what a tool says of itself may be long. */
const MAX_KNOWN = 50;
const MAX_NAME = 100;

const UNIONS = ['anyOf', 'oneOf', 'allOf'] as const;
/** What may let in arguments that `properties` does not name. */
const OPENINGS = ['$dynamicRef', '$recursiveRef', 'dependentSchemas', 'else', 'patternProperties', 'then'] as const;

/** The configured file arguments that a tool says it does not have. Where its schema leaves that open, it may have them. */
export function unknownArguments(tool: JsonObject, files: readonly FileArgument[]): UnknownArgument[] {
  return files.flatMap(({ path }) => {
    const known = knownInstead(tool, segmentsOf(path));
    return known ? [{ path, known }] : [];
  });
}

function knownInstead({ inputSchema: root }: JsonObject, path: readonly string[]): string[] | undefined {
  if (!isObject(root)) return undefined;
  let steps = 0;
  /** A schema, and all that it is made of; undefined where that cannot be told. */
  const partsOf = (written: JsonValue | undefined): JsonObject[] | undefined => {
    steps += 1;
    if (!isObject(written) || steps > MAX_STEPS) return undefined;
    const inner = UNIONS.flatMap((word) => written[word] ?? []);
    if (typeof written.$ref === 'string') inner.push(pointed(root, written.$ref) ?? null);
    return allParts(inner, [written]);
  };
  const allParts = (schemas: readonly JsonValue[], own: JsonObject[] = []): JsonObject[] | undefined => {
    const parts = schemas.map(partsOf);
    return parts.every((part) => part !== undefined) ? [...own, ...parts.flat()] : undefined;
  };
  let parts = partsOf(root);
  for (const [index, segment] of path.entries()) {
    if (!parts) return undefined;
    const inner = segment === EACH ? itemsOf(parts) : propertiesNamed(parts, segment);
    if (inner.length > 0) parts = allParts(inner);
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

/** Whether a value of these schemas may hold what they do not name. */
function isOpen(parts: readonly JsonObject[], segment: string): boolean {
  if (parts.some((part) => OPENINGS.some((word) => part[word] !== undefined))) return true;
  const types = parts.flatMap(({ type }) => type ?? []);
  if (segment === EACH) return types.length === 0 || types.includes('array');
  const { length } = parts.filter(({ properties }) => properties !== undefined);
  if (length === 0 && !parts.some(({ additionalProperties }) => additionalProperties === false))
    return types.length === 0 || types.includes('object');
  // a map of what is described; `{}` is how some libraries write "anything else is ignored"
  return parts.some(({ additionalProperties: rest }) => isObject(rest) && Object.keys(rest).length > 0);
}

function namesAt(parts: readonly JsonObject[], above: readonly string[]): string[] {
  const names = parts.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : []));
  if (names.length === 0) return above.length === 0 ? [] : [spelled(above)];
  return [...new Set(names)].slice(0, MAX_KNOWN).map((name) => spelled([...above, name.slice(0, MAX_NAME)]));
}

function spelled(path: readonly string[]): string {
  return path.join('.').replaceAll(`.${EACH}`, EACH);
}
