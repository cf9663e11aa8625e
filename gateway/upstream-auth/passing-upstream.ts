import { GatewayError } from '../errors.js';
import type { Identity } from '../ports/identity.js';
import type { ExchangeUpstream, UpstreamAnswer, UpstreamRequest } from '../ports/upstream.js';
import { ServerChallenge } from './server-challenge.js';

/** What learns how the server judges its callers. */
interface Judged {
  /** The server has taken a caller's token. */
  accepted(identity: Identity): void;
}

/** An upstream that gets each caller's own token, unread, and whose refusals are the caller's. */
export class PassingUpstream implements ExchangeUpstream {
  readonly channel = 'exchange';
  readonly transport: string;
  readonly #inner: ExchangeUpstream;
  readonly #server: string;
  readonly #judged: Judged;

  constructor(inner: ExchangeUpstream, server: string, judged: Judged) {
    this.transport = inner.transport;
    this.#inner = inner;
    this.#server = server;
    this.#judged = judged;
  }

  async open(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    const { identity, headers } = request;
    // what Wharf asks for itself has no token, and no caller who could log in
    if (identity?.use !== 'passthrough') return this.#inner.open(request, signal);
    const { token } = identity;
    const passed = token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` };
    const answer = await this.#inner.open({ ...request, headers: passed, refusals: 'answer' }, signal);
    const { status } = answer;
    if (status === 401 || status === 403) {
      const said = answer.headers['www-authenticate'];
      answer.body.destroy();
      const code = status === 401 ? 'login_needed' : 'caller_forbidden';
      throw new GatewayError(code, { server: this.#server }, new ServerChallenge([said].flat().join(', ')));
    }
    if (token !== undefined && status < 400) this.#judged.accepted(identity);
    return answer;
  }

  check(): Promise<void> {
    return this.#inner.check();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
