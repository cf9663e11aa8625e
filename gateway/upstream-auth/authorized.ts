import { GatewayError } from '../errors.js';
import type { Identity } from '../ports/identity.js';
import type { ExchangeUpstream, UpstreamAnswer, UpstreamRequest } from '../ports/upstream.js';
import type { UpstreamCredentials } from '../ports/upstream-auth.js';

/** With what this replica has, with what another one has renewed, and with what is renewed for this request. */
const MOST_TRIES = 3;

/** An upstream whose every request has the credentials that `upstreamAuth` gives it. */
export class AuthorizedUpstream implements ExchangeUpstream {
  readonly channel = 'exchange';
  readonly transport: string;
  readonly #inner: ExchangeUpstream;
  readonly #credentials: UpstreamCredentials;
  readonly #setting: string;

  /** @param setting where the config says what they are, for errors */
  constructor(inner: ExchangeUpstream, credentials: UpstreamCredentials, setting: string) {
    this.transport = inner.transport;
    this.#inner = inner;
    this.#credentials = credentials;
    this.#setting = setting;
  }

  async open(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    const { identity } = request;
    let sent = await this.#credentials.headersFor(identity);
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#send(request, sent, signal);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        const others = error.facts.status === 401 ? await this.#others(identity, sent, tries) : undefined;
        if (!others) throw this.#named(error, sent);
        sent = others;
      }
    }
  }

  /** What to try after a refusal. What was only found may be as old as what was refused first; what is renewed is not. */
  async #others(identity: Identity | undefined, sent: Record<string, string>, tries: number) {
    const isOpen = tries === 1 || this.#credentials.refusedAgain(identity, sent);
    return isOpen && tries < MOST_TRIES ? this.#credentials.refused(identity, sent) : undefined;
  }

  check(): Promise<void> {
    return this.#inner.check();
  }

  close(): Promise<void> {
    this.#credentials.forget();
    return this.#inner.close();
  }

  #send(request: UpstreamRequest, headers: Record<string, string>, signal: AbortSignal): Promise<UpstreamAnswer> {
    return this.#inner.open({ ...request, headers: { ...request.headers, ...headers } }, signal);
  }

  /** The refusal, with the setting that it is about. */
  #named({ facts }: GatewayError, sent: Record<string, string>): GatewayError {
    const names = Object.keys(sent).join(', ');
    return new GatewayError('upstream_unauthorized', { ...facts, setting: this.#setting, sent: names });
  }
}

function isRefusal(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code === 'upstream_unauthorized';
}
