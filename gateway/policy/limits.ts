/**
 * Every number that bounds Wharf, with its unit. Sizes are bytes, times milliseconds. The names are the config's, and
 * an error that a limit causes names it as `limits.<name>` or `timeouts.<name>`.
 */
export interface Limits {
  /** A request's JSON-RPC message without its files. */
  message: number;
  /** An upstream message without its files. */
  response: number;
  /** Decoded size up to which an image stays inline in a tool result. */
  inlineImage: number;
  /** The same for audio, embedded blobs and everything else. */
  inlineOther: number;
  /** Decoded size up to which a `resources/read` blob passes unchanged. */
  inlineResource: number;
  /** Decoded size up to which a client may send a file inline in an argument. */
  inlineArgument: number;
  /** Any one file. */
  file: number;
  /** Files cut out of one message, or handed over with one. */
  files: number;
  /** Files in one argument that is a list, where the tool itself names no number. */
  filesPerArgument: number;
  /** All messages held at one time, whole process. */
  held: number;
  /** All part buffers of the object store at one time, whole process. */
  partMemory: number;
  /** Raw spelling kept of a provisional cut that is not canonical base64. */
  spool: number;
  /** How deep a message may nest. */
  depth: number;
  /** Child processes of one stdio server. */
  processes: number;
  /** Requests under way to one HTTP server, streams included. */
  connections: number;
  /** Sessions remembered in the process, beside those in the state store. */
  sessions: number;
  /** How many times larger than its encoding a compressed answer may be. */
  codingRatio: number;
}

export interface Timeouts {
  /** Wait for a place in a bounded queue. */
  queue: number;
  /** No bytes while some are due: inside a message, a file, a request body; or a client that takes none of its answer. */
  idle: number;
  /** From the request to the head of the upstream's answer. */
  upstream: number;
  /** One request to the object store. */
  store: number;
  /** One command to the state store. */
  state: number;
  /** Running exchanges may finish this long after SIGTERM. */
  drain: number;
  /** A session without any exchange ends after this; its stdio process ends with it. */
  session: number;
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
  partMemory: 128 * MIB,
  spool: MIB,
  depth: 1000,
  processes: 32,
  connections: 1024,
  sessions: 10_000,
  codingRatio: 100,
};

export const DEFAULT_TIMEOUTS: Readonly<Timeouts> = {
  queue: 30 * SECOND,
  idle: 60 * SECOND,
  upstream: 10 * MINUTE,
  store: 30 * SECOND,
  state: 500,
  drain: 30 * SECOND,
  session: 60 * MINUTE,
};
