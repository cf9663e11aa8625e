import { followLogin } from './authorization-server.js';

/** Nothing listens there: the browser's last redirect is read, not followed. */
const CALLBACK = 'http://127.0.0.1:9/callback';

/** What a client says of itself when it registers, or in its document. */
export const ABOUT = {
  client_name: 'a test',
  redirect_uris: [CALLBACK],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
};

/** What an SDK client keeps of its login, with a browser that needs no person. */
export class Login {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata = ABOUT;
  readonly clientMetadataUrl?: string;
  /** Scopes that it has asked for, one text for each login. */
  readonly asked: string[] = [];
  readonly resources = new Set<string>();
  clientId = '';
  #client: never | undefined;
  #tokens: never | undefined;
  #verifier = '';
  #redirected = new URLSearchParams();

  constructor(document?: string) {
    if (document !== undefined) this.clientMetadataUrl = document;
  }

  clientInformation = () => this.#client;
  saveClientInformation = (client: unknown) => {
    this.#client = client as never;
    this.clientId = (client as { client_id: string }).client_id;
  };
  tokens = () => this.#tokens;
  saveTokens = (tokens: unknown) => {
    this.#tokens = tokens as never;
  };
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;

  redirectToAuthorization = async (url: URL) => {
    // some clients ask for a refresh token besides
    const scopes = url.searchParams.get('scope')?.split(' ') ?? [];
    this.asked.push(scopes.filter((scope) => scope !== 'offline_access').join(' '));
    this.resources.add(url.searchParams.get('resource') ?? '');
    this.clientId = url.searchParams.get('client_id') ?? '';
    this.#redirected = (await followLogin(url, CALLBACK)).searchParams;
  };

  get code(): string {
    return this.#redirected.get('code') ?? '';
  }

  get iss(): string | undefined {
    return this.#redirected.get('iss') ?? undefined;
  }
}
