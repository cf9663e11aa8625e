import type { AllowRule, KeyScope } from '../policy/access.js';
import type { AllowanceRules, CallerSettings } from '../policy/allowance.js';
import type { FlowRule } from '../policy/flow.js';
import type { Limits, Timeouts } from '../policy/limits.js';
import type { Means } from '../policy/means.js';
import type { ExchangeLimits } from '../policy/message-limits.js';
import type { ClientProfile } from '../ports/client.js';
import type { ConsoleUser, SettingSource } from '../ports/console.js';
import type { HandoffRule, ToolSettings, UploadTool } from '../ports/file-slot.js';
import type { ClientSettings } from '../ports/oauth.js';
import type { ConfigProblem } from './problems.js';
import type { ServerTransport } from './transports.js';

/** Where to listen. `port` 0 lets the system choose; then `start` reports the real one. */
export interface Address {
  /** An IP address or a host name, IPv6 without brackets. */
  host: string;
  /** 0 … 65535. */
  port: number;
}

/** An adapter picked by `use:`, with its settings as its own schema parsed them. */
export interface Choice {
  /** The name in the adapter list, which is the adapter's file name. */
  use: string;
  /** The adapter's settings without `use`. Only that adapter's `create` reads them. */
  settings: Settings;
}

export type Settings = Readonly<Record<string, unknown>>;

export interface ServerConfig {
  /** `[a-z0-9-]{1,64}`, the first segment of the server's path. */
  name: string;
  /** The server's name in a host's `mcpServers` file, if that is a different one. */
  hostName?: string;
  transport: ServerTransport;
  /** Settings of the upstream adapter. */
  settings: Settings;
  /** Largest message that this upstream accepts, bytes. */
  accepts: number;
  /** This server's limits: the global ones, lowered where the config says so. */
  limits: ExchangeLimits;
  /** By tool name; a map without a prototype, so that any name can be looked up. */
  tools: Record<string, ToolSettings>;
  /** Who may use it; undefined: every caller. */
  allow?: AllowRule[];
  /** Serialized origins that this server may name in addresses, besides its own, even if private. */
  fetchOrigins: readonly string[];
  /** What the server is told about who calls, besides its static headers. */
  upstreamAuth?: UpstreamAuthConfig;
  /** The server's own setting, otherwise that of the top level. */
  uploadTool: UploadTool | 'off';
  /** Where the files are copied that it is given by path; undefined: the system's folder for temporary files. */
  copies?: string;
}

/** A caller's key, and what it reaches. */
export interface ApiKey extends KeyScope {
  name: string;
  /** SHA-256 of the key, 32 bytes. */
  digest: Buffer;
  limits?: CallerSettings | undefined;
}

/** A grant of an authorization server, and what its token is for. */
export interface GrantConfig extends ClientSettings {
  scope?: string | undefined;
  resource?: string | undefined;
  audience?: string | undefined;
}

/** Without `clientId`, Wharf is known by its own client ID metadata document. */
export interface PerUserConfig extends Omit<GrantConfig, 'clientId'> {
  issuer: string;
  clientId?: string | undefined;
}

/** `servers.X.upstreamAuth`: at most one of the first four. */
export interface UpstreamAuthConfig {
  clientCredentials?: GrantConfig | undefined;
  tokenExchange?: GrantConfig | undefined;
  perUser?: PerUserConfig | undefined;
  delegate?: true | undefined;
  identityHeaders?: Readonly<Record<string, string>> | undefined;
}

/** `auth.jwt`, as its schema describes it. */
interface JwtConfig {
  issuers: { issuer: string; jwksUri?: string | undefined; audiences: string[]; algorithms: string[] }[];
  resource: 'perServer' | 'gateway';
  scopes: Record<string, string[]>;
  implies: Record<string, string[]>;
  challenge: 'all' | 'minimal';
  principal: string;
  groups: string;
  clockTolerance: number;
  maxTokenBytes: number;
  typ: 'any' | 'at+jwt';
}

/** `auth.passthrough`: what clients learn about the login of the only server. */
interface PassthroughConfig {
  resource: 'rewrite' | 'verbatim';
  serverUrl?: string | undefined;
}

type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** A whole, checked configuration. Sizes are bytes, times milliseconds. */
export interface Config {
  listen: Address;
  /**
   * How clients reach Wharf, without a trailing slash; it may have a path. Undefined only when Wharf listens on one
   * loopback address: then it is `http://` and the address actually bound.
   */
  publicUrl: string | undefined;
  /** Undefined: no admin port. */
  adminListen: Address | undefined;
  /** Whether other machines may reach it. */
  adminAllowPublic: boolean;
  console: { users: readonly ConsoleUser[] };
  /** Authority of the `mcp-file://` handles. */
  gatewayId: string;
  /** At least one, in the order of the file. */
  servers: ServerConfig[];
  objects: Choice;
  state: Choice;
  previews: Choice;
  antivirus: Choice;
  audit: Choice;
  telemetry: Choice;
  /**
   * `lasting`: only this machine can reach Wharf, so its own links work as long as their files. `endWithProcess`: but no
   * longer than the process, as `wharf stdio` has another port at each start.
   */
  links: { style: 'presigned' | 'gateway'; ttl: number; lasting: boolean; endWithProcess?: true };
  /** Those of the process and of each message, and those of each caller. */
  limits: Limits & CallerSettings;
  callers: AllowanceRules['callers'][number][];
  ceiling: CallerSettings;
  timeouts: Timeouts;
  /** How long a file lives after its last use. At least `links.ttl`. */
  retention: number;
  auth:
    | { use: 'none'; allowPublic: boolean }
    | { use: 'apiKeys'; keys: ApiKey[] }
    | { use: 'jwt'; jwt: JwtConfig }
    | { use: 'passthrough'; passthrough: PassthroughConfig }
    /** Written `[apiKeys, jwt]`. */
    | { use: 'both'; keys: ApiKey[]; jwt: JwtConfig };
  uploadTool: UploadTool | 'off';
  /** How people are asked for files, the best way first. `identity`: what their pages ask for. */
  elicitation: { order: readonly Means[]; rounds: number; identity: 'auto' | 'code' | 'none' };
  /** Which file may go to which server; those of `handoff` come after them. */
  flow: FlowRule[];
  handoff: HandoffRule[];
  clients: ClientProfile[];
  /** Keys that protect what the state store must not reveal; the first one signs. Empty with state in memory. */
  secrets: string[];
  /** Lower-case `host` or `host:port`, besides publicUrl's host and the loopback names, which always pass. */
  allowedHosts: string[];
  /** Hosts that clients may name in addresses; undefined allows every public one. For `TransferRules`. */
  fetch: { allowedHosts: readonly string[] | undefined };
  /** Serialized origins, besides publicUrl's own, which always passes. */
  allowedOrigins: string[];
  logLevel: LogLevel;
  /** What works, but is written in a way that a later version may not take. */
  warnings: ConfigProblem[];
  /** Where settings that are not defaults come from, by their paths. */
  sources: ReadonlyMap<string, SettingSource>;
  /** What a child process inherits: see `inheritedFrom`. */
  inheritedEnv: Readonly<Record<string, string>>;
  /** Names of the other variables of Wharf's environment. */
  withheldEnv: readonly string[];
}
