import { z } from 'zod';
import { DEFAULT_LIMITS, DEFAULT_TIMEOUTS, type Limits, type Timeouts } from '../../policy/limits.js';
import { count, ratio, size, time } from './fields.js';
import { formatSize, formatTime } from './units.js';

interface Row {
  kind: 'size' | 'count' | 'ratio';
  min: number;
  max: number;
  text: string;
  /** A limit of the whole process; a single server cannot have its own. */
  processWide?: true;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;

/** Held messages are parsed as one string, and V8's longest string has 2^29 - 24 characters. */
const MOST_HELD = 256 * MIB;
/** S3 takes 10,000 parts, and Wharf's parts are 5 MiB. */
export const MOST_FILE = 10_000 * 5 * MIB;

const LIMIT_ROWS: Record<keyof Limits, Row> = {
  message: { kind: 'size', min: KIB, max: MOST_HELD, text: "A client's JSON-RPC message without its files." },
  response: { kind: 'size', min: KIB, max: MOST_HELD, text: 'A message of a server without its files.' },
  inlineImage: {
    kind: 'size',
    min: 0,
    max: MOST_HELD,
    text: 'Decoded size up to which an image stays inline in a tool result.',
  },
  inlineOther: {
    kind: 'size',
    min: 0,
    max: MOST_HELD,
    text: 'The same for audio, embedded blobs and everything else.',
  },
  inlineResource: {
    kind: 'size',
    min: 0,
    max: MOST_HELD,
    text: 'Decoded size up to which a `resources/read` blob passes unchanged.',
  },
  inlineArgument: {
    kind: 'size',
    min: 0,
    max: MOST_HELD,
    text: 'Decoded size up to which a client may send a file inside an argument. A larger one must be uploaded.',
  },
  file: { kind: 'size', min: 1, max: MOST_FILE, text: 'Any one file.' },
  files: {
    kind: 'count',
    min: 1,
    max: 10_000,
    text: 'Files cut out of one message, or handed over with one. Of links to resources, and of files that a server only names, so many are dealt with, whether they lead to the same place or not; the rest passes as it came.',
  },
  filesPerArgument: {
    kind: 'count',
    min: 1,
    max: 10_000,
    text: 'Files in one argument that is a list, where the tool itself names no number.',
  },
  held: {
    kind: 'size',
    min: MIB,
    max: 64 * GIB,
    text: 'All messages held in memory at one time, whole process. A request larger than `limits.message` counts four times: so many copies of it there may be.',
    processWide: true,
  },
  partMemory: {
    kind: 'size',
    min: 5 * MIB,
    max: 64 * GIB,
    text: 'All part buffers of the object store at one time, whole process. A file under way takes one part: 5 MiB with S3.',
    processWide: true,
  },
  share: {
    kind: 'ratio',
    min: 0,
    max: 1,
    text: "The part of `held`, `partMemory`, `processes`, `connections`, `sessions` and the state store's keys that one caller, or one server, may take; of a server's share one caller may take half. Where there is one of them it may take all; a share always has room for one message, one file, one process.",
    processWide: true,
  },
  leastRate: {
    kind: 'size',
    min: 0,
    max: GIB,
    text: 'Bytes per second that a client in the middle of a body, or a server in the middle of a message, must send; `timeouts.grace` is how far it may fall behind. 0 is none.',
  },
  spool: {
    kind: 'size',
    min: 0,
    max: MOST_HELD,
    text: 'Raw spelling kept of a string that looks like a file until it turns out not to be canonical base64.',
  },
  depth: { kind: 'count', min: 8, max: 1000, text: 'How deep a message may nest.' },
  values: {
    kind: 'count',
    min: 100,
    max: 100_000,
    text: 'Values (members and items, at any depth) of what Wharf looks into as a whole: a tool in a list, the content and structuredContent of the results in one message, the objects around its files, what a server answers to `initialize` or to a request of Wharf’s own, the `_meta` of a request. With more of them it passes as it came: nothing in it is a file or a link, and no tool in it shows a file argument; only an `initialize` is refused. A call may have more arguments than that: then only those that may be files are read. While one is looked into nobody else is served, some 10 µs a value.',
  },
  batch: { kind: 'count', min: 1, max: 10_000, text: 'Messages of one JSON-RPC batch, in either direction.' },
  abandoned: {
    kind: 'count',
    min: 1,
    max: 10_000,
    text: 'Calls of one session over stdio or legacy SSE whose client has gone and that the server still works on. The oldest is cancelled beyond it, and after `timeouts.upstream`.',
  },
  processes: {
    kind: 'count',
    min: 1,
    max: 10_000,
    text: 'Child processes of one stdio server: one for each session. Where all are taken, the session that has rested longest is ended for a new one.',
  },
  connections: {
    kind: 'count',
    min: 1,
    max: 65_535,
    text: 'Requests under way to one HTTP server. The streams that servers keep open for their sessions take at most three quarters of it.',
  },
  sockets: {
    kind: 'count',
    min: 8,
    max: 1_000_000,
    text: 'Connections of clients open at one time, whole process; fewer where the system allows fewer open files. When they are all taken, the one that has been idle longest makes room.',
    processWide: true,
  },
  capabilities: { kind: 'size', min: KIB, max: MIB, text: 'What a client declares in `initialize`.' },
  downloads: {
    kind: 'count',
    min: 1,
    max: 100_000,
    text: 'Downloads that Wharf streams at one time, whole process; one to a client that reads slowly holds up to 512 KiB. Those that are sent on to the store do not count.',
    processWide: true,
  },
  catalog: {
    kind: 'size',
    min: MIB,
    max: 16 * GIB,
    text: "Memory that may be kept of what servers declare of their tools, whole process. Of one server's list, all pages together, as much is read as `limits.response`; what is not kept is asked for again.",
    processWide: true,
  },
  sessions: {
    kind: 'count',
    min: 1,
    max: 1_000_000,
    text: 'Sessions at one time, whole process; one of which much is kept counts several times. Where there are as many, the longest unused one ends for a new one.',
    processWide: true,
  },
  codingRatio: {
    kind: 'count',
    min: 1,
    max: 10_000,
    text: 'How many times larger than its encoding a compressed answer may be.',
  },
};

interface TimeRow {
  min: number;
  max: number;
  text: string;
}

const TIMEOUT_ROWS: Record<keyof Timeouts, TimeRow> = {
  queue: {
    min: 1,
    max: HOUR,
    text: 'Wait for a place in a bounded queue; in `wharf inspect`, for each answer of a server.',
  },
  idle: {
    min: 100,
    max: HOUR,
    text: 'No bytes while some are due: inside a message, a file or a request body; or a client takes none of its answer.',
  },
  grace: {
    min: 100,
    max: HOUR,
    text: 'Time by which a sender may fall behind `limits.leastRate`, counted while Wharf waits for it.',
  },
  upload: { min: 100, max: 20 * DAY, text: 'One try to upload a file, from its first byte to its last.' },
  upstream: { min: 100, max: DAY, text: "From a request to the head of the server's answer." },
  store: { min: 10, max: HOUR, text: 'One request to the object store.' },
  state: { min: 10, max: 60 * SECOND, text: 'One command to the state store.' },
  drain: { min: 1, max: HOUR, text: 'Running exchanges may finish this long after SIGTERM.' },
  session: { min: SECOND, max: 20 * DAY, text: 'A session without any exchange ends after this.' },
};

type Names = [keyof Limits, Row][];

/** `limits:` with every default. */
export function limitsSchema() {
  const entries = (Object.entries(LIMIT_ROWS) as Names).map(([name, row]) => [
    name,
    withDefault(row, DEFAULT_LIMITS[name]),
  ]);
  return z.strictObject(Object.fromEntries(entries));
}

/** `servers.X.limits:`: no defaults, and nothing that belongs to the whole process. */
export function serverLimitsSchema() {
  const entries = (Object.entries(LIMIT_ROWS) as Names)
    .filter(([, row]) => row.processWide === undefined)
    .map(([name, row]) => [name, field(row).optional().describe(row.text)]);
  return z.strictObject(Object.fromEntries(entries));
}

/** `timeouts:` with every default. */
export function timeoutsSchema() {
  const entries = (Object.entries(TIMEOUT_ROWS) as [keyof Timeouts, TimeRow][]).map(([name, row]) => [
    name,
    time(row).prefault(formatTime(DEFAULT_TIMEOUTS[name])).describe(row.text),
  ]);
  return z.strictObject(Object.fromEntries(entries));
}

function field(row: Row) {
  if (row.kind === 'ratio') return ratio();
  return row.kind === 'size' ? size(row) : count(row);
}

// A prefault is written as the file would write it, so that the reference shows `4MiB`, not 4194304.
function withDefault(row: Row, value: number) {
  if (row.kind === 'ratio') return ratio().default(value).describe(row.text);
  const schema = row.kind === 'size' ? size(row).prefault(formatSize(value)) : count(row).default(value);
  return schema.describe(row.text);
}
