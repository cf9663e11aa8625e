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
  /** Dialects of a client that cannot declare them itself, configured by the operator (`clients:`). */
  dialects?: readonly string[];
}

/** The error of a JSON-RPC response. */
export interface RpcError {
  code: number;
  message: string;
  data?: JsonValue;
}
