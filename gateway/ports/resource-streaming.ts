import type { ClientFacts, RpcError } from './client.js';
import type { FileRef } from './file.js';
import type { JsonObject } from './json.js';

/** Why a client gets no bytes of a resource. */
export interface StreamRefusal {
  reason: 'undeclared' | 'resourceNotFound' | 'streamNotSupported' | 'maxStreamSizeExceeded';
  text: string;
  uri?: string;
  /** Bytes, if known. */
  size?: number;
  /** The most bytes that the client takes. */
  maxSize?: number;
}

/** A method that returns a resource's bytes instead of JSON, between client and Wharf and between Wharf and server. */
export interface ResourceStreaming {
  readonly method: string;

  // a client asks Wharf

  /** What a client declares about the streams it takes; undefined: it must not get one. */
  takenBy(client: ClientFacts): { maxBytes?: number } | undefined;
  /** The requested URI. @throws GatewayError `params_invalid` */
  read(params: JsonObject): string;
  refuse(refusal: StreamRefusal, client: ClientFacts): RpcError;
  /** The result with a link instead of the bytes. */
  link(uri: string, mimeType: string, ref: FileRef): JsonObject;

  // Wharf asks a server

  /** True for the capabilities of a server that offers the method. */
  givenBy(capabilities: JsonObject): boolean;
  /**
   * What a server's error, to this method or to `resources/read`, says about the resource; undefined: something else.
   */
  readError(error: RpcError): StreamRefusal['reason'] | undefined;
  /** The address of the bytes, if a server's result gives one. */
  readLink(result: JsonObject): { url: string; mimeType?: string; size?: number } | undefined;
}
