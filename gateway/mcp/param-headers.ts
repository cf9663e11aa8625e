import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../errors.js';
import { isObject, valueAt } from '../json/value.js';
import type { JsonObject, JsonValue } from '../ports/dialect.js';
import { decodeHeaderValue, encodeHeaderValue, single } from './headers.js';

/** An argument that the client repeats in a header (SEP-2243, `x-mcp-header`). */
export interface ParamHeader {
  /** Lower case, `mcp-param-region`. */
  header: string;
  /** Where the argument stands. */
  path: string[];
}

/** Schemas nest; a tool's arguments hardly do. */
const MAX_DEPTH = 16;

/** RFC 9110 §5.6.2: what else a server wrote cannot be the name of a header. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** The arguments of a tool that are declared with `x-mcp-header`, which are reachable through `properties` only. */
export function paramHeadersOf(inputSchema: JsonValue | undefined): ParamHeader[] {
  const found: ParamHeader[] = [];
  const walk = (node: JsonValue | undefined, path: string[]): void => {
    if (!isObject(node) || path.length > MAX_DEPTH) return;
    const name = node['x-mcp-header'];
    if (typeof name === 'string' && TOKEN.test(name) && path.length > 0)
      found.push({ header: `mcp-param-${name.toLowerCase()}`, path });
    if (!isObject(node.properties)) return;
    for (const [key, child] of Object.entries(node.properties)) walk(child, [...path, key]);
  };
  walk(inputSchema, []);
  return found;
}

/**
 * A server that processes the body MUST refuse a request whose `Mcp-Param-*` headers do not agree with its arguments.
 * @throws GatewayError `header_mismatch`
 */
export function checkParamHeaders(
  declared: readonly ParamHeader[],
  args: JsonObject,
  headers: IncomingHttpHeaders,
): void {
  for (const { header, path } of declared) {
    const argument = valueAt(args, path);
    const sent = single(headers[header]);
    const mismatch = (reason: string) => new GatewayError('header_mismatch', { header, reason });
    if (argument === undefined || argument === null) {
      if (sent !== undefined) throw mismatch('the argument is not given');
    } else if (sent === undefined) {
      throw mismatch('it is missing');
    } else if (!isSame(argument, decodeHeaderValue(sent.trim()))) {
      throw mismatch('the argument has another value');
    }
  }
}

/** The headers that a client of this tool has to send. */
export function paramHeadersFor(declared: readonly ParamHeader[], args: JsonObject): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { header, path } of declared) {
    const argument = valueAt(args, path);
    if (argument !== undefined && argument !== null) headers[header] = encodeHeaderValue(String(argument));
  }
  return headers;
}

/** Integers are compared as numbers: `1` and `01` are the same one. */
function isSame(argument: JsonValue, sent: string | undefined): boolean {
  if (sent === undefined) return false;
  if (typeof argument === 'number') return /^-?\d+(\.\d+)?$/.test(sent) && Number(sent) === argument;
  return String(argument) === sent;
}
