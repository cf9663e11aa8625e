/** A stored file as the state store remembers it (JSON under `file:<id>`). */
export interface FileRecord {
  /** `f_` and 128 random bits as base64url. Object keys begin with it, see handle.ts. */
  id: string;
  /** Who the file belongs to. Under `auth: none` every caller is `anonymous`. */
  principal: string;
  /** Config name of the server it came from; absent: it is its owner's own. */
  server?: string;
  /** Of an owner's own: it was not uploaded, but stood in a call, or behind an address in one. */
  fromCall?: true;
  name: string;
  mimeType: string;
  /** URI of the resource whose content it is, where it was asked for by that. */
  resource?: string;
  /** Bytes. */
  size: number;
  /** SHA-256 of the bytes, base64url without padding. */
  digest: string;
  /** Key in the object store. */
  key: string;
  /** Milliseconds since the Unix epoch. */
  createdAt: number;
  /** The same bytes came again and became this file: more than one message may have told of it. */
  shared?: true;
}

/** The pointer to a file that goes into a message: its name, its link, and how long the link lives. */
export interface FileRef {
  /** The handle, `mcp-file://<gatewayId>/<id>`. A name, not a credential. */
  uri: string;
  /** The download link, a bearer right. */
  url: string;
  /** A link of Wharf's own, in at most some 100 characters, which a model can repeat. */
  link: ShortLink;
  name: string;
  mimeType: string;
  size: number;
  /** `sha-256:` and the digest in base64url, as RFC 9530 names the algorithm. */
  digest: string;
  /** When `url` stops working, RFC 3339. */
  expiresAt: string;
  /** Seconds `url` lives. */
  ttlSeconds: number;
}

export interface ShortLink {
  url: string;
  /** When it stops working, RFC 3339. */
  expiresAt: string;
  ttlSeconds: number;
  /** It works as long as the file is kept, which each use prolongs: then it expires at that time at the earliest. */
  lasts: boolean;
}

/** A stored file as SEP-2631 writes it. */
export interface FileValue {
  uri: string;
  name: string;
  mimeType: string;
  size: number;
  /** `value` is base64url without padding. */
  digest: { algorithm: 'sha-256'; value: string };
}

/** What a server said of the bytes, before anything is known about them. */
export interface FileClaims {
  name?: string;
  mimeType?: string;
  /** The URI under which the server itself knows it. */
  uri?: string;
}
