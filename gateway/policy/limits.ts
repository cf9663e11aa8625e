/**
 * Every number that bounds Wharf, with its unit: sizes in bytes, times in milliseconds. The names are the config's; an
 * error caused by a limit names it as `limits.<name>` or `timeouts.<name>`.
 */
export interface Limits {
  /** A request's JSON-RPC message without its files. */
  message: number;
  /** An upstream message without its files. */
  response: number;
  /** Decoded size up to which an image stays inline in a tool result. */
  inlineImage: number;
  /** Decoded size up to which audio, an embedded blob or anything else stays inline in a tool result. */
  inlineOther: number;
  /** Decoded size up to which a `resources/read` blob passes unchanged. */
  inlineResource: number;
  /** Decoded size up to which a client may send a file inline in an argument. */
  inlineArgument: number;
  /** Size of a single file. */
  file: number;
  /** Files cut out of one message, or handed over with one. */
  files: number;
  /** Files in an argument that is a list, when the tool itself sets no number. */
  filesPerArgument: number;
  /** All messages held at one time, in the whole process. */
  held: number;
  /** All part buffers of the object store at one time, in the whole process. */
  partMemory: number;
  /** All bytes of files that are kept for their previews at one time, in the whole process. */
  previewMemory: number;
  /** All bytes of short files that are kept for the next call at one time, in the whole process. */
  shortFiles: number;
  /**
   * The part of `held`, `partMemory`, `previewMemory`, `shortFiles`, `processes`, `connections`, `sessions` and the
   * state's keys that one owner may take.
   */
  share: number;
  /** Bytes per second that a peer must send while it owes bytes, after `timeouts.grace`; 0 sets no rate. */
  leastRate: number;
  /** Raw spelling kept of a provisional cut that is not canonical base64. */
  spool: number;
  /** How deep a message may nest. */
  depth: number;
  /** Values (members, items and containers) in a part of a message that Wharf parses. */
  values: number;
  /** Messages of one JSON-RPC batch. */
  batch: number;
  /** Calls per session (stdio, legacy SSE) that a server still works on after their client has gone. */
  abandoned: number;
  /** Child processes of one stdio server. */
  processes: number;
  /** Requests under way to one HTTP server, streams included. */
  connections: number;
  /** Client connections open at one time, in the whole process. */
  sockets: number;
  /** What a client declares in `initialize`. */
  capabilities: number;
  /** Downloads that Wharf itself streams at one time, in the whole process. */
  downloads: number;
  /** Memory for what servers declare about their tools, in the whole process. */
  catalog: number;
  /** Sessions at one time, in the whole process. */
  sessions: number;
  /** Calls that wait for a user's file, and servers' own questions for files, at one time, in the whole process. */
  questions: number;
  /** How many times larger than its encoding a compressed answer may be. */
  codingRatio: number;
}

export interface Timeouts {
  /** Wait for a place in a bounded queue. */
  queue: number;
  /** No bytes while some are due: in a message, a file or a request body; or a client that does not read its answer. */
  idle: number;
  /** How far a peer may fall behind `limits.leastRate`. */
  grace: number;
  /** One attempt to upload a file, from its first byte to its last. */
  upload: number;
  /** From the request to the head of the upstream's answer. */
  upstream: number;
  /** One request to the object store. */
  store: number;
  /** One command to the state store. */
  state: number;
  /** Running exchanges may finish this long after SIGTERM. */
  drain: number;
  /** A session without an exchange ends after this time, and its stdio process with it. */
  session: number;
  /** How long a call waits for the file that a person was asked for. */
  elicitation: number;
  /** How long such a call waits for its user to open the upload page. */
  elicitationNotice: number;
  /** How long one request of such a call waits, if the client repeats the call until the file is there. */
  elicitationRound: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

export const DEFAULT_LIMITS: Readonly<Limits> = {
  message: 4 * MIB,
  response: 16 * MIB,
  inlineImage: 500_000,
  inlineOther: 32 * KIB,
  inlineResource: 4 * MIB,
  inlineArgument: 4 * MIB,
  file: 100 * MIB,
  files: 100,
  filesPerArgument: 10,
  held: 256 * MIB,
  partMemory: 64 * MIB,
  // one server of several may take a quarter: with 64, of eight photos of 5 MB at once five were read back
  previewMemory: 128 * MIB,
  shortFiles: 8 * MIB,
  share: 0.25,
  leastRate: 8 * KIB,
  spool: MIB,
  depth: 1000,
  values: 10_000,
  batch: 1000,
  abandoned: 100,
  processes: 32,
  connections: 1024,
  sockets: 10_000,
  capabilities: 16 * KIB,
  downloads: 500,
  catalog: 64 * MIB,
  sessions: 10_000,
  questions: 500,
  codingRatio: 100,
};

export const DEFAULT_TIMEOUTS: Readonly<Timeouts> = {
  queue: 30 * SECOND,
  idle: 60 * SECOND,
  grace: 30 * SECOND,
  upload: 60 * MINUTE,
  upstream: 10 * MINUTE,
  store: 30 * SECOND,
  state: 500,
  drain: 30 * SECOND,
  session: 60 * MINUTE,
  elicitation: 5 * MINUTE,
  // most clients end a request after 60 s
  elicitationNotice: 45 * SECOND,
  elicitationRound: 30 * SECOND,
};
