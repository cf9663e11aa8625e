import type { Means } from '../policy/means.js';
import type { LimitsOfSide } from '../policy/message-limits.js';
import type { Host } from './host.js';
import type { JsonObject, JsonValue } from './json.js';

/** What a client has declared about itself. */
export interface ClientFacts {
  /** The negotiated MCP version, such as `2025-06-18`. */
  protocolVersion: string;
  capabilities: JsonObject;
  /** `clientInfo.name`, if known. */
  name?: string;
  /** The client speaks MCP over stdio, where an answer can only be JSON. */
  isOverStdio?: true;
  /** Wharf's links are plain http, and no connection of the client's shows that it goes to such addresses. */
  hasOnlyHttp?: true;
  /** Dialects of a client that cannot declare them itself, configured by the operator (`clients:`). */
  dialects?: readonly string[];
  /** Ways in which its user can be asked for a file, configured by the operator, whatever it declares. */
  elicitation?: readonly Means[];
  /** What its host shows of results; absent: nothing is known about it. */
  host?: Host;
  /** Limits that the operator has set for such clients: the same object for all of them. */
  limits?: LimitsOfSide;
}

/** `clients`: what a client cannot declare. The first entry that matches counts. */
export interface ClientProfile {
  /** Every given member must match; a name or a principal is given. */
  match: {
    /** `clientInfo.name`; `*` matches anything. */
    name?: string;
    /** Range of `clientInfo.version`. */
    version?: string;
    principal?: string;
  };
  /** Dialects that it speaks without declaring them. */
  dialects: string[];
  /** Ways in which its user can be asked for a file; undefined: as it declares. */
  elicitation?: readonly Means[];
  /** Name of the shipped profile of a host that is like it. */
  like?: string;
  /** How results are written for it, where that differs from its profile. */
  host: Host;
  /** Limits of the messages that it sends and gets. */
  limits?: LimitsOfSide;
}

/** The error of a JSON-RPC response. */
export interface RpcError {
  code: number;
  message: string;
  data?: JsonValue;
}
