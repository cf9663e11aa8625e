import type { Readable } from 'node:stream';

/** What one transfer may do. Whoever asks for it decides, for the address came from a peer. */
export interface TransferRules {
  /**
   * Hosts that may be asked: `host` (at port 443), `host:port`, or `*.host` for every name below it. Undefined means
   * every public one, an empty list none. Their addresses must be public all the same. The origins below need no
   * entry.
   */
  allowedHosts?: readonly string[] | undefined;
  /**
   * Origin (`http://host:port`) of the upstream that named the address. It may be asked although its address is private
   * or it is http.
   */
  ownOrigin?: string | undefined;
  /** Further origins for which the same holds, as the operator wrote them. */
  origins?: readonly string[] | undefined;
  /** Ports of this machine that are Wharf's own and may not be asked. */
  ownPorts?: readonly number[] | undefined;
  /** Largest file, bytes: as announced and as counted. */
  maxBytes: number;
  /** The name of what set `maxBytes`, for the error. Default `limits.file`. */
  maxBytesName?: string;
  /**
   * Milliseconds: until a connection stands (name, TCP and TLS), without a byte in either direction, and altogether,
   * the reading of the body included. A reader or a source that is itself slow is no silence of the peer.
   */
  timeouts: { connect: number; idle: number; total: number };
  /** Redirects that a download follows, on the same host and port only. An upload follows none. */
  redirects: number;
}

export interface DownloadRequest {
  url: string;
  /** What the descriptor says, as it was written. Names and values are checked here. */
  headers?: Readonly<Record<string, string>> | undefined;
  rules: TransferRules;
}

export interface Download {
  /** 2xx; any other status is an error. */
  status: number;
  /** As node:http reads them. A peer wrote them: nothing in them is safe to show or store as it is. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As announced. Without it, only a size or digest known from elsewhere tells whether the body came whole. */
  contentLength?: number;
  /** Must be read to its end or destroyed. Errs with a GatewayError of `download`, or with the signal's reason. */
  body: Readable;
}

export interface UploadRequest {
  url: string;
  method: 'PUT' | 'POST';
  headers?: Readonly<Record<string, string>> | undefined;
  /** Send a form: these fields in their order, then the file as `fileField`. Otherwise the body is the file itself. */
  multipart?: { fileField: string; fields?: Readonly<Record<string, string>> | undefined } | undefined;
  /** `read` is called at most once, and yields exactly `size` bytes. */
  file: { name: string; mimeType: string; size: number; read(): AsyncIterable<Buffer> };
  rules: TransferRules;
}

export interface UploadAnswer {
  /** Whatever the peer said once it had the file, or instead of taking it; a redirect is an error. */
  status: number;
  /** At most its first 64 KiB. */
  body: Buffer;
}

/**
 * Fetches from, and sends to, addresses that a peer named. The addresses are checked before anything is sent, nothing
 * of Wharf's own (no credential, no cookie) goes with a request, and errors never hold a URL's path or query, which
 * may be a credential. An aborted signal rejects with its own reason.
 */
export interface Transfer {
  /** @throws GatewayError `fetch_forbidden`, `fetch_failed`, `fetch_too_large`, `fetch_timeout` */
  download(request: DownloadRequest, signal: AbortSignal): Promise<Download>;
  /** @throws GatewayError the same, or what `file.read()` threw */
  upload(request: UploadRequest, signal: AbortSignal): Promise<UploadAnswer>;
  /** Breaks every transfer under way. */
  close(): Promise<void>;
}
