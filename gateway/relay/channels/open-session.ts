import { GatewayError } from '../../errors.js';
import { isObject } from '../../json/value.js';
import { hoisted, nameOf, versionOf } from '../../mcp/client-facts.js';
import { ASSUMED_ERA } from '../../mcp/era.js';
import type { Limits } from '../../policy/limits.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import { parseJson } from '../../wire/json/parse.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import { ELICITATION } from '../asking/means.js';
import type { Exchange } from '../exchange.js';
import type { PendingRequest } from '../pending-request.js';
import type { Session, SessionRecord } from '../session.js';
import { abilitiesIn } from '../upstream/server-abilities.js';
import type { ChannelDeps } from './deps.js';

/** A client repeats it with every request, where longer ones do not fit into a head. */
const MAX_SESSION_ID = 4096;

/** A version is a date, or `draft`. */
const VERSION = /^[\w.-]{1,32}$/;

/**
 * Clients declare few things, and each session keeps some of them as long as it lives.
 * @throws GatewayError `capabilities_too_large`
 */
export function checkOpening({ params }: PendingRequest, limit: number): void {
  const actual = sizeUpTo(params.capabilities, limit);
  if (actual > limit)
    throw new GatewayError('capabilities_too_large', { limit: 'limits.capabilities', allowed: limit, actual });
}

/** The `initialize` that may open a session, and how its server is spoken to. */
interface Opening {
  exchange: Exchange;
  initialize: PendingRequest;
  channel: SessionRecord['channel'];
  /** The server's own id for it. */
  upstreamSession?: string | undefined;
  /** Lets the server end a session that cannot be kept here: its client never learns of it. */
  giveUp?: (record: SessionRecord) => void;
}

/**
 * Opens the session that a server has agreed to; undefined when it has answered with an error.
 * @throws GatewayError `upstream_invalid`, and what the store of sessions fails with
 */
export async function openSession(
  message: HeldMessage,
  opening: Opening,
  deps: Pick<ChannelDeps, 'server' | 'dialects' | 'hosts' | 'limits' | 'sessions' | 'callers'>,
): Promise<Session | undefined> {
  const result = resultOf(message, deps.limits);
  const most = deps.callers.mostSessions(opening.exchange.identity);
  if (!result) return undefined;
  const record = recordOf(result, opening, deps);
  const session = await deps.sessions.open(record, most).catch((error: unknown) => {
    opening.giveUp?.(record);
    throw error;
  });
  opening.exchange.facts.session = session.id;
  return session;
}

/** What is kept of a session. Every part has a length limit. @throws GatewayError `upstream_invalid` */
function recordOf(
  result: JsonObject,
  { exchange: { principal }, initialize: { params }, channel, upstreamSession }: Opening,
  { server, dialects, hosts }: Pick<ChannelDeps, 'server' | 'dialects' | 'hosts'>,
): SessionRecord {
  if ((upstreamSession?.length ?? 0) > MAX_SESSION_ID) {
    throw new GatewayError('upstream_invalid', { reason: `its session id has more than ${MAX_SESSION_ID} characters` });
  }
  const { capabilities, clientInfo } = params;
  const { protocolVersion } = result;
  const declared = isObject(capabilities) ? hoisted(capabilities) : {};
  const known = [ELICITATION, ...dialects.flatMap(({ reads = [] }) => reads)];
  const read = known.filter((name) => Object.hasOwn(declared, name));
  const clientName = nameOf(clientInfo);
  const clientVersion = versionOf(clientInfo);
  const { host } = hosts.find({ name: clientName, version: clientVersion }, principal);
  return {
    principal,
    channel,
    ...(upstreamSession !== undefined && { upstreamSession }),
    server,
    version:
      typeof protocolVersion === 'string' && VERSION.test(protocolVersion) ? protocolVersion : ASSUMED_ERA.version,
    capabilities: Object.fromEntries(read.map((name) => [name, declared[name] as JsonValue])),
    ...(clientName === undefined ? {} : { clientName }),
    ...(clientVersion === undefined ? {} : { clientVersion }),
    ...(host.structured === 'drop' && { dropsStructured: true as const }),
    ...abilitiesIn(result, dialects),
  };
}

/** The `result` of a small answer; undefined for anything else. */
function resultOf(message: HeldMessage, { values }: Pick<Limits, 'values'>): JsonObject | undefined {
  if (message.malformed) return undefined;
  if (message.values > values) {
    throw new GatewayError('upstream_invalid', { reason: `it has more than limits.values = ${values} values` });
  }
  const answer: unknown = parseJson(message.skeleton().toString('utf8'));
  const [first] = Array.isArray(answer) ? answer : [answer];
  const result = isObject(first) ? first.result : undefined;
  return isObject(result) ? result : undefined;
}

/** Bytes of a value's JSON without blanks; of one that is longer than `limit`, only a part is counted. */
function sizeUpTo(value: JsonValue | undefined, limit: number): number {
  let size = 0;
  const open: Iterator<JsonValue>[] = [];
  const take = (one: JsonValue): void => {
    if (typeof one !== 'object' || one === null) {
      size += sizeOfPlain(one, limit);
      return;
    }
    open.push(Array.isArray(one) ? one.values() : members(one));
    // each value inside counts the separator behind it, of which the last has none
    size += Object.keys(one).length > 0 ? 1 : 2;
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

function sizeOfPlain(value: string | number | boolean | null, limit: number): number {
  // a text that is too long as it is need not be written again
  if (typeof value === 'string' && value.length > limit) return value.length + 2;
  return Buffer.byteLength(JSON.stringify(value));
}

function* members(object: JsonObject): Generator<JsonValue> {
  for (const key in object) {
    yield key;
    yield object[key] as JsonValue;
  }
}
