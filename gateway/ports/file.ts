/** The pointer to a file that goes into a message: its name, its link, and the link's lifetime. */
export interface FileRef {
  /** The handle, `mcp-file://<gatewayId>/<id>`. A name, not a credential. */
  uri: string;
  /** The download link, a bearer right. */
  url: string;
  /** A link of Wharf's own of at most some 100 characters, which a model can repeat. */
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

/** A link for the texts that a model reads, with a life of its own. */
export interface ShortLink {
  url: string;
  /** When it stops working, RFC 3339. */
  expiresAt: string;
  ttlSeconds: number;
  /** The link works as long as the file is kept. Each use prolongs that, so `expiresAt` is the earliest expiry. */
  lasts: boolean;
  /** It works no longer than this process runs. */
  endsWithProcess?: true;
}

/** What a server says about the bytes, before Wharf has read them. */
export interface FileClaims {
  name?: string;
  mimeType?: string;
  /** The server's own URI of the file. */
  uri?: string;
}
