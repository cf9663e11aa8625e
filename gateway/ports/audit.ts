/** A record of decisions for people who must be able to say later who did what: who called, which file went where. */
export interface Audit {
  readonly name: string;
  /** False where nothing is recorded. Then a caller need not gather what an entry says, and asks nothing else. */
  readonly isOn: boolean;
  /**
   * Records a decision before it takes effect: the caller waits for it, and for a refusal to record it lets nothing
   * happen.
   * @throws GatewayError `audit_unavailable` when the entry must be recorded and cannot be
   */
  record(entry: AuditEntry): Promise<void> | void;
  /** Records what needs no permission: a refusal, or a fact. Does not wait, and does not fail. */
  note(entry: AuditEntry): void;
  /**
   * As `record`, unless an entry with this key has been recorded lately: what many requests repeat is one line. The keys
   * that are remembered are bounded in number.
   */
  once(key: string, entry: AuditEntry): Promise<void> | void;
  /**
   * The lines that can still be read here, the newest first; absent where they go elsewhere.
   * @param before only lines older than the one there, and none where that one is gone
   */
  newest?: ((before?: AuditPlace) => AsyncIterable<AuditText>) | undefined;
  /** Resolves when entries can be recorded, or need not be, for readiness. */
  check(): Promise<void>;
  /** Resolves when everything that was taken is recorded, or cannot be within some seconds. */
  close(): Promise<void>;
}

/** Where one line is. */
export interface AuditPlace {
  readonly chain: string;
  readonly seq: number;
  /** Where it begins in its file, in bytes: a reader goes on there without the newer lines. */
  readonly at: number;
}

/** A line without its end, and where it begins in its file, in bytes. */
export interface AuditText {
  readonly text: string;
  readonly at: number;
}

/** What a decision was about: a closed list. */
export type AuditWhat =
  /** A request that a client makes of a server, such as the call of a tool. */
  | 'call'
  /** A file that came out of a server's answer and is kept for the caller. */
  | 'file'
  /** A file that is given to a server. */
  | 'handoff'
  /** A file that is uploaded by a link. */
  | 'upload'
  /** A file that is fetched by a link. */
  | 'download'
  /** What the antivirus says of a file, or that it could not be asked. */
  | 'scan'
  /** The opening of a session, the first use of a token, or a credential that was refused. */
  | 'login'
  /** A person's consent, or its withdrawal, that Wharf may use a server in a principal's name. */
  | 'consent'
  /** A file that an operator revokes, removes or holds, or a session that one ends. */
  | 'control'
  /** The config with which Wharf starts, or which is put in its place or refused. */
  | 'config';

/** One decision. Texts are shortened and cleaned of credentials before they are written. */
export interface AuditEntry {
  readonly what: AuditWhat;
  readonly allowed: boolean;
  /** Who; absent where that is not known. Entries without a principal are bounded in number. */
  readonly principal?: string | undefined;
  /** The operator who does it, or has caused it: a user of the console, or `admin port`; absent for what a caller does. */
  readonly actor?: string | undefined;
  /** The client's own name for itself, or a browser's. */
  readonly client?: string | undefined;
  /** Address of the connection's peer, which may be a proxy. */
  readonly address?: string | undefined;
  /** Config name. */
  readonly server?: string | undefined;
  /** MCP's method, of a call. */
  readonly method?: string | undefined;
  /** Name of the tool, of a tool call. */
  readonly tool?: string | undefined;
  /** Of another call: the prompt, or the resource's URI. Of `control` and `config`: what was done. */
  readonly subject?: string | undefined;
  readonly files?: readonly AuditFile[] | undefined;
  /** Where a file comes from and where it goes: a server's config name; absent for the principal. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** What decided: a rule as the config spells its place, or the name of a limit. */
  readonly rule?: string | undefined;
  /** Why, in words of Wharf's own. */
  readonly reason?: string | undefined;
  /** Of a login: the token, of which no part is written that could be used. */
  readonly token?: AuditToken | undefined;
  /** Of bytes that were given out as the answer to a request, once that is over. */
  readonly outcome?: 'whole' | 'broken off' | undefined;
  /** Of a scan. */
  readonly scan?: AuditScan | undefined;
  /** Of the config in force: SHA-256 of it without its secrets. */
  readonly config?: string | undefined;
  /** The error that the caller gets. */
  readonly code?: string | undefined;
  /** The line stands for so many refusals, besides the one that has a line of its own. */
  readonly count?: number | undefined;
  /** When the time began in which they were counted, ISO 8601. */
  readonly since?: string | undefined;
}

/** Who has caused a decision, beside the principal that it is about. */
export type AuditCause = Pick<AuditEntry, 'actor' | 'client' | 'address'>;

/** Which bytes. A FileRecord is one. */
export interface AuditFile {
  readonly id?: string | undefined;
  /** SHA-256 of the bytes, base64url without padding; absent where they did not come to their end. */
  readonly digest?: string | undefined;
  /** Bytes. */
  readonly size: number;
  readonly mimeType?: string | undefined;
}

/** What an antivirus has said of a file. */
export interface AuditScan {
  /** `passed`: let through without a scan, as the config says. `failed`: there was no verdict. */
  readonly verdict: 'clean' | 'infected' | 'unscannable' | 'passed' | 'failed';
  /** What the file was recognised by. */
  readonly signature?: string | undefined;
  /** Program and signatures, as the antivirus calls them. */
  readonly database?: string | undefined;
}

/** What tells one token of a caller from another. */
export interface AuditToken {
  readonly issuer?: string | undefined;
  /** The OAuth client that it was issued to. */
  readonly client?: string | undefined;
  /** Its `jti`; without a short one, the beginning of its SHA-256. */
  readonly id?: string | undefined;
  /** It only says so of itself: it was refused before its issuer could be made sure of. */
  readonly claimed?: true | undefined;
}
