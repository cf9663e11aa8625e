/** A request's or response's id. `null` only in an error response to something that could not be read. */
export type JsonRpcId = string | number | null;

export interface JsonRpcRequest {
  jsonrpc: '2.0';
  id: string | number;
  method: string;
  params?: Record<string, unknown>;
}

export interface JsonRpcNotification {
  jsonrpc: '2.0';
  method: string;
  params?: Record<string, unknown>;
}

export interface JsonRpcResult {
  jsonrpc: '2.0';
  id: string | number;
  result: Record<string, unknown>;
}

export interface JsonRpcError {
  jsonrpc: '2.0';
  id: JsonRpcId;
  error: { code: number; message: string; data?: unknown };
}

export type JsonRpcResponse = JsonRpcResult | JsonRpcError;
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse;

/** A message with a method that wants an answer. MCP, unlike JSON-RPC, allows no `null` id here. */
export function isRequest(value: unknown): value is JsonRpcRequest {
  return isEnvelope(value) && isId(value.id) && typeof value.method === 'string' && hasGoodParams(value);
}

export function isNotification(value: unknown): value is JsonRpcNotification {
  return isEnvelope(value) && !('id' in value) && typeof value.method === 'string' && hasGoodParams(value);
}

export function isResponse(value: unknown): value is JsonRpcResponse {
  return isResult(value) || isError(value);
}

export function isResult(value: unknown): value is JsonRpcResult {
  return isEnvelope(value) && isId(value.id) && isObject(value.result) && !('error' in value) && !('method' in value);
}

export function isError(value: unknown): value is JsonRpcError {
  if (!isEnvelope(value) || 'result' in value || 'method' in value) return false;
  // an error to an unreadable request has a null id, and some servers leave it out
  if (value.id !== null && value.id !== undefined && !isId(value.id)) return false;
  const { error } = value;
  return isObject(error) && typeof error.code === 'number' && typeof error.message === 'string';
}

function isEnvelope(value: unknown): value is Record<string, unknown> {
  return isObject(value) && value.jsonrpc === '2.0';
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function hasGoodParams(value: Record<string, unknown>): boolean {
  return value.params === undefined || isObject(value.params);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
