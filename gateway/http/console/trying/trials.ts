import { LRUCache } from 'lru-cache';
import { GatewayError } from '../../../errors.js';
import { operatorOf } from '../../../identity/identities.js';
import { isObject } from '../../../json/value.js';
import { NEWEST_WITH_SESSIONS } from '../../../mcp/era.js';
import { paramHeadersFor } from '../../../mcp/param-headers.js';
import type { Timeouts } from '../../../policy/limits.js';
import type { Identity } from '../../../ports/identity.js';
import type { JsonObject } from '../../../ports/json.js';
import { OwnSession, type SessionAnswer, type SessionRequest } from '../../../relay/local/own-session.js';
import type { KnownTool } from '../../../relay/server.js';
import { deadline } from '../../../relay/upstream/deadline.js';
import { type EndpointDeps, GatedEndpoint } from './gated-endpoint.js';

/** What the console calls itself to servers. */
const CLIENT = 'wharf-console';

/** Most bytes of an answer that a page is made from, and most values: more is parsed for too long. */
const MOST_ANSWER = { limit: 'the console', bytes: 4 * 1024 * 1024, values: { count: 100_000 } };

/** Sessions kept open for the next page, and for how long: the start of a process may take many seconds. */
const MAX_KEPT = 100;
const KEPT_MS = 5 * 60_000;

/** Most pages and tools of one list: an endless cursor must not be followed for ever. */
const MAX_PAGES = 50;
const MAX_TOOLS = 1000;

interface TrialsDeps extends EndpointDeps {
  timeouts: Pick<Timeouts, 'idle' | 'upstream'>;
  version: string;
  /** Why no operator can try a server's tools, in a sentence; undefined where one can. */
  whyNot: (server: string) => string | undefined;
}

/** A tool as the operator is shown it, like every client. */
export interface TriedTool extends KnownTool {
  name: string;
  declared: JsonObject;
}

/** The tools of a server. */
export interface ToolsFound {
  tools: TriedTool[];
  /** There are more, which are left out. */
  isCut: boolean;
}

/** A user of the console, at a server. */
export interface Visit {
  user: string;
  /** The person's address, for the log. */
  address: string | undefined;
  server: string;
  /** Aborts when the person has gone. */
  gone: AbortSignal;
}

/** What came of a call. */
export interface Tried {
  /** Undefined where the answer is not a result. */
  result: JsonObject | undefined;
  /** The server's, or Wharf's, own words for what went wrong. */
  error: { code: number | string; message: string; data?: unknown } | undefined;
  /** Milliseconds from the first byte sent to the last one of the answer. */
  ms: number;
  /** The revision of MCP that was spoken. */
  version: string;
}

