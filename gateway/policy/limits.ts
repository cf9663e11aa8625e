/**
 * Every number that bounds Wharf: its default, the values that it may have, and its text in CONFIG.md. Sizes are
 * bytes, times milliseconds. The names are the config's; an error caused by a limit names it as `limits.<name>` or
 * `timeouts.<name>`.
 */

export interface LimitRow {
  readonly kind: 'size' | 'count' | 'ratio';
  readonly default: number;
  readonly min: number;
  readonly max: number;
  readonly text: string;
  /** A limit of the whole process; a single server cannot have its own. */
  readonly processWide?: true;
}

interface TimeoutRow {
  readonly default: number;
  readonly min: number;
  readonly max: number;
  readonly text: string;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A held message is parsed as one string, and V8's longest string has 2^29 - 24 characters. */
const MOST_HELD = 256 * MIB;
/** S3 takes 10,000 parts, and Wharf's parts are 5 MiB. */
export const MOST_FILE = 10_000 * 5 * MIB;

/** Every limit of `limits:`, with its default and its bounds: bytes, a number, or a part of 1, by its kind. */
export const LIMITS = {
  message: {
    kind: 'size',
    default: 4 * MIB,
    min: KIB,
    max: MOST_HELD,
    text: "A client's JSON-RPC message without its files. One that takes less than 64 KiB there counts as part of it; with a limit below 512 KiB, one that takes less than an eighth of it, or than 4 KiB.",
  },
  response: {
    kind: 'size',
    default: 16 * MIB,
    min: KIB,
    max: MOST_HELD,
    text: 'A message of a server without its files, and 200 bytes for each place in it that Wharf notes beyond the first 300: an id, a result, a tool in a list, a block that may be a file.',
  },
  inlineImage: {
    kind: 'size',
    default: 500_000,
    min: 0,
    max: MOST_HELD,
    text: 'Decoded size up to which an image stays inline in a tool result.',
  },
  inlineOther: {
    kind: 'size',
    default: 32 * KIB,
    min: 0,
    max: MOST_HELD,
    text: 'Decoded size up to which audio, an embedded blob or anything else stays inline in a tool result.',
  },
  inlineResource: {
    kind: 'size',
    default: 4 * MIB,
    min: 0,
    max: MOST_HELD,
    text: 'Decoded size up to which a `resources/read` blob passes unchanged.',
  },
  inlineArgument: {
    kind: 'size',
    default: 4 * MIB,
    min: 0,
    max: MOST_HELD,
    text: 'Decoded size up to which a client may send a file inside an argument. A larger one must be uploaded.',
  },
  file: {
    kind: 'size',
    default: 100 * MIB,
    min: 1,
    max: MOST_FILE,
    text: 'Largest file.',
  },
  files: {
    kind: 'count',
    default: 100,
    min: 1,
    max: 10_000,
    text: 'Files cut out of one message, or handed over with one; where `flow` has rules or `acceptResults` names types, also those that stay in it. Also the number of resource links, and of files that a server only names, that Wharf handles per message, repeated ones included; the rest passes unchanged.',
  },
  filesPerArgument: {
    kind: 'count',
    default: 10,
    min: 1,
    max: 10_000,
    text: 'Files in an argument that is a list, if the tool itself sets no number.',
  },
  held: {
    kind: 'size',
    default: 256 * MIB,
    min: MIB,
    max: 64 * GIB,
    text: 'All messages held in memory at one time, in the whole process. A request larger than `limits.message` counts four times, because up to four copies of it exist. Finished answers that clients have not read may take as much again; past that, of the caller with the most of them, the connection that has left one unread longest is closed. What the decoders of answers keep that servers have compressed with brotli, though Wharf asks for plain ones, may take as much again, and so may what requests have of headers beyond 64 each; past that, the connections with the most of them are closed.',
    processWide: true,
  },
  partMemory: {
    kind: 'size',
    default: 64 * MIB,
    min: 5 * MIB,
    max: 64 * GIB,
    text: 'All part buffers of the object store at one time, in the whole process. Each file being stored takes one part: 5 MiB with S3.',
    processWide: true,
  },
  previewMemory: {
    // one server of several may take a quarter: with 64, of eight photos of 5 MB at once five were read back
    kind: 'size',
    default: 128 * MIB,
    min: 0,
    max: 64 * GIB,
    text: 'All bytes of images and PDFs in results that are kept, while they are stored, for their previews, in the whole process. For a file that finds no room the stored object is read again. An eighth of it may be previews of the last minutes, kept in case their callers get the same files again.',
    processWide: true,
  },
  shortFiles: {
    kind: 'size',
    default: 8 * MIB,
    min: 0,
    max: GIB,
    text: 'All bytes of files up to 64 KiB that are kept for up to a minute after they were uploaded, or given to a call, in the whole process, so that the next call with one does not read the store. 0 keeps none.',
    processWide: true,
  },
  share: {
    kind: 'ratio',
    default: 0.25,
    min: 0,
    max: 1,
    text: "The part of `held`, `partMemory`, `previewMemory`, `shortFiles`, `processes`, `connections`, `sessions` and the state store's keys that one caller, or one server, may take; one caller may take half of a server's share. A single caller or server may take all of it. A share always has room for one message, one file, one process.",
    processWide: true,
  },
  leastRate: {
    kind: 'size',
    default: 8 * KIB,
    min: 0,
    max: GIB,
    text: 'Bytes per second that a client must send inside a body, or a server inside a message; `timeouts.grace` is how far it may fall behind. 0 accepts any rate.',
  },
  spool: {
    kind: 'size',
    default: MIB,
    min: 0,
    max: MOST_HELD,
    text: 'Most raw text kept of a string that looks like a file, for putting it back unchanged if it is not canonical base64.',
  },
  depth: {
    kind: 'count',
    default: 1000,
    min: 8,
    max: 1000,
    text: 'Deepest nesting of a message.',
  },
  values: {
    kind: 'count',
    default: 10_000,
    min: 100,
    max: 100_000,
    text: "Values (members and items, at any depth) in each part of a message that Wharf parses: a tool in a list, the content and structuredContent of the results in one message, the objects around its files, a server's answer to `initialize` or to a request of Wharf’s own, the `_meta` of a request. A part with more values passes unchanged: Wharf finds no file, link or file argument in it; only an `initialize` is refused. A call may have more arguments: then Wharf reads only those that may be files. Parsing blocks the process for some 10 µs per value.",
  },
  batch: {
    kind: 'count',
    default: 1000,
    min: 1,
    max: 10_000,
    text: 'Messages of one JSON-RPC batch, in either direction.',
  },
  abandoned: {
    kind: 'count',
    default: 100,
    min: 1,
    max: 10_000,
    text: 'Calls of one session over stdio or legacy SSE that the server still works on after their client has gone. Past this number, or after `timeouts.upstream`, Wharf cancels the oldest. As many tasks, counted apart, keep the copies of the files that they are given by path, until they are over; as many ids are kept of tasks that are over before their calls are answered.',
  },
  processes: {
    kind: 'count',
    default: 32,
    min: 1,
    max: 10_000,
    text: 'Child processes of one stdio server: one per session; fewer if the system allows fewer open files. When all are taken, a new session ends the one that has been idle longest.',
  },
  connections: {
    kind: 'count',
    default: 1024,
    min: 1,
    max: 65_535,
    text: 'Requests under way to one HTTP server. Streams that servers keep open for their sessions take at most three quarters of them.',
  },
  sockets: {
    kind: 'count',
    default: 10_000,
    min: 8,
    max: 1_000_000,
    text: 'Client connections open at one time, in the whole process; fewer if the system allows fewer open files. When all are taken, a new one closes, of the caller with the most of them, the one that has been idle longest.',
    processWide: true,
  },
  capabilities: {
    kind: 'size',
    default: 16 * KIB,
    min: KIB,
    max: MIB,
    text: 'Size of the capabilities that a client declares in `initialize`.',
  },
  downloads: {
    kind: 'count',
    default: 500,
    min: 1,
    max: 100_000,
    text: 'Downloads that Wharf streams at one time, in the whole process; one to a slow client holds up to 512 KiB. Downloads redirected to the store do not count.',
    processWide: true,
  },
  comparisons: {
    kind: 'count',
    default: 8,
    min: 1,
    max: 10_000,
    text: 'Stored files that Wharf reads as a whole at one time, in the whole process, to compare them with what was stored. That happens once with a file that its store shows as changed, as all are after a bucket was copied.',
    processWide: true,
  },
  catalog: {
    kind: 'size',
    default: 64 * MIB,
    min: MIB,
    max: 16 * GIB,
    text: "Memory for what servers declare about their tools, and for these as clients of each kind see them, in the whole process. From one server's list, all pages together, Wharf reads at most `limits.response`; it asks again for what it has not kept.",
    processWide: true,
  },
  sessions: {
    kind: 'count',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    text: 'Sessions at one time, in the whole process; one with much stored data counts several times. When all are taken, a new one ends the one unused longest, of those without a request under way if there are any.',
    processWide: true,
  },
  questions: {
    kind: 'count',
    default: 500,
    min: 1,
    max: 100_000,
    text: "Calls that wait for a user's file, and servers' own questions for files, at one time, in the whole process. The next call is answered at once with a link, without a question to the user; the next question of a server gets an error.",
    processWide: true,
  },
  codingRatio: {
    kind: 'count',
    default: 100,
    min: 1,
    max: 10_000,
    text: 'How many times larger than its encoding a compressed answer may be.',
  },
} as const satisfies Readonly<Record<string, LimitRow>>;

/** The name of a limit: its key in the config. */
export type LimitName = keyof typeof LIMITS;
/** A value for each limit, in the unit of its row. */
export type Limits = { [Name in LimitName]: number };

/** Every time-out of `timeouts:`, in milliseconds. */
export const TIMEOUTS = {
  queue: {
    default: 30 * SECOND,
    min: 1,
    max: HOUR,
    text: 'Wait for a place in a bounded queue; in `wharf inspect`, for each answer of a server.',
  },
  idle: {
    default: 60 * SECOND,
    min: 100,
    max: HOUR,
    text: 'No bytes while some are due: inside a message, a file or a request body; or a client does not read its answer.',
  },
  grace: {
    default: 30 * SECOND,
    min: 100,
    max: HOUR,
    text: 'How far, in time, a sender may fall behind `limits.leastRate`; only the time that Wharf waits for it counts.',
  },
  upload: {
    default: 60 * MINUTE,
    min: 100,
    max: 20 * DAY,
    text: 'One attempt to upload a file, from its first byte to its last; of an upload that goes on, one request.',
  },
  upstream: {
    default: 10 * MINUTE,
    min: 100,
    max: DAY,
    text: "From a request to the head of the server's answer.",
  },
  store: {
    default: 30 * SECOND,
    min: 10,
    max: HOUR,
    text: 'One request to the object store.',
  },
  state: {
    default: 500,
    min: 10,
    max: 60 * SECOND,
    text: 'One command to the state store.',
  },
  drain: {
    default: 30 * SECOND,
    min: 1,
    max: HOUR,
    text: 'Running exchanges may finish this long after SIGTERM.',
  },
  session: {
    default: 60 * MINUTE,
    min: SECOND,
    max: 20 * DAY,
    text: 'A session ends after this time without an exchange, of which a stream on which its client listens is one.',
  },
  elicitation: {
    default: 5 * MINUTE,
    min: SECOND,
    max: DAY,
    text: 'How long a call waits for the file that a person was asked for. After that it is answered with the link, which lives as long as `links.ttl` says.',
  },
  elicitationNotice: {
    // most clients end a request after 60 s
    default: 45 * SECOND,
    min: 100,
    max: DAY,
    text: 'How long such a call waits for its user to open the upload page, from the question, or from the answer that accepts it. After that it is answered with the link, which still works: some clients declare `elicitation.url` and show nothing. A time as long as `timeouts.elicitation` switches this off.',
  },
  elicitationRound: {
    default: 30 * SECOND,
    min: 0,
    max: HOUR,
    text: 'The same for one request of a client that is asked by a result and calls again (MCP 2026-07-28). It must be shorter than the time that the client gives a request.',
  },
} as const satisfies Readonly<Record<string, TimeoutRow>>;

/** A value for each time-out, in milliseconds. */
export type Timeouts = { [Name in keyof typeof TIMEOUTS]: number };

/** The rows of a table with their names. */
export function rowsOf<Name extends string, Row>(table: Readonly<Record<Name, Row>>): [Name, Row][] {
  return Object.entries(table) as [Name, Row][];
}

export const DEFAULT_LIMITS: Readonly<Limits> = defaultsOf(LIMITS);
export const DEFAULT_TIMEOUTS: Readonly<Timeouts> = defaultsOf(TIMEOUTS);

function defaultsOf<Name extends string>(table: Readonly<Record<Name, { default: number }>>): Record<Name, number> {
  const defaults = rowsOf(table).map(([name, row]) => [name, row.default]);
  return Object.fromEntries(defaults) as Record<Name, number>;
}
