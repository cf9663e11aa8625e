import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../errors.js';
import { valueAt } from '../json/value.js';
import type { JsonObject, JsonValue } from '../ports/dialect.js';
import { Budget } from '../schema/budget.js';
import { type DescribedArgument, eachArgument } from '../schema/walk.js';
import { decodeHeaderValue, encodeHeaderValue, single } from './headers.js';

/** An argument that the client repeats in a header (SEP-2243, `x-mcp-header`). */
export interface ParamHeader {
  /** Lower case, `mcp-param-region`. */
  header: string;
  /** Path of the argument. */
  path: readonly string[];
}

/** RFC 9110 §5.6.2: only a token can be the name of a header. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** The arguments of a tool declared with `x-mcp-header`, reachable only through `properties`. */
export function paramHeadersOf(inputSchema: JsonValue | undefined): ParamHeader[] {
  const found: ParamHeader[] = [];
  const visit = ({ schema, path }: DescribedArgument) => {
    const name = schema['x-mcp-header'];
    if (typeof name === 'string' && TOKEN.test(name)) found.push({ header: `mcp-param-${name.toLowerCase()}`, path });
    return false;
  };
  eachArgument(inputSchema, visit, { budget: new Budget(Number.POSITIVE_INFINITY), propertiesOnly: true });
  return found;
}

/**
 * A server that processes the body MUST refuse a request whose `Mcp-Param-*` headers do not match its arguments.
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

/** Compares integers as numbers: `1` and `01` are equal. */
function isSame(argument: JsonValue, sent: string | undefined): boolean {
  if (sent === undefined) return false;
  if (typeof argument === 'number') return /^-?\d+(\.\d+)?$/.test(sent) && Number(sent) === argument;
  return String(argument) === sent;
}
