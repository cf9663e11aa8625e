import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { close, listen } from './loopback.js';

/** What a client has registered with it. */
interface RegisteredClient {
  client_id: string;
  client_secret?: string;
  redirect_uris: string[];
  [member: string]: unknown;
}

/**
 * An authorization server made by hand, whose person always agrees. A refresh token counts once: when one is used twice,
 * it takes back everything of that login, as RFC 9700 §4.14.2 wants.
 */
export class RotatingServer {
  url = '';
  close: () => Promise<void> = async () => undefined;
  /** The access tokens that hold. */
  readonly good = new Set<string>();
  readonly registered: RegisteredClient[] = [];
  /** Grants that it was asked for. */
  readonly asked: { grant: string; form: URLSearchParams; authorization: string | undefined }[] = [];
  /** Everything that it gave and that is for its clients alone. */
  readonly secrets: string[] = [];
  /** Refresh tokens that were used twice. */
  reused = 0;
  /** Members of its metadata besides the usual ones. */
  metadata: Record<string, unknown> = {};
  /** It knows no client any longer. */
  forgets = false;
  /** Whether it names itself when it sends the browser back. */
  iss: string | undefined;
  readonly #codes = new Map<string, { challenge: string; family: number }>();
  readonly #refresh = new Map<string, { family: number; isUsed: boolean }>();
  #families = 0;
  #made = 0;

  static async start(): Promise<RotatingServer> {
    const made = new RotatingServer();
    const server = createServer((request, response) => {
      void text(request).then((body) => made.#answer(request.url ?? '', body, request.headers.authorization, response));
    });
    made.url = `http://127.0.0.1:${await listen(server)}`;
    made.close = () => close(server);
    return made;
  }

  grants(kind: string) {
    return this.asked.filter(({ grant }) => grant === kind);
  }

  /** Takes back what it has given: access tokens, or every login. */
  revoke(what: 'access' | 'all'): void {
    this.good.clear();
    if (what === 'all') this.#refresh.clear();
  }

  #answer(target: string, body: string, authorization: string | undefined, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(target, this.url);
    const json = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (pathname === '/.well-known/oauth-authorization-server') {
      const at = (path: string) => `${this.url}${path}`;
      const endpoints = { authorization_endpoint: at('/authorize'), token_endpoint: at('/token') };
      json(200, { issuer: this.url, ...endpoints, registration_endpoint: at('/register'), ...this.metadata });
    } else if (pathname === '/register') {
      const client = { ...JSON.parse(body), client_id: this.#new('client'), client_secret: this.#new('secret') };
      this.registered.push(client);
      json(201, client);
    } else if (pathname === '/authorize') {
      const code = this.#new('code');
      this.#codes.set(code, { challenge: searchParams.get('code_challenge') ?? '', family: ++this.#families });
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', code);
      back.searchParams.set('state', searchParams.get('state') ?? '');
      if (this.iss !== undefined) back.searchParams.set('iss', this.iss);
      response.writeHead(302, { location: back.href }).end();
    } else if (pathname === '/token') {
      const form = new URLSearchParams(body);
      this.asked.push({ grant: form.get('grant_type') ?? '', form, authorization });
      if (this.forgets) {
        json(401, { error: 'invalid_client' });
        return;
      }
      const family = form.get('grant_type') === 'refresh_token' ? this.#rotated(form) : this.#redeemed(form);
      if (family === undefined) json(400, { error: 'invalid_grant' });
      else json(200, this.#tokens(family));
    } else json(404, {});
  }

  #redeemed(form: URLSearchParams): number | undefined {
    const code = form.get('code') ?? '';
    const found = this.#codes.get(code);
    this.#codes.delete(code);
    return found?.family;
  }

  #rotated(form: URLSearchParams): number | undefined {
    const found = this.#refresh.get(form.get('refresh_token') ?? '');
    if (!found) return undefined;
    if (found.isUsed) {
      this.reused += 1;
      for (const [token, { family }] of this.#refresh) if (family === found.family) this.#refresh.delete(token);
      return undefined;
    }
    found.isUsed = true;
    return found.family;
  }

  #tokens(family: number) {
    const [access, refresh] = [this.#new('access'), this.#new('refresh')];
    this.good.add(access);
    this.#refresh.set(refresh, { family, isUsed: false });
    return { access_token: access, token_type: 'Bearer', expires_in: 3600, refresh_token: refresh };
  }

  #new(kind: string): string {
    const value = `${kind}-of-the-rotating-server-${new URL(this.url).port}-${++this.#made}`;
    if (kind !== 'client') this.secrets.push(value);
    return value;
  }
}
