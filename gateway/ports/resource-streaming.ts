import type { ClientFacts, RpcError } from './client.js';
import type { FileRef } from './file.js';
import type { JsonObject } from './json.js';

export interface StreamRefusal {
  reason: 'undeclared' | 'resourceNotFound' | 'streamNotSupported' | 'maxStreamSizeExceeded';
  text: string;
  uri?: string;
  /** Bytes, where they are known. */
  size?: number;
  /** What the client takes at most. */
  maxSize?: number;
}

/** A method that is asked for a resource and answered with its bytes instead of JSON, towards both sides. */
export interface ResourceStreaming {
  readonly method: string;

  // a client asks Wharf

  /** What a client says of the streams it takes; undefined: it must get none. */
  takenBy(client: ClientFacts): { maxBytes?: number } | undefined;
  /** The URI that is asked for. @throws GatewayError `params_invalid` */
  read(params: JsonObject): string;
  refuse(refusal: StreamRefusal, client: ClientFacts): RpcError;
  /** The result where a link takes the place of the bytes. */
  link(uri: string, mimeType: string, ref: FileRef): JsonObject;

  // Wharf asks a server

  /** True for the capabilities of a server that answers the method. */
  givenBy(capabilities: JsonObject): boolean;
  /** What a server's error, to this method or to `resources/read`, says of the resource; undefined: something else. */
  readError(error: RpcError): StreamRefusal['reason'] | undefined;
  /** The address of the bytes, where a server's result gives one. */
  readLink(result: JsonObject): { url: string; mimeType?: string; size?: number } | undefined;
}
