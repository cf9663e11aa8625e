import { GatewayError } from '../errors.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { parseJson } from '../wire/json/parse.js';
import { NotWritten } from './system.js';

/** What a member is, by its type. */
type KindOf<T> = T extends string
  ? 'text'
  : T extends number
    ? 'number'
    : T extends true
      ? 'true'
      : T extends readonly unknown[]
        ? 'list'
        : 'object';

/** What Wharf writes of a record: each of its members, those with `?` not always. */
export type Shape<T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K> ? `${KindOf<T[K]>}?` : KindOf<T[K]>;
};

/** What `Date` can hold, milliseconds: a larger one is neither a time nor a size. */
const LARGEST_NUMBER = 8.64e15;

const IS_KIND: Readonly<Record<string, (value: JsonValue | undefined) => boolean>> = {
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' && Math.abs(value) <= LARGEST_NUMBER,
  true: (value) => value === true,
  list: Array.isArray,
  object: isRecord,
};

/**
 * A record that Wharf has written into the state store. Members that its shape does not name are of a later version.
 * @throws GatewayError `state_unavailable` for anything else
 */
export function keptIn<T extends object>(text: string, shape: Shape<T>): T {
  const value = parsed(text);
  if (!isRecord(value)) throw notWritten();
  for (const { name, isOptional, isKind } of membersOf(shape)) {
    const member = value[name];
    if (member === undefined && isOptional) continue;
    if (!isKind(member)) throw notWritten();
  }
  return value as T;
}

interface Member {
  name: string;
  isOptional: boolean;
  isKind: (value: JsonValue | undefined) => boolean;
}

/** Shapes are constants; a record may be read for each call. */
const KNOWN_MEMBERS = new WeakMap<object, readonly Member[]>();

function membersOf(shape: object): readonly Member[] {
  let members = KNOWN_MEMBERS.get(shape);
  if (!members) {
    members = Object.entries<string>(shape as Record<string, string>).map(([name, kind]) => {
      const isOptional = kind.endsWith('?');
      return { name, isOptional, isKind: IS_KIND[isOptional ? kind.slice(0, -1) : kind] ?? (() => false) };
    });
    KNOWN_MEMBERS.set(shape, members);
  }
  return members;
}

/** True for what may hold members; a list does not. */
export function isRecord(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list of texts that Wharf has written into the state store. @throws GatewayError `state_unavailable` for anything else */
export function textsIn(text: string): string[] {
  const value = parsed(text);
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) throw notWritten();
  return value;
}

/** The error for a value that Wharf has not written. */
export function notWritten(): GatewayError {
  return new GatewayError('state_unavailable', {}, new NotWritten());
}

/** Whether a value of the state store could not be used: asking for it again changes nothing. */
export function isNotWritten(error: unknown): boolean {
  return error instanceof GatewayError && error.cause instanceof NotWritten;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return parseJson(text) as JsonValue;
  } catch {
    // V8's error quotes it
    return undefined;
  }
}
