import { breathe } from '../../budget/turn.js';
import { asGatewayError, type GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import { storeFile } from '../../files/store-file.js';
import { exactValue } from '../../json/light-value.js';
import { Marks } from '../../json/marks.js';
import { isObject, valueAt } from '../../json/value.js';
import type { Inquire } from '../../mcp/inquire.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import { contrast } from '../../policy/amounts.js';
import type { Limits } from '../../policy/limits.js';
import type { AuditCause } from '../../ports/audit.js';
import type { Dialect, FileReason, RemoteFile, RemoteTransfer } from '../../ports/dialect.js';
import type { JsonObject, JsonPath } from '../../ports/json.js';
import type { Owner } from '../../ports/owner.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import { looks } from '../../wire/looks.js';
import { paced } from '../upstream/paced.js';
import { brief, rulesFor } from '../upstream/transfer-rules.js';
import type { ResultDeps } from './deps.js';

/** Text in every result where a server only names one of its resources. */
const LINK_MARK = '"resource_link"';

/** Methods whose results may contain links. */
const LINK_METHODS: ReadonlySet<string> = new Set(['tools/call', 'tasks/result', 'tasks/get']);

interface RemoteDeps {
  deps: ResultDeps;
  principal: string;
  /** The operator who has made the call, if one has. */
  by: AuditCause;
  inquire: Inquire;
  signal: AbortSignal;
}

/** A result in a message. */
export interface ResultPlace {
  /** Its path in the message. */
  path: JsonPath;
  /** The members in which files may be named, except those too large to parse. */
  result: JsonObject;
  /** The base of the names of nameless files in it. */
  subject: string;
}

/** A file that a server named, and the outcome of fetching it. */
export interface FetchedFile {
  dialect: Dialect;
  transfer: RemoteTransfer;
  remote: RemoteFile;
  /** The result that contains it. */
  result: ResultPlace;
  /** The object that names it, and its path in the message. */
  holder: JsonObject;
  path: JsonPath;
  /** `addressed`: it is at an address that the client can use by itself. */
  outcome: { kind: 'stored'; record: FileRecord } | RemoteFailure | { kind: 'addressed' };
}

/** A file that its server keeps could not be fetched. */
export interface RemoteFailure {
  kind: 'failed';
  reason: FileReason;
  detail: string;
}

/** A cheap test: true when the answer to one of these methods may name a file that the server keeps. */
export function mayNameFiles(
  pieces: readonly Buffer[],
  methods: readonly string[],
  dialects: readonly Dialect[],
): boolean {
  for (const method of methods.length > 1 ? new Set(methods) : methods) {
    const marks = marksOf(method, dialects);
    if (marks.texts.length === 0) continue;
    for (const part of looks(pieces, marks.longest)) if (marks.areIn(part)) return true;
  }
  return false;
}

/** What is looked for. Made for each answer, it cost a tenth of a short one. Only methods with files are asked. */
const KNOWN_MARKS = new WeakMap<readonly Dialect[], Map<string, Marks>>();

function marksOf(method: string, dialects: readonly Dialect[]): Marks {
  const known = KNOWN_MARKS.get(dialects) ?? new Map<string, Marks>();
  KNOWN_MARKS.set(dialects, known);
  let marks = known.get(method);
  if (!marks) {
    const links = LINK_METHODS.has(method) ? [LINK_MARK] : [];
    marks = new Marks([...links, ...dialects.flatMap(({ transfer }) => transfer?.marks(method) ?? [])]);
    known.set(method, marks);
  }
  return marks;
}

/** Members of a result in which files may be named. */
const MEMBERS = [
  ['content', RANGE.content],
  ['structuredContent', RANGE.structuredContent],
  ['contents', RANGE.contents],
  ['messages', RANGE.messages],
] as const;

/**
 * The results of the answers, including results inside them: `tasks/get` of the tasks extension answers with one.
 * Parses at most as much as one message may have in total; the rest is left out and passes unchanged.
 */
export async function resultsIn(
  message: HeldMessage,
  answers: readonly { base: JsonPath; subject: string }[],
  owner: Owner,
  { values }: Pick<Limits, 'values'>,
): Promise<ResultPlace[]> {
  const found: ResultPlace[] = [];
  let left = values;
  const read = async (path: JsonPath): Promise<JsonObject> => {
    const result: JsonObject = {};
    for (const [key, name] of MEMBERS) {
      const range = rangeAt(message, name, [...path, key]);
      const value = range && exactValue(message, range, { values: left });
      if (!range || value === undefined) continue;
      left -= range.values;
      result[key] = value;
      await breathe(owner);
    }
    return result;
  };
  for (const { base, subject } of answers) {
    const outer = [...base, 'result'];
    for (const path of [outer, [...outer, 'result']]) {
      if (!rangeAt(message, RANGE.result, path)) break;
      const result = await read(path);
      if (Object.keys(result).length > 0) found.push({ path, result, subject });
    }
  }
  return found;
}

/**
 * Fetches the files that a server only names into the store, each once, up to `limits.files`; further ones are left to
 * the client. A file that cannot be fetched is reported as such. An object of structuredContent that only looks like a
 * file stays unchanged when the server does not know it as one.
 */
export async function fetchRemoteFiles(results: readonly ResultPlace[], context: RemoteDeps): Promise<FetchedFile[]> {
  const { dialects, limits, server } = context.deps;
  const owner = { principal: context.principal, server };
  const outcomes = new Map<string, FetchedFile['outcome'] | undefined>();
  const noFiles = new Set<string>();
  const fetched: FetchedFile[] = [];
  for (const dialect of dialects) {
    const { transfer } = dialect;
    if (!transfer) continue;
    for (const result of results) {
      await breathe(owner);
      for (const remote of transfer.remoteFiles(result.result)) {
        // counts entries, even of the same file: each is written, with its link and perhaps a preview
        if (fetched.length >= limits.files) return fetched;
        if (remote.isAddress) outcomes.set(remote.uri, { kind: 'addressed' });
        if (!outcomes.has(remote.uri)) {
          if (outcomes.size >= limits.files || (remote.isGuess && noFiles.has(schemeOf(remote)))) continue;
          const outcome = await fetchOne(remote, transfer, result.subject, context);
          outcomes.set(remote.uri, outcome);
          // a server has many resources, and names them much like files
          if (!outcome) noFiles.add(schemeOf(remote));
        }
        const known = outcomes.get(remote.uri);
        if (!known && remote.kind === 'value') continue;
        const outcome = known ?? failure('unreachable', 'the server has no method to fetch it');
        const holder = valueAt(result.result, remote.path);
        if (!isObject(holder)) continue;
        fetched.push({ dialect, transfer, remote, result, holder, path: [...result.path, ...remote.path], outcome });
      }
    }
  }
  return fetched;
}

/** @returns undefined when the server does not know how to hand out files, or does not know this guess as one */
async function fetchOne(
  remote: RemoteFile,
  transfer: RemoteTransfer,
  subject: string,
  context: RemoteDeps,
): Promise<FetchedFile['outcome'] | undefined> {
  const { deps, principal, signal } = context;
  const own = await ownFile(remote, deps, principal);
  if (own) return { kind: 'stored', record: own };
  const found = await whereItIs(remote, transfer, context);
  if (found?.kind !== 'found') return found;
  try {
    return { kind: 'stored', record: await store(found, { remote, subject }, context) };
  } catch (thrown) {
    signal.throwIfAborted();
    const error = asGatewayError(thrown);
    if (error.code === 'internal') throw error;
    noteUnfetched(error, subject, context);
    return failure(reasonOf(error), error.message.replace(/\.$/, ''));
  }
}

/** An address that the server has given for a file, and what it and the result say about the file. */
interface Found {
  kind: 'found';
  download: NonNullable<ReturnType<RemoteTransfer['readDownload']>>;
  size: number | undefined;
  digest: string | undefined;
}

/** Asks the server for the file's address. @returns undefined when it does not know how, or does not know this guess */
async function whereItIs(
  remote: RemoteFile,
  transfer: RemoteTransfer,
  { deps, principal, inquire }: RemoteDeps,
): Promise<Found | RemoteFailure | undefined> {
  const methods = deps.unknownMethods.of(principal);
  const answer = await methods.first(transfer.downloadRequests(remote.uri), inquire, remote.isGuess);
  if (answer.kind === 'unknown' || (answer.kind !== 'result' && remote.isGuess)) return undefined;
  if (answer.kind === 'silent') return failure('unreachable', 'the server did not say where it is');
  if (answer.kind === 'refused') {
    const reason = transfer.readRefusal(answer.error.data)?.reason ?? 'fileNotFound';
    return failure(reason, `the server refused: ${brief(answer.error.message)}`);
  }
  const download = transfer.readDownload(answer.request, answer.result);
  if (!download && remote.isGuess) return undefined;
  if (!download) return failure('unreachable', `the server answered ${answer.request.method} with something else`);
  if (differ(remote.size, download.size)) return failure('sizeMismatch', 'the server names two sizes for it');
  if (differ(remote.digest, download.digest)) return failure('digestMismatch', 'the server names two digests for it');
  const size = remote.size ?? download.size;
  if (size !== undefined && size > deps.limits.file) {
    const { allowed, actual } = contrast(deps.limits.file, size);
    return failure('maxSizeExceeded', `it has ${actual}, and at most ${allowed} is allowed`);
  }
  return { kind: 'found', download, size, digest: remote.digest ?? download.digest };
}

/** Fetches the file into the object store. @throws GatewayError */
async function store(
  { download, size, digest }: Found,
  { remote, subject }: { remote: RemoteFile; subject: string },
  { deps, principal, by, signal }: RemoteDeps,
): Promise<FileRecord> {
  const { limits, server, cut, files } = deps;
  const { url, headers } = download.descriptor;
  const { body } = await deps.transfer.download({ url, headers, rules: rulesFor(deps) }, signal);
  try {
    const file = {
      bytes: paced(body, { server, pace: deps.pace, signal }),
      claims: { ...download.claims, ...remote.claims },
      principal,
      by,
      server,
      subject,
      limit: { name: 'limits.file', bytes: limits.file, path: 'the server' },
      types: limits.acceptResults,
      expect: { ...(size !== undefined && { size }), ...(digest !== undefined && { digest }) },
    };
    return await storeFile(file, { ingest: cut.ingest, library: files.library }, signal);
  } finally {
    body.destroy();
  }
}

/** Logs why a file was not fetched, and audits a refusal by its type. */
function noteUnfetched(error: GatewayError, subject: string, { deps, principal, by }: RemoteDeps): void {
  const { server, log, fewLines, metrics, files } = deps;
  // each result may name as many as are fetched
  const leftOut = fewLines.take(`unfetched ${error.code} ${server}`);
  if (leftOut) {
    const fields = { code: error.code, facts: error.facts, err: error.cause, ...leftOut };
    log.warn(fields, 'a file of the server was not fetched');
  }
  if (error.code !== 'file_type_refused') return;
  metrics.count('wharf_limits_total', { limit: 'limits.acceptResults' });
  const about = { what: 'file', principal, ...by, server, from: server, subject, allowed: false } as const;
  files.audit.note({ ...about, rule: String(error.facts.source), code: error.code });
}

/** The caller's own file, whose handle the server got as a text: there is nothing to fetch. */
async function ownFile({ uri }: RemoteFile, { files }: ResultDeps, principal: string): Promise<FileRecord | undefined> {
  // another gateway may have the same name
  const found = files.library.names(uri) ? await files.library.resolve(uri, principal) : undefined;
  return found?.kind === 'ready' ? found.record : undefined;
}

function reasonOf({ code, facts }: GatewayError): FileReason {
  if (code === 'file_type_refused') return 'mimeTypeNotAccepted';
  if (facts.reason === 'digestMismatch' || facts.reason === 'sizeMismatch') return facts.reason;
  return code === 'fetch_too_large' || code === 'file_too_large' ? 'maxSizeExceeded' : 'unreachable';
}

function failure(reason: FileReason, detail: string): RemoteFailure {
  return { kind: 'failed', reason, detail };
}

function schemeOf({ uri }: RemoteFile): string {
  return uri.slice(0, uri.indexOf(':')).toLowerCase();
}

function differ<T>(one: T | undefined, other: T | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}
