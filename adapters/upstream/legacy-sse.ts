import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../gateway/errors.js';
import type { Limits, Timeouts } from '../../gateway/policy/limits.js';
import type { SharedConnection, SharedUpstream } from '../../gateway/ports/upstream.js';
import { HttpClient } from './http/client.js';
import { codingOf } from './http/coding.js';
import { drain } from './http/drain.js';
import { readEndpoint } from './http/endpoint-event.js';
import { reach } from './http/reach.js';
import { type HttpSettings, httpSettings } from './http/settings.js';

export const settings = httpSettings;

export interface LegacySseDeps {
  /** The server's name in the config. */
  name: string;
  limits: Readonly<Pick<Limits, 'connections'>>;
  timeouts: Readonly<Pick<Timeouts, 'queue' | 'upstream' | 'idle'>>;
}

class LegacySse implements SharedUpstream {
  readonly channel = 'shared';
  readonly transport = 'legacy-sse';
  readonly #name: string;
  readonly #url: URL;
  readonly #headers: string[];
  readonly #timeoutMs: number;
  /** Streams and messages are counted apart: streams alone could otherwise take every slot and starve the messages. */
  readonly #streams: HttpClient;
  readonly #messages: HttpClient;

  constructor(options: HttpSettings, deps: LegacySseDeps) {
    this.#name = deps.name;
    this.#url = new URL(options.url);
    this.#headers = ['Accept-Encoding', 'identity', ...Object.entries(options.headers).flat()];
    this.#timeoutMs = deps.timeouts.upstream;
    const { connections } = deps.limits;
    const client = { name: deps.name, origin: this.#url, connections, timeouts: deps.timeouts };
    this.#streams = new HttpClient(client);
    this.#messages = new HttpClient(client);
  }

  async connect(signal: AbortSignal): Promise<SharedConnection> {
    // Its own controller, so that close() ends the stream and the messages under way with one word.
    const life = new AbortController();
    // every message under way listens, and node warns from the eleventh on
    setMaxListeners(0, life.signal);
    const give = (): void => life.abort(signal.reason);
    if (signal.aborted) give();
    signal.addEventListener('abort', give);
    const timer = setTimeout(() => life.abort(this.#timeout()), this.#timeoutMs);
    try {
      const body = await this.#openStream(life.signal);
      const endpoint = this.#resolve(await readEndpoint(this.#name, body));
      return this.#connection(body, endpoint, life);
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

  async #openStream(signal: AbortSignal): Promise<IncomingMessage> {
    const path = this.#url.pathname + this.#url.search;
    const headers = ['Accept', 'text/event-stream', 'Cache-Control', 'no-cache', ...this.#headers];
    const answer = await this.#streams.send({ method: 'GET', path, headers }, signal);
    const status = answer.statusCode ?? 0;
    const type = answer.headers['content-type'] ?? '';
    if (status === 200 && /^text\/event-stream\s*(;|$)/i.test(type)) {
      const coding = codingOf(answer);
      if (coding === undefined) return answer;
      answer.destroy();
      throw new GatewayError('upstream_coding', { server: this.#name, coding: coding.slice(0, 64) });
    }
    answer.destroy();
    if (status !== 200) throw new GatewayError('upstream_refused', { server: this.#name, status });
    throw this.#invalid('it did not answer GET with an event stream');
  }

  /** MCP 2024-11-05: the event's data is a URI to which the client sends its messages. */
  #resolve(data: string): URL {
    if (!URL.canParse(data, this.#url.href)) throw this.#invalid('its endpoint event holds no URI');
    const endpoint = new URL(data, this.#url);
    // Elsewhere it would receive the operator's headers and every message, or be a host of the inner network.
    if (endpoint.origin !== this.#url.origin) throw this.#invalid('its endpoint event names another origin');
    return endpoint;
  }

  #connection(body: IncomingMessage, endpoint: URL, life: AbortController): SharedConnection {
    const path = endpoint.pathname + endpoint.search;
    const headers = ['Content-Type', 'application/json', 'Accept', 'application/json', ...this.#headers];
    // a session that is gone takes its messages under way with it
    body.on('close', () => life.abort());
    return {
      kind: 'sse',
      body,
      send: async (message) => {
        const answer = await this.#messages.send({ method: 'POST', path, headers, body: message }, life.signal);
        const status = answer.statusCode ?? 0;
        drain(answer);
        if (status < 200 || status > 299) throw new GatewayError('upstream_refused', { server: this.#name, status });
      },
      close: () =>
        new Promise((resolve) => {
          if (body.closed) return resolve();
          body.once('close', resolve);
          body.destroy();
        }),
    };
  }

  #invalid(reason: string): GatewayError {
    return new GatewayError('upstream_invalid', { server: this.#name, reason });
  }

  #timeout(): GatewayError {
    const facts = { limit: 'timeouts.upstream', allowed: this.#timeoutMs };
    return new GatewayError('upstream_timeout', { server: this.#name, ...facts });
  }
}

/** An MCP server behind HTTP+SSE (protocol 2024-11-05): one event stream per session, messages by POST. */
export function create(options: HttpSettings, deps: LegacySseDeps): SharedUpstream {
  return new LegacySse(options, deps);
}
