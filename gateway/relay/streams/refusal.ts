import { asGatewayError, GatewayError } from '../../errors.js';
import { isObject } from '../../json/value.js';
import type { ClientFacts, RpcError } from '../../ports/client.js';
import type { JsonValue } from '../../ports/json.js';
import type { ResourceStreaming, StreamRefusal } from '../../ports/resource-streaming.js';
import { silenced } from '../upstream/own-words.js';

/** A server's own error, unless it concerns the resource and a dialect has its own form for it. */
export class ServerError extends Error {
  readonly error: RpcError;
  constructor(error: RpcError) {
    super(error.message);
    this.error = error;
  }
}

const UNKNOWN_METHOD = -32601;

const NOT_STREAMED: StreamRefusal['reason'] = 'streamNotSupported';

const TEXTS = {
  undeclared: 'The client has not declared that it takes streams.',
  resourceNotFound: 'There is no such resource.',
  streamNotSupported: 'The resource cannot be streamed.',
  maxStreamSizeExceeded: 'The resource is larger than the client takes.',
} as const;

/** The error to throw for a server's error answer. */
export function refusalOf(error: JsonValue, uri: string, streaming: ResourceStreaming): GatewayError | ServerError {
  if (!isObject(error) || typeof error.code !== 'number' || typeof error.message !== 'string') {
    return new GatewayError('upstream_invalid', { reason: 'its error is not one of JSON-RPC' });
  }
  const { code, message } = error;
  const data = error.data === undefined ? undefined : silenced(error.data);
  const reason = streaming.readError({ code, message, ...(data !== undefined && { data }) });
  if (reason) return refused(reason, uri);
  return new ServerError({ code, message, ...(data !== undefined && { data }) });
}

/** A refusal for the reasons that a dialect has a form for. */
export function refused(
  reason: StreamRefusal['reason'],
  uri: string,
  sizes: Pick<StreamRefusal, 'size' | 'maxSize'> = {},
): GatewayError {
  return new GatewayError('stream_refused', { reason, uri, text: TEXTS[reason], ...sizes });
}

/**
 * A server that streams may give some of its resources by `resources/read` alone, which it then must answer.
 * @returns for such a refusal
 * @throws every other failure
 */
export function unlessOnlyRead(thrown: unknown): undefined {
  const isOnlyRead = thrown instanceof GatewayError && thrown.facts.reason === NOT_STREAMED;
  const isUnknown = thrown instanceof ServerError && thrown.error.code === UNKNOWN_METHOD;
  if (!isOnlyRead && !isUnknown) throw thrown;
}

/** The error that the client gets. */
export function rpcErrorOf(thrown: unknown, streaming: ResourceStreaming, client: ClientFacts): RpcError {
  if (thrown instanceof ServerError) return thrown.error;
  const error = asGatewayError(thrown);
  if (error.code !== 'stream_refused') return error.toJsonRpc() as RpcError;
  return streaming.refuse(error.facts as unknown as StreamRefusal, client);
}
