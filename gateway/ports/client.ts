import type { JsonObject, JsonValue } from './json.js';

/** What a client has said of itself. */
export interface ClientFacts {
  /** The negotiated MCP version, such as `2025-06-18`. */
  protocolVersion: string;
  capabilities: JsonObject;
  /** `clientInfo.name`, where it is known. */
  name?: string;
  /** It speaks MCP over stdio, where an answer can only be JSON. */
  isOverStdio?: true;
  /** Dialects that the operator says it speaks (`clients:`), for clients that cannot declare it themselves. */
  dialects?: readonly string[];
}

/** The error of a JSON-RPC answer. */
export interface RpcError {
  code: number;
  message: string;
  data?: JsonValue;
}
