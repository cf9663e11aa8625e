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

/** What a server said of the bytes, before anything is known about them. */
export interface FileClaims {
  name?: string;
  mimeType?: string;
  /** The URI under which the server itself knows it. */
  uri?: string;
}
