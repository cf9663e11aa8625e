/** OAuth as a resource server and as a client: tokens of others are verified, tokens for Wharf are asked for. */
export interface OAuth {
  /** Makes what verifies the tokens of these issuers. It asks them for their keys when it needs them. */
  verifier(rules: TokenRules): TokenVerifier;
  /** Makes what asks an authorization server for tokens. @param server whose tokens they are, for errors */
  client(settings: ClientSettings, server: string, introduction?: Introduction): TokenClient;
  /**
   * What an authorization server says of itself (RFC 8414 §2).
   * @throws Error when it has no metadata that names this very issuer
   */
  metadata(issuer: string): Promise<Readonly<Record<string, unknown>>>;
  /**
   * The keys of an issuer, as the verifier of its tokens would take them.
   * @throws Error, which says why there are none
   */
  keys(issuer: Issuer): Promise<IssuerKeysFound>;
  /** Ends every request under way. */
  close(): Promise<void>;
}

/** An authorization server whose tokens are taken. */
export interface Issuer {
  /** Compared byte by byte with the claim `iss`. */
  readonly issuer: string;
  /** Where its keys are; without it the issuer's own metadata says so. No token names such an address. */
  readonly jwksUri?: string | undefined;
  readonly algorithms: readonly string[];
}

/** What an issuer shows of its keys. */
export interface IssuerKeysFound {
  /** Keys that can verify a token. */
  readonly count: number;
  /** The issuer's clock, where its answer says it: milliseconds since the epoch. */
  readonly date?: number | undefined;
}

/** Which tokens of callers are taken. */
export interface TokenRules {
  readonly issuers: readonly Issuer[];
  /** Milliseconds by which the clocks may differ. */
  readonly clockTolerance: number;
  /** `at+jwt`: only tokens whose header says that they are access tokens (RFC 9068). */
  readonly typ: 'any' | 'at+jwt';
}

/** Why a token is refused: one of a closed list, because a text of the token's own could say anything. */
export type TokenFault =
  | 'malformed'
  | 'type'
  | 'algorithm'
  | 'critical'
  | 'issuer'
  | 'key'
  | 'signature'
  | 'expired'
  | 'early'
  | 'claims'
  | 'bound';

/** A token whose signature, issuer and times hold. For whom it is has not been compared yet. */
export interface VerifiedToken {
  readonly issuer: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** The claim `aud`, always a list. */
  readonly audiences: readonly string[];
  /** When it ends, with the tolerance, in milliseconds since the epoch. */
  readonly until: number;
  /** False as soon as the issuer has taken keys back, or has not been heard of for too long: then verify it again. */
  isCurrent(): boolean;
}

/** Whether the tokens of an issuer can be checked now. */
export interface IssuerState {
  readonly issuer: string;
  /** Asks for its keys if there are none. @throws GatewayError `keys_unavailable` while there are none */
  check(): Promise<void>;
}

/** Checks tokens of callers. Whom a token is for is compared by its caller. */
export interface TokenVerifier {
  readonly issuers: readonly IssuerState[];
  /** @throws GatewayError `keys_unavailable` when the issuer's keys cannot be had */
  verify(token: string): Promise<VerifiedToken | { readonly fault: TokenFault }>;
  /** Asks for the keys of every issuer that has not shown them yet. Never rejects. */
  prepare(): Promise<void>;
}

/** How Wharf is known to an authorization server. */
export interface ClientSettings {
  /** Its metadata names the endpoints that are not given. */
  readonly issuer?: string | undefined;
  readonly tokenUrl?: string | undefined;
  /** Undefined: by its document where the authorization server reads such documents, else by registering itself there. */
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  /** PKCS#8 in PEM, instead of a secret (RFC 7523). */
  readonly privateKey?: string | undefined;
  readonly algorithm?: string | undefined;
  /** How the secret is sent. */
  readonly secretBy?: 'basic' | 'body' | undefined;
}

/** How Wharf becomes known to an authorization server where the operator has not registered it. */
export interface Introduction {
  /** What Wharf says of itself (RFC 7591 §2); `client_id` is the address where it says so too. */
  readonly document: Readonly<Record<string, unknown>> & { readonly client_id: string };
  readonly registrations: Registrations;
}

/** What an authorization server has registered Wharf as (RFC 7591 §3.2.1). None of it is ever logged. */
export interface Registered {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly secretBy?: 'basic' | 'body' | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
}

/** Keeps a registration for every replica. */
export interface Registrations {
  /** The registration; without one that holds, it is made, by one replica for all. */
  get(make: () => Promise<Registered>): Promise<Registered>;
  /** The authorization server does not know it any longer. */
  forget(registered: Registered): Promise<void>;
}

/** What an authorization server gives. None of it is ever logged. */
export interface Tokens {
  readonly accessToken: string;
  /** Milliseconds since the epoch; undefined where the server does not say. */
  readonly expiresAt?: number | undefined;
  /** When it was asked for; known where `expiresAt` is. */
  readonly givenAt?: number | undefined;
  readonly refreshToken?: string | undefined;
}

/** Wharf as a client of an authorization server. */
export interface TokenClient {
  /**
   * Asks for tokens.
   * @param grant the parameters of the grant
   * @throws GatewayError `upstream_login_failed`; its fact `isFinal` says that the same grant will not succeed later
   */
  request(grant: Readonly<Record<string, string>>): Promise<Tokens>;
  /** The address at which a person logs in, with these parameters. @throws GatewayError `upstream_login_failed` */
  authorizationUrl(params: Readonly<Record<string, string>>): Promise<string>;
  /** Whether the authorization server always names itself when it sends a browser back (RFC 9207 §3). */
  namesItself(): Promise<boolean>;
}
