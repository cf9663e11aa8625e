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
  /** The part of `held`, `partMemory`, `processes`, `connections`, `sessions` and the state's keys that one may take. */
  share: number;
  /** Bytes per second that a peer in the middle of something must send, after `timeouts.grace`; 0 is none. */
  leastRate: number;
  /** Raw spelling kept of a provisional cut that is not canonical base64. */
  spool: number;
  /** How deep a message may nest. */
  depth: number;
  /** Values (members, items and what they stand in) of which something in a message may be made to be looked into. */
  values: number;
  /** Messages of one JSON-RPC batch. */
  batch: number;
  /** Calls that a server still works on although their client has gone: of one session over stdio or legacy SSE. */
  abandoned: number;
  /** Child processes of one stdio server. */
  processes: number;
  /** Requests under way to one HTTP server, streams included. */
  connections: number;
  /** Connections of clients open at one time, whole process. */
  sockets: number;
  /** What a client declares in `initialize`. */
  capabilities: number;
  /** Downloads that Wharf itself streams at one time, whole process. */
  downloads: number;
  /** Memory that may be kept of what servers declare of their tools, whole process. */
  catalog: number;
  /** Sessions at one time, of the whole process. */
  sessions: number;
  /** How many times larger than its encoding a compressed answer may be. */
  codingRatio: number;
}

export interface Timeouts {
  /** Wait for a place in a bounded queue. */
  queue: number;
  /** No bytes while some are due: inside a message, a file, a request body; or a client that takes none of its answer. */
  idle: number;
  /** By which a peer may fall behind `limits.leastRate`. */
  grace: number;
  /** One try to upload a file, from its first byte to its last. */
  upload: number;
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
};
