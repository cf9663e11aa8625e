import { GatewayError } from '../../errors.js';
import { isObject } from '../../json/value.js';
import { hoisted, nameOf } from '../../mcp/client-facts.js';
import { DEFAULT_VERSION } from '../../mcp/request.js';
import type { Limits } from '../../policy/limits.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { PendingRequest } from '../pending-request.js';
import type { SessionRecord } from '../session.js';
import { spokenBy } from '../upstream/server-dialects.js';
import type { ChannelDeps } from './deps.js';

/** What a client sends back with every request has room for no more, beside all else in a head. */
const MAX_SESSION_ID = 4096;

/** A version is a date, or `draft`. */
const VERSION = /^[\w.-]{1,32}$/;

/**
 * A client declares a handful of things, and each session keeps some of them for as long as it lives.
 * @throws GatewayError `capabilities_too_large`
 */
export function checkOpening({ params }: PendingRequest, limit: number): void {
  const actual = sizeUpTo(params.capabilities, limit);
  if (actual > limit)
    throw new GatewayError('capabilities_too_large', { limit: 'limits.capabilities', allowed: limit, actual });
}

/**
 * What is kept of a session that an `initialize` opens; undefined where it was answered with an error. Nothing of it is
 * as long as a peer likes.
 * @throws GatewayError `upstream_invalid`
 */
export function sessionOf(
  message: HeldMessage,
  { params }: PendingRequest,
  about: { principal: string; channel: SessionRecord['channel']; upstreamSession?: string },
  { server, dialects, limits }: Pick<ChannelDeps, 'server' | 'dialects' | 'limits'>,
): SessionRecord | undefined {
  const result = resultOf(message, limits);
  if (!result) return undefined;
  if ((about.upstreamSession?.length ?? 0) > MAX_SESSION_ID) {
    throw new GatewayError('upstream_invalid', { reason: `its session id has more than ${MAX_SESSION_ID} characters` });
  }
  const { capabilities, clientInfo } = params;
  const { protocolVersion } = result;
  const declared = isObject(capabilities) ? hoisted(capabilities) : {};
  const read = dialects.flatMap(({ reads = [] }) => reads).filter((name) => Object.hasOwn(declared, name));
  const clientName = nameOf(clientInfo);
  return {
    ...about,
    server,
    version: typeof protocolVersion === 'string' && VERSION.test(protocolVersion) ? protocolVersion : DEFAULT_VERSION,
    capabilities: Object.fromEntries(read.map((name) => [name, declared[name] as JsonValue])),
    ...(clientName === undefined ? {} : { clientName }),
    ...spokenBy(result, dialects),
  };
}

/** The `result` of a small answer, if it is one. */
function resultOf(message: HeldMessage, { values }: Pick<Limits, 'values'>): JsonObject | undefined {
  if (message.malformed) return undefined;
  if (message.values > values) {
    throw new GatewayError('upstream_invalid', { reason: `it has more than limits.values = ${values} values` });
  }
  const answer: unknown = JSON.parse(message.skeleton().toString('utf8'));
  const [first] = Array.isArray(answer) ? answer : [answer];
  const result = isObject(first) ? first.result : undefined;
  return isObject(result) ? result : undefined;
}

/** Characters of a value's JSON, counted no further than the first one beyond `limit`. */
function sizeUpTo(value: JsonValue | undefined, limit: number): number {
  let size = 0;
  const open: Iterator<JsonValue>[] = [];
  const take = (one: JsonValue): void => {
    if (Array.isArray(one)) open.push(one.values());
    else if (isObject(one)) open.push(members(one));
    size += typeof one === 'string' ? one.length + 2 : typeof one === 'object' && one !== null ? 2 : String(one).length;
  };
  if (value !== undefined) take(value);
  for (let top = open.at(-1); top && size <= limit; top = open.at(-1)) {
    const { done, value: next } = top.next();
    if (done) open.pop();
    else {
      size += 1;
      take(next);
    }
  }
  return size;
}

function* members(object: JsonObject): Generator<JsonValue> {
  for (const key in object) {
    yield key;
    yield object[key] as JsonValue;
  }
}
