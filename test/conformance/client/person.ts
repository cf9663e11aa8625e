import type { DpopSession, OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/client';

/** Nothing listens there: the address is read from the redirect. */
const CALLBACK = 'http://localhost:3000/callback';

/** The suite's authorization servers know this client by its document. */
const DOCUMENT = 'https://conformance-test.local/client-metadata.json';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

type Stored<Method extends 'clientInformation' | 'tokens'> = Awaited<ReturnType<OAuthClientProvider[Method]>>;

/** A person who agrees to everything, and what their client keeps. */
export class Person implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadataUrl = DOCUMENT;
  readonly clientMetadata = {
    client_name: 'wharf-conformance',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: 'native',
  };
  readonly dpop?: () => Promise<DpopSession>;
  #client: Stored<'clientInformation'>;
  #tokens: Stored<'tokens'>;
  #discovered: OAuthDiscoveryState | undefined;
  #verifier = '';
  /** What the browser has come back with. */
  answer: URLSearchParams | undefined;

  constructor({ client, dpop }: { client?: Stored<'clientInformation'>; dpop?: () => Promise<DpopSession> } = {}) {
    this.#client = client;
    if (dpop) this.dpop = dpop;
  }

  clientInformation = () => this.#client;
  saveClientInformation = (client: NonNullable<Stored<'clientInformation'>>) => {
    this.#client = client;
  };
  tokens = () => this.#tokens;
  saveTokens = (tokens: NonNullable<Stored<'tokens'>>) => {
    this.#tokens = tokens;
    // the next login looks anew, because the server may have moved to another authorization server
    this.#discovered = undefined;
  };
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
  saveDiscoveryState = (state: OAuthDiscoveryState) => {
    this.#discovered = state;
  };
  discoveryState = () => this.#discovered;

  invalidateCredentials = (scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery') => {
    if (scope === 'all' || scope === 'client') this.#client = undefined;
    if (scope === 'all' || scope === 'tokens') this.#tokens = undefined;
    if (scope === 'all' || scope === 'discovery') this.#discovered = undefined;
  };

  redirectToAuthorization = async (url: URL) => {
    const { headers } = await fetch(url, { redirect: 'manual' });
    this.answer = new URL(headers.get('location') ?? '', url).searchParams;
  };
}

/** A program that shows a token of its platform instead of a person's consent (RFC 7523). */
export class Workload implements OAuthClientProvider {
  readonly redirectUrl = undefined;
  readonly clientMetadata;
  readonly #context: Readonly<Record<string, string>>;
  #tokens: Stored<'tokens'>;

  constructor(context: Readonly<Record<string, string>>) {
    this.#context = context;
    this.clientMetadata = { redirect_uris: [], grant_types: [JWT_BEARER], token_endpoint_auth_method: 'none' };
  }

  clientInformation = () => ({ client_id: this.#context.client_id ?? '' });
  tokens = () => this.#tokens;
  saveTokens = (tokens: NonNullable<Stored<'tokens'>>) => {
    this.#tokens = tokens;
  };
  redirectToAuthorization = () => {
    throw new Error('a program has no browser');
  };
  saveCodeVerifier = () => undefined;
  codeVerifier = () => '';
  prepareTokenRequest = () => new URLSearchParams({ grant_type: JWT_BEARER, assertion: this.#context.valid_jwt ?? '' });
}
