import { GatewayError } from '../errors.js';
import { parseJson } from '../wire/json/parse.js';
import { NotWritten } from './system.js';

/**
 * An object, or a list, that Wharf has written into the state store.
 * @param members that it always has
 * @throws GatewayError `state_unavailable` for anything else
 */
export function keptIn<T extends object>(text: string, ...members: readonly (keyof T)[]): T {
  const value = parsed(text) as Partial<T> | undefined;
  if (typeof value !== 'object' || value === null || members.some((name) => (value[name] ?? null) === null)) {
    throw new GatewayError('state_unavailable', {}, new NotWritten());
  }
  return value as T;
}

/** Whether a value of the state store could not be used: asking for it again changes nothing. */
export function isNotWritten(error: unknown): boolean {
  return error instanceof GatewayError && error.cause instanceof NotWritten;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    // V8's error quotes it
    return undefined;
  }
}
