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

/** A stored file as SEP-2631 writes it. */
export interface FileValue {
  uri: string;
  name: string;
  mimeType: string;
  size: number;
  /** `value` is base64url without padding. */
  digest: { algorithm: 'sha-256'; value: string };
}
