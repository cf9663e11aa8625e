import { createServer } from 'node:http';
import { exportJWK, type GenerateKeyPairResult, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { close, listen } from './loopback.js';

/** Stands for a list in a list, thousands deep, in what an issuer shows. */
export const DEEP = 'a list in a list in a list';
const DEEP_JSON = '['.repeat(5000) + ']'.repeat(5000);

/** `JSON.stringify` of Node 22 has no room on its stack for a value so deep. */
function written(body: unknown): string {
  return JSON.stringify(body).replaceAll(JSON.stringify(DEEP), DEEP_JSON);
}

/** An issuer made by hand, whose tokens and documents may be as wrong as a test wants. */
export class Issuer {
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  /** Answers every request with this status, where it is set. */
  down: number | undefined;
  /** Members that its metadata has instead of the right ones. */
  metadata: Record<string, unknown> = {};
  /** Where the metadata is. */
  metadataPath = '/.well-known/oauth-authorization-server';
  /** Further members of the list of keys that it shows. */
  extraKeys: unknown[] = [];
  /** Whether it shows the key of the tokens that it makes. */
  showsKey = true;
  #key: { kid: string; pair: GenerateKeyPairResult; alg: string } | undefined;
  #made = 0;
  url = '';
  close: () => Promise<void> = async () => undefined;

  static async start(): Promise<Issuer> {
    const issuer = new Issuer();
    await issuer.rotate();
    const server = createServer(
      (request, response) =>
        void issuer.#answer(request.url ?? '').then(([status, body]) => {
          response.writeHead(status, { 'content-type': 'application/json' }).end(written(body));
        }),
    );
    issuer.url = `http://127.0.0.1:${await listen(server)}`;
    issuer.close = () => close(server);
    return issuer;
  }

  /** Replaces its key. @param kid its name; another one than before by default */
  async rotate(alg = 'ES256', kid?: string): Promise<void> {
    this.#made += 1;
    this.#key = { kid: kid ?? `key-${this.#made}`, pair: await generateKeyPair(alg, { extractable: true }), alg };
  }

  get key() {
    if (!this.#key) throw new Error('no key yet');
    return this.#key;
  }

  /** The public key as it shows it. */
  async shown(): Promise<Record<string, unknown>> {
    const { kid, pair, alg } = this.key;
    return { ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' };
  }

  /** A token as it should be, with changes. A claim that is undefined is left out. */
  token(claims: Record<string, unknown>, header: Record<string, unknown> = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const all = { iss: this.url, sub: 'ada', iat: now, exp: now + 300, scope: 'mcp', ...claims };
    const payload = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    const { kid, pair, alg } = this.key;
    return new SignJWT(payload as JWTPayload)
      .setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header })
      .sign(pair.privateKey);
  }

  async #answer(path: string): Promise<[number, unknown]> {
    this.asked.push(path);
    if (this.down !== undefined) return [this.down, { error: 'down' }];
    if (path === '/jwks') return [200, { keys: [...(this.showsKey ? [await this.shown()] : []), ...this.extraKeys] }];
    if (path === this.metadataPath) return [200, { issuer: this.url, jwks_uri: `${this.url}/jwks`, ...this.metadata }];
    return [404, {}];
  }
}
