import { isObject } from '../json/value.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { EACH, MEMBERS } from './argument-path.js';

/** Most characters of the names and patterns beside some members: each slot below them keeps these. */
const MAX_RULE = 4096;

/** Most patterns that one object may have. */
const MAX_PATTERNS = 20;

/** Which members of an object have one schema: those that match a pattern, or those that have no schema of their own. */
export interface MemberRule {
  like?: string;
  /** Names with a schema of their own. */
  but?: readonly string[];
  /** Patterns with a schema of their own. */
  unlike?: readonly string[];
}

/** True for every segment that means members whatever their names, of which `{}` means all. */
export function isMembers(segment: string): boolean {
  return segment.startsWith(MEMBERS);
}

/** The index of the one item that a segment means. */
export function itemIn(segment: string): number | undefined {
  return segment.length > EACH.length && segment.startsWith(EACH) ? Number(segment.slice(EACH.length)) : undefined;
}

/** True for a segment that is not the name of a member. */
export function isSpecial(segment: string): boolean {
  return isMembers(segment) || segment.startsWith(EACH);
}

/** A place below a schema that has no name. */
interface Unnamed {
  segment: string;
  schema: JsonValue | undefined;
}

/** The members of an object that `patternProperties` and `additionalProperties` describe. */
export function unnamedIn(schema: JsonObject): Unnamed[] {
  const { additionalProperties: rest, patternProperties, properties } = schema;
  const ofPatterns = isObject(patternProperties) ? Object.entries(patternProperties) : [];
  if ((ofPatterns.length === 0 && !isObject(rest)) || ofPatterns.length > MAX_PATTERNS) return [];
  const but = isObject(properties) ? Object.keys(properties) : [];
  const found: Unnamed[] = [];
  const add = (rule: MemberRule, inner: JsonValue | undefined) => {
    const segment = isObject(inner) ? segmentOf(rule) : undefined;
    if (segment !== undefined) found.push({ segment, schema: inner });
  };
  for (const [like, inner] of ofPatterns) add({ like, but }, inner);
  add({ but, unlike: ofPatterns.map(([pattern]) => pattern) }, rest);
  return found;
}

function segmentOf({ like, but = [], unlike = [] }: MemberRule): string | undefined {
  let room = MAX_RULE;
  for (const text of [...(like === undefined ? [] : [like]), ...unlike, ...but]) {
    room -= text.length + 1;
    if (room < 0) return undefined;
  }
  const rule = { ...(like !== undefined && { like }), ...(but.length > 0 && { but }) };
  const text = JSON.stringify({ ...rule, ...(unlike.length > 0 && { unlike }) });
  return text === '{}' ? MEMBERS : MEMBERS + text;
}

/** The items of a list that have a schema each. Before 2020-12 these stood in `items`. */
export function itemsIn({ prefixItems, items }: JsonObject): Unnamed[] {
  const own = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  return own.map((schema, index) => ({ segment: `${EACH}${index}`, schema }));
}
