import type { Limits, Timeouts } from '../policy/limits.js';
import type { ClientProfile, HandoffRule, ToolSettings, UploadTool } from '../ports/file-slot.js';

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
  /** The adapter's settings without `use`. Hand them to that adapter's `create`, nothing else reads them. */
  settings: Settings;
}

export type Settings = Readonly<Record<string, unknown>>;

/** `probed` means: try Streamable HTTP first, then legacy HTTP+SSE. The settings of the two are the same. */
export type ServerTransport = 'streamable-http' | 'legacy-sse' | 'stdio' | 'probed';

export interface ServerConfig {
  /** `[a-z0-9-]{1,64}`, the first segment of the server's path. */
  name: string;
  /** What the `mcpServers` file of a host calls it, where that is another name. */
  hostName?: string;
  transport: ServerTransport;
  /** Settings of the upstream adapter. */
  settings: Settings;
  /** Largest message this upstream takes, bytes. */
  accepts: number;
  /** The limits of this server: the global ones, lowered where the config says so. */
  limits: Limits;
  /** By the tool's name; a map without a prototype, so that any name can be looked up. */
  tools: Record<string, ToolSettings>;
  /** Serialized origins that addresses named by this server may have, beside its own, however private they are. */
  fetchOrigins: readonly string[];
  /** The server's own, else the top level's. */
  uploadTool: UploadTool | 'off';
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** A whole, checked configuration. Sizes are bytes, times milliseconds. */
export interface Config {
  listen: Address;
  /**
   * How clients reach Wharf, without a trailing slash; it may have a path. Undefined only when listening on one
   * loopback address: then it is `http://` and the address actually bound.
   */
  publicUrl: string | undefined;
  adminListen: Address;
  /** Whether it may be reached from other machines. */
  adminAllowPublic: boolean;
  /** Authority of `mcp-file://` handles. */
  gatewayId: string;
  /** At least one, in the order of the file. */
  servers: ServerConfig[];
  objects: Choice;
  state: Choice;
  thumbnails: Choice;
  /** `lasting`: only this machine can reach Wharf, and its own links work as long as their files. */
  links: { style: 'presigned' | 'gateway'; ttl: number; lasting: boolean };
  limits: Limits;
  timeouts: Timeouts;
  /** How long a file lives after its last use. At least `links.ttl`. */
  retention: number;
  auth:
    | { use: 'none'; allowPublic: boolean }
    /** `digest`: SHA-256 of the key, 32 bytes. */
    | { use: 'apiKeys'; keys: { name: string; digest: Buffer }[] };
  uploadTool: UploadTool | 'off';
  handoff: HandoffRule[];
  clients: ClientProfile[];
  /** Keys of what the state store must not give away; the first one signs. Empty with state in memory. */
  secrets: string[];
  /** Lower-case `host` or `host:port`, beside publicUrl's host and the loopback names, which always pass. */
  allowedHosts: string[];
  /** Hosts that addresses named by clients may have; undefined means every public one. For `TransferRules`. */
  fetch: { allowedHosts: readonly string[] | undefined };
  /** Serialized origins, beside publicUrl's own, which always passes. */
  allowedOrigins: string[];
  logLevel: LogLevel;
  /** What a stdio child inherits: HOME, LANG, PATH, TMPDIR and USER, where they are set. */
  inheritedEnv: Readonly<Record<string, string>>;
}
