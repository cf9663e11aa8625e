import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { GatewayError } from '../../gateway/errors.js';
import type { Limits, Timeouts } from '../../gateway/policy/limits.js';
import type { Sharing } from '../../gateway/ports/owner.js';
import type { SharedConnection, SharedUpstream } from '../../gateway/ports/upstream.js';
import type { Answer } from '../http/answer.js';
import { drain } from '../http/drain.js';
import type { HttpCall } from './http/call.js';
import { HttpClient } from './http/client.js';
import { codingOf } from './http/coding.js';
import { refusedCredentials } from './http/credentials.js';
import { readEndpoint } from './http/endpoint-event.js';
import { reach } from './http/reach.js';
import { isGone, isRedirection, redirected, sendFollowing } from './http/redirect.js';
import { saidBy } from './http/said.js';
import { type HttpSettings, httpSettings } from './http/settings.js';

export const settings = httpSettings;

interface LegacySseDeps {
  /** The server's name in the config. */
  name: string;
  limits: Readonly<Pick<Limits, 'connections'>>;
  timeouts: Readonly<Pick<Timeouts, 'queue' | 'upstream' | 'idle'>>;
  sharing: Sharing;
}

class LegacySse implements SharedUpstream {
  readonly channel = 'shared';
  readonly transport = 'legacy-sse';
  readonly #name: string;
  readonly #configured: URL;
  /** As configured, or redirected for good. */
  #url: URL;
  readonly #headers: string[];
  /** Names of the operator's headers. */
  readonly #headerNames: readonly string[];
  readonly #timeoutMs: number;
  /** Streams and messages are counted separately: otherwise streams could take every slot and block the messages. */
  readonly #streams: HttpClient;
  readonly #messages: HttpClient;

  constructor(options: HttpSettings, deps: LegacySseDeps) {
    this.#name = deps.name;
    this.#configured = new URL(options.url);
    this.#url = this.#configured;
    this.#headers = ['Accept-Encoding', 'identity', ...Object.entries(options.headers).flat()];
    this.#headerNames = Object.keys(options.headers);
    this.#timeoutMs = deps.timeouts.upstream;
    const { connections } = deps.limits;
    const { timeouts, sharing } = deps;
    const client = { name: deps.name, origin: this.#url, connections, timeouts, sharing };
    // a stream lasts as long as its session, so waiting for one to end is pointless
    this.#streams = new HttpClient({ ...client, queue: 0 });
    this.#messages = new HttpClient(client);
  }

  async connect(signal: AbortSignal, principal?: string): Promise<SharedConnection> {
    // Its own controller, so that close() ends the stream and all running messages at once.
    const life = new AbortController();
    // every running message listens, and node warns from the eleventh on
    setMaxListeners(0, life.signal);
    const give = (): void => life.abort(signal.reason);
    if (signal.aborted) give();
    signal.addEventListener('abort', give);
    const timer = setTimeout(() => life.abort(this.#timeout()), this.#timeoutMs);
    try {
      const { answer, url } = await this.#openStream(life.signal, principal);
      const { body } = answer;
      const endpoint = this.#resolve(await readEndpoint(this.#name, body), url);
      return this.#connection({ body, socket: answer.socket }, endpoint, life, principal);
    } catch (error) {
      life.abort();
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', give);
    }
  }

  check(): Promise<void> {
    return reach(this.#name, this.#url);
  }

  async close(): Promise<void> {
    this.#streams.close();
    this.#messages.close();
  }

  /** The answer with the stream, and the address that gave it. */
  async #openStream(signal: AbortSignal, principal: string | undefined): Promise<{ answer: Answer; url: URL }> {
    const { origin } = this.#url;
    const headers = ['Accept', 'text/event-stream', 'Cache-Control', 'no-cache', ...this.#headers];
    const call: HttpCall = { method: 'GET', path: this.#url.pathname + this.#url.search, headers, principal };
    const { answer, path, isLasting } = await sendFollowing(this.#streams, origin, call, signal);
    if (isGone(answer)) this.#url = this.#configured;
    if (isRedirection(answer)) throw redirected(this.#name, answer, { origin, path });
    const status = answer.statusCode;
    const type = String(answer.headers['content-type'] ?? '');
    if (status === 200 && /^text\/event-stream\s*(;|$)/i.test(type)) {
      const coding = codingOf(answer);
      if (coding === undefined) {
        const url = new URL(path, origin);
        if (isLasting) this.#url = url;
        return { answer, url };
      }
      answer.destroy();
      throw new GatewayError('upstream_coding', { server: this.#name, coding: coding.slice(0, 64) });
    }
    const said = saidBy(answer);
    answer.destroy();
    if (status !== 200) throw this.#refused(status, said);
    throw this.#invalid('it did not answer GET with an event stream', said);
  }

  /** MCP 2024-11-05: the event's data is a URI to which the client sends its messages. */
  #resolve(data: string, stream: URL): URL {
    if (!URL.canParse(data, stream.href)) throw this.#invalid('its endpoint event holds no URI');
    const endpoint = new URL(data, stream);
    // Another origin would receive the operator's headers and every message, or be a host of the internal network.
    if (endpoint.origin !== stream.origin) throw this.#invalid('its endpoint event names another origin');
    return endpoint;
  }

  #connection(
    { body, socket }: { body: Readable; socket: Socket | undefined },
    endpoint: URL,
    life: AbortController,
    principal: string | undefined,
  ): SharedConnection {
    const { origin } = endpoint;
    const path = endpoint.pathname + endpoint.search;
    const headers = ['Content-Type', 'application/json', 'Accept', 'application/json', ...this.#headers];
    // when the session ends, so do its running messages
    body.on('close', () => life.abort());
    // a stream that ends with its first event has closed before there was a listener
    if (body.closed) life.abort();
    return {
      kind: 'sse',
      body,
      send: async (message) => {
        const call: HttpCall = { method: 'POST', path, headers, body: message, principal };
        const { answer, path: asked } = await sendFollowing(this.#messages, origin, call, life.signal);
        if (isRedirection(answer) && answer.headers.location) {
          throw redirected(this.#name, answer, { origin, path: asked });
        }
        const status = answer.statusCode;
        const isTaken = status >= 200 && status <= 299;
        const said = isTaken ? undefined : saidBy(answer);
        drain(answer);
        if (!isTaken) throw this.#refused(status, said);
      },
      close: () =>
        new Promise((resolve) => {
          if (!socket || body.readableEnded || socket.closed) return resolve();
          // only then can another stream take its place
          socket.once('close', () => resolve());
          body.destroy();
        }),
    };
  }

  #refused(status: number, said: unknown): GatewayError {
    const credentials = refusedCredentials(this.#name, status, this.#headerNames);
    return credentials ?? new GatewayError('upstream_refused', { server: this.#name, status }, said);
  }

  #invalid(reason: string, said?: Error): GatewayError {
    return new GatewayError('upstream_invalid', { server: this.#name, reason }, said);
  }

  #timeout(): GatewayError {
    const facts = { limit: 'timeouts.upstream', allowed: this.#timeoutMs };
    return new GatewayError('upstream_timeout', { server: this.#name, ...facts });
  }
}

/**
 * An MCP server behind HTTP+SSE (protocol 2024-11-05): one event stream per session, messages by POST.
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
export function create(options: HttpSettings, deps: LegacySseDeps): SharedUpstream {
  return new LegacySse(options, deps);
}