/** Operators as clients of the servers: their sessions, the tools that they see, and the calls that they make. */
export class Trials {
  readonly #deps: TrialsDeps;
  readonly #identities = new Map<string, Identity>();
  readonly #sessions = new LRUCache<string, OwnSession>({
    max: MAX_KEPT,
    ttl: KEPT_MS,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (session) => void session.end(),
  });

  constructor(deps: TrialsDeps) {
    this.#deps = deps;
  }

  /** Why no operator can try this server's tools, in a sentence. */
  whyNot(server: string): string | undefined {
    return this.#deps.whyNot(server);
  }

  /** The caller that a user of the console is. */
  identityOf(user: string): Identity {
    const known = this.#identities.get(user) ?? operatorOf(user);
    this.#identities.set(user, known);
    return known;
  }

  /** What the page says when the rules keep its user from the server. */
  whyForbidden(user: string, server: string): string {
    const { principal } = this.identityOf(user);
    const rule = this.#deps.servers.get(server)?.reach(this.identityOf(user)).rule ?? 'the rules';
    return `You are ${principal} here, and ${rule} does not let you use this server. An entry with principal: "console:*" would let operators in.`;
  }

  /** The revision of MCP that a user of the console speaks with a server, as far as that is known. */
  versionAt(user: string, server: string): string {
    return this.#sessions.peek(keyOf(user, server))?.version ?? NEWEST_WITH_SESSIONS.version;
  }

  /** The tools that a user of the console has. @throws GatewayError */
  tools(visit: Visit): Promise<ToolsFound> {
    return this.#within(visit, (signal) => this.#list(visit, signal));
  }

  /** One of them. @throws GatewayError `tool_unknown`, and others */
  async tool(visit: Visit, name: string): Promise<TriedTool> {
    const isIt = (tool: TriedTool) => tool.name === name;
    const { tools } = await this.#within(visit, (signal) => this.#list(visit, signal, isIt));
    const found = tools.find(isIt);
    if (!found) throw new GatewayError('tool_unknown', { tool: name });
    return found;
  }

  /** Calls a tool in a user's name. @throws GatewayError for what reaches no answer */
  async call(visit: Visit, tool: TriedTool, args: JsonObject): Promise<Tried> {
    const { clock } = this.#deps;
    const request = {
      method: 'tools/call',
      params: { name: tool.name, arguments: args },
      name: tool.name,
      headers: paramHeadersFor(tool.paramHeaders, args),
    };
    return this.#within(visit, async (signal) => {
      const startedAt = clock.ticks();
      const { answer, session } = await this.#ask(visit, request, signal);
      const ms = Math.round(clock.ticks() - startedAt);
      try {
        return { ...outcomeOf(answer), ms, version: session.version };
      } finally {
        answer.release();
      }
    });
  }

  async #list(
    visit: Visit,
    signal: AbortSignal,
    isWanted: (tool: TriedTool) => boolean = () => false,
  ): Promise<ToolsFound> {
    const { user, server } = visit;
    const tools: TriedTool[] = [];
    const identity = this.identityOf(user);
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const { answer, session } = await this.#ask(visit, { method: 'tools/list', params }, signal);
      const { result, error } = outcomeOf(answer);
      answer.release();
      if (!result) throw new GatewayError('upstream_invalid', { server, reason: `tools/list: ${error?.message}` });
      const known = this.#deps.servers.get(server);
      for (const declared of Array.isArray(result.tools) ? result.tools : []) {
        if (!isObject(declared) || typeof declared.name !== 'string') continue;
        const { name } = declared;
        const facts = known?.toolFor(identity, session.version, name) ?? { slots: [], paramHeaders: [] };
        if (tools.length === MAX_TOOLS) return { tools, isCut: true };
        tools.push({ name, declared, ...facts });
      }
      if (tools.some(isWanted)) return { tools, isCut: true };
      cursor = typeof result.nextCursor === 'string' ? result.nextCursor : undefined;
      if (cursor === undefined) return { tools, isCut: false };
    }
    return { tools, isCut: true };
  }

  /** Asks in the user's session at the server, or in another one where that has ended. */
  async #ask(
    { user, server, address }: Visit,
    said: Omit<SessionRequest, 'address'>,
    signal: AbortSignal,
  ): Promise<{ answer: SessionAnswer; session: OwnSession }> {
    const key = keyOf(user, server);
    const request = { ...said, address };
    const kept = this.#sessions.get(key);
    if (kept) {
      try {
        return { answer: await kept.ask(request, signal), session: kept };
      } catch (error) {
        if (isOver(error) && this.#sessions.get(key) === kept) this.#sessions.delete(key);
        if (!(error instanceof GatewayError) || error.code !== 'session_unknown') throw error;
      }
    }
    const session = this.#open(user, server);
    try {
      const answer = await session.ask(request, signal);
      // another page may have opened one meanwhile; the one that is not kept ends
      this.#sessions.set(key, session);
      return { answer, session };
    } catch (error) {
      void session.end();
      throw error;
    }
  }

  #open(user: string, server: string): OwnSession {
    const { held, version } = this.#deps;
    return new OwnSession({
      endpoint: new GatedEndpoint(server, this.#deps),
      identity: this.identityOf(user),
      clientInfo: { name: CLIENT, version },
      version: NEWEST_WITH_SESSIONS.version,
      most: MOST_ANSWER,
      held,
    });
  }

  /** Gives up with the person who waits, and when the server is silent for longer than any peer may be. */
  async #within<Value>({ server, gone }: Visit, work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const { timeouts } = this.#deps;
    const name = timeouts.idle < timeouts.upstream ? 'idle' : 'upstream';
    const facts = { server, limit: `timeouts.${name}`, allowed: timeouts[name] };
    const { signal, clear } = deadline(gone, timeouts[name], () => new GatewayError('upstream_timeout', facts));
    try {
      return await work(signal);
    } finally {
      clear();
    }
  }
}

function keyOf(user: string, server: string): string {
  return `${user}\n${server}`;
}

/** Whether a session may be of no use after this: it has ended, or its server does not answer. */
function isOver(error: unknown): boolean {
  return !(error instanceof GatewayError) || error.code === 'session_unknown' || error.code.startsWith('upstream_');
}

/** @throws GatewayError when the server did not answer */
function outcomeOf({ message, failure, status }: SessionAnswer): Pick<Tried, 'result' | 'error'> {
  if (failure) throw failure;
  if (isObject(message?.result)) return { result: message.result, error: undefined };
  const error = isObject(message?.error) ? message.error : {};
  const text = typeof error.message === 'string' ? error.message : `the answer holds no result (HTTP ${status})`;
  const code = typeof error.code === 'number' ? error.code : 'no code';
  return { result: undefined, error: { code, message: text, ...(error.data !== undefined && { data: error.data }) } };
}
