import type { Readable } from 'node:stream';

/** What one transfer may do. The caller decides it, because the address came from a peer. */
export interface TransferRules {
  /**
   * Allowed hosts: `host` (at port 443), `host:port`, or `*.host` for every name below it. Undefined allows every
   * public host, an empty list none. Their addresses must be public in any case. The origins below need no entry.
   */
  allowedHosts?: readonly string[] | undefined;
  /**
   * Origin (`http://host:port`) of the upstream that named the address. It is allowed even with a private address or
   * over http.
   */
  ownOrigin?: string | undefined;
  /** Further origins that get the same exception, as the operator wrote them. */
  origins?: readonly string[] | undefined;
  /** Ports of this machine where Wharf itself listens. Transfers to them are refused. */
  ownPorts?: readonly number[] | undefined;
  /** Largest file, bytes: as announced and as counted. */
  maxBytes: number;
  /** Name of the setting behind `maxBytes`, for the error. Default `limits.file`. */
  maxBytesName?: string;
  /**
   * Milliseconds: `connect` until the connection is open (name, TCP and TLS), `idle` without a byte in either
   * direction, `total` including the reading of the body. A slow reader or a slow source of ours does not count as the
   * peer's silence.
   */
  timeouts: { connect: number; idle: number; total: number };
  /** Most redirects of a download, to the same host and port only. An upload follows none. */
  redirects: number;
}

/** A file that a peer has named by an address. */
export interface DownloadRequest {
  url: string;
  /** The descriptor's headers, as written. Names and values are checked here. */
  headers?: Readonly<Record<string, string>> | undefined;
  rules: TransferRules;
}

/** The answer that brings it, before its body is read. */
export interface Download {
  /** 2xx; any other status is an error. */
  status: number;
  /** As node:http reads them. They come from a peer: do not show or store any of them unchecked. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As announced. Without it, only a size or digest known from elsewhere shows whether the body is complete. */
  contentLength?: number;
  /** Read it to its end or destroy it. Fails with a GatewayError of `download`, or with the signal's reason. */
  body: Readable;
}

/** `read` is called at most once and yields exactly `size` bytes. */
export interface FileToSend {
  name: string;
  mimeType: string;
  size: number;
  read(): AsyncIterable<Buffer>;
}

/** A file that a peer wants at an address of its own. */
export interface UploadRequest {
  url: string;
  method: 'PUT' | 'POST';
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Sends a form: these fields in their order, then the file as `fileField`, and further files under the same name.
   * Otherwise the body is the file itself.
   */
  multipart?:
    | {
        fileField: string;
        fields?: Readonly<Record<string, string>> | undefined;
        others?: readonly FileToSend[] | undefined;
      }
    | undefined;
  file: FileToSend;
  rules: TransferRules;
}

/** What the peer has answered. */
export interface UploadAnswer {
  /** The peer's answer after it had the file, or instead of taking it; a redirect is an error. */
  status: number;
  /** At most the first 64 KiB. */
  body: Buffer;
}

/**
 * Fetches from, and sends to, addresses that a peer named. Addresses are checked before anything is sent. A request
 * carries nothing of Wharf's own (no credential, no cookie). Errors never hold a URL's path or query, which may be a
 * credential. An aborted signal rejects with its own reason.
 */
export interface Transfer {
  /** @throws GatewayError `fetch_forbidden`, `fetch_failed`, `fetch_too_large`, `fetch_timeout` */
  download(request: DownloadRequest, signal: AbortSignal): Promise<Download>;
  /** @throws GatewayError as for `download`, or the error that `file.read()` threw */
  upload(request: UploadRequest, signal: AbortSignal): Promise<UploadAnswer>;
  /** Aborts every transfer under way. */
  close(): Promise<void>;
}
