import { asGatewayError, GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import { type Edit, inOrder } from '../../json/edits.js';
import { lightValue } from '../../json/light-value.js';
import { patchText } from '../../json/patch.js';
import { isObject, own } from '../../json/value.js';
import { errorAnswer, errorAnswers } from '../../mcp/error-response.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import { type Answer, answerAt, answersIn } from '../../mcp/responses.js';
import type { HandleUses } from '../../ports/dialect.js';
import { addAll } from '../../wire/add-all.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import { growthOf, plainSize, Room } from '../client/room.js';
import { type MessageCuts, pointer } from '../cut/message-cuts.js';
import { type Piece, splice } from '../cut/splice.js';
import { noteError } from '../exchange.js';
import type { Addressee, PendingRequest } from '../pending-request.js';
import { declaredResults, toolOf } from '../tools/declared-results.js';
import { editToolList } from '../tools/tool-list.js';
import { maySpeakForWharf, silenceServer } from '../upstream/own-words.js';
import { viewOf } from '../upstream/view.js';
import type { ResultDeps } from './deps.js';
import { announceLinks } from './lazy-links.js';
import { OutgoingFiles } from './outgoing-files.js';
import { remoteEdits } from './remote-edits.js';
import { type FetchedFile, fetchRemoteFiles, mayNameFiles, type ResultPlace, resultsIn } from './remote-files.js';
import { keepShownResources } from './shown-resources.js';
import { StructuredResults } from './structured-results.js';
import { ToldNames } from './told-names.js';
import { mayBecomeTask } from './tool-of-task.js';
import { translate } from './translate.js';
import { liftedFacts, retoldError } from './upstream-refusals.js';

/** Methods whose results can hold files. What another method answers is nobody's file, whatever it looks like. */
const FILE_METHODS = new Set(['tools/call', 'tasks/result', 'tasks/get', 'prompts/get', 'resources/read']);

/** Methods whose results say what the server can do. */
const SERVER_METHODS = new Set(['initialize', 'server/discover']);

/** Methods whose results Wharf itself reads. */
const READ_METHODS = new Set([...SERVER_METHODS, 'tools/list']);

const LIST_CHANGED = 'notifications/tools/list_changed';

interface Work {
  message: HeldMessage;
  cuts: MessageCuts;
  deps: ResultDeps;
  to: Addressee;
  /** The responses in it, each with the request it answers where that is known. */
  answers: readonly (Answer & { request: PendingRequest | undefined })[];
  files: OutgoingFiles;
  /** How much longer it may become. */
  room: Room;
}

/** What an upstream's message goes through, in this order. Each stage adds edits or throws the answer's error. */
const STAGES: readonly ((work: Work) => Edit[] | Promise<Edit[]>)[] = [
  refuseFailed,
  refuseLongBatch,
  refuseMalformed,
  showServer,
  rewriteToolList,
  noteTasks,
  editAnswers,
  linkFiles,
  liftRefusals,
  remapIds,
  // storing a string late can fail as well
  refuseFailed,
];

export interface Outgoing {
  pieces: Piece[];
  /** Ids of the requests it answers, as the upstream knows them. */
  answered: readonly string[];
  /** Removes what existed only to send the message. To be called whether it could be sent or not. */
  sent: () => Promise<void>;
}

/** A message's bytes as they came, when nothing in it needs work: the hot path. */
export function untouched(
  message: HeldMessage,
  cuts: MessageCuts,
  deps: ResultDeps,
  to: Addressee,
): Piece[] | undefined {
  if (message.slots.length > 0 || cuts.failure || to.remap || isLongBatch(message, deps)) return undefined;
  if (answersIn(message).some(({ id }) => needsLook(to.answered(id)))) return undefined;
  if (tellsOfChange(message) || namesFiles(message, deps, to) || maySpeak(message)) return undefined;
  return message.render([]) as Buffer[];
}

function maySpeak(message: HeldMessage): boolean {
  return maySpeakForWharf((start, end) => message.slice(start, end), message.size);
}

/** True when what answers a request cannot pass unread, however short it is. */
export function needsLook(request: PendingRequest | undefined): boolean {
  return (
    request !== undefined &&
    (READ_METHODS.has(request.method) ||
      request.hasFiles === true ||
      request.edit !== undefined ||
      mayBecomeTask(request))
  );
}

/** The message as the client gets it; undefined when it cannot be delivered and answers nothing. Never throws. */
export async function toClient(
  message: HeldMessage,
  cuts: MessageCuts,
  deps: ResultDeps,
  to: Addressee,
): Promise<Outgoing | undefined> {
  await cuts.settle();
  const answers = answersIn(message).map((answer) => ({ ...answer, request: to.answered(answer.id) }));
  const owner = { principal: to.principal, server: deps.server };
  const files = new OutgoingFiles(deps.files, owner, cuts, to.signal, () => handleUses(deps, to));
  const { response } = deps.limits;
  const room = new Room(response, plainSize(message, cuts));
  const work: Work = { message, cuts, deps, to, answers, files, room };
  try {
    if (maySpeak(message) && (await silenceServer(message))) cuts.reread();
    const retold = retell(work);
    if (retold) {
      await dismiss(cuts);
      return retold;
    }
    const edits: Edit[] = [];
    for (const stage of STAGES) addAll(edits, await stage(work));
    const pieces = splice(message, inOrder(edits), deps.cut.library, (digest) => files.keyOf(digest), to.signal);
    refuseGrown(pieces, growthOf(edits), response);
    to.facts.files += files.count;
    to.facts.fileBytes += files.bytes;
    return { pieces, answered: answers.map(({ id }) => id), sent: () => dismiss(cuts) };
  } catch (thrown) {
    await dismiss(cuts);
    return failed(work, asGatewayError(thrown));
  }
}

/** Nothing more comes of a message: its memory is free, and of its files only those with a record stay. */
export async function dismiss(cuts: MessageCuts): Promise<void> {
  await cuts.settle();
  cuts.discardFiles();
  cuts.release();
}

function failed({ message, answers, deps, to }: Work, error: GatewayError): Outgoing | undefined {
  // one that whoever asked did not wait for is nobody's fault
  if (!to.signal.aborted) {
    const level = error.code === 'internal' ? 'error' : 'warn';
    deps.log[level]({ code: error.code, facts: error.facts, err: error.cause }, 'a message could not be delivered');
    deps.metrics.count('wharf_errors_total', { code: error.code });
  }
  // of a batch that is too long what was asked for is answered, each once
  const due = isLongBatch(message, deps)
    ? new Map(answers.flatMap((answer) => (answer.request ? [[answer.request.id, answer] as const] : []))).values()
    : answers;
  const own = [...due].map(({ base, id, request }) => ({ base, id: request?.id ?? id }));
  const lost = own.length === 0 && message.captured('method') === undefined ? to.onlyOpen?.() : undefined;
  const bytes = lost === undefined ? errorAnswers(own, error) : errorAnswer(error, to.answered(lost)?.id ?? lost);
  if (!bytes) {
    deps.metrics.count('wharf_dropped_messages_total', { reason: error.code });
    return undefined;
  }
  noteError(to.facts, error);
  return { pieces: [bytes], answered: lost === undefined ? answers.map(({ id }) => id) : [lost], sent: async () => {} };
}

function refuseFailed({ cuts }: Work): Edit[] {
  if (cuts.failure) throw cuts.failure;
  return [];
}

/**
 * What an edit could not do without, such as the preview of an image, may still be more than there is room for.
 * @param pieces as they go out; strings that left memory and are written back do not count
 */
function refuseGrown(pieces: readonly Piece[], growth: number, allowed: number): void {
  const actual = pieces.reduce((sum, piece) => sum + (Buffer.isBuffer(piece) ? piece.length : 0), 0);
  if (growth > 0 && actual > allowed) {
    throw new GatewayError('response_too_large', { limit: 'limits.response', allowed, actual });
  }
}

function refuseLongBatch({ message, deps }: Work): Edit[] {
  if (isLongBatch(message, deps)) {
    const reason = `a batch of it has more than limits.batch = ${deps.limits.batch} messages`;
    throw new GatewayError('upstream_invalid', { reason });
  }
  return [];
}

function isLongBatch({ captures }: HeldMessage, { limits }: ResultDeps): boolean {
  const index = captures.at(-1)?.path[0];
  return typeof index === 'number' && index >= limits.batch;
}

/** Small broken messages pass as they came; one with a file in it would be a way round the limits. */
function refuseMalformed({ message, cuts }: Work): Edit[] {
  if (message.malformed && cuts.cuts.some((cut) => !cut.inline)) {
    const { offset, reason } = message.malformed;
    throw new GatewayError('upstream_invalid', { reason: `${reason} at byte ${offset}` });
  }
  return [];
}

/** A cheap look at a whole body; JSON may spell slashes in two ways. */
export function mayTellOfChange(body: Buffer): boolean {
  return body.includes('list_changed');
}

/** A batch may say so in any of its messages. */
function tellsOfChange(message: HeldMessage): boolean {
  return message.captures.some(({ name, text }) => name === 'method' && text === `"${LIST_CHANGED}"`);
}

async function editAnswers({ message, cuts, answers, to }: Work): Promise<Edit[]> {
  if (message.malformed) return [];
  const edits: Edit[] = [];
  for (const { base, request } of answers) {
    if (request?.edit) addAll(edits, await request.edit({ message, cuts, base, to }));
  }
  return edits;
}

function showServer({ message, answers, deps, to }: Work): Edit[] {
  if (message.malformed) return [];
  return answers.flatMap(({ base, request }) => {
    const range = rangeAt(message, RANGE.capabilities, [...base, 'result', 'capabilities']);
    if (!range || !SERVER_METHODS.has(request?.method ?? '')) return [];
    const text = message.slice(range.start, range.end);
    const capabilities = lightValue(message, range, deps.limits);
    if (!isObject(capabilities)) return [];
    const patches = deps.dialects.flatMap((dialect) => dialect.showServer?.(capabilities, to.client) ?? []);
    return patches.length === 0 ? [] : [{ ...range, bytes: patchText(text, patches) }];
  });
}

async function rewriteToolList({ message, answers, deps, to, room }: Work): Promise<Edit[]> {
  const view = viewOf(to.client.protocolVersion, to.principal);
  if (tellsOfChange(message)) deps.catalog.forget(view);
  const edits: Edit[] = [];
  if (message.malformed) return edits;
  const remoteMethods = deps.remoteMethods.of(to.principal);
  for (const { base, request } of answers) {
    if (request?.method !== 'tools/list') continue;
    addAll(edits, await editToolList(message, [...base, 'result'], view, to.client, { ...deps, remoteMethods }, room));
  }
  return edits;
}

async function noteTasks({ message, answers, deps, to: { principal } }: Work): Promise<Edit[]> {
  for (const { base, request } of answers) {
    if (request) await deps.taskTools.note(message, base, request, { principal, server: deps.server }, deps.limits);
  }
  return [];
}

async function linkFiles(work: Work): Promise<Edit[]> {
  const { message, cuts, deps, to, answers, files } = work;
  const { principal, inquire } = to;
  const mayName = namesFiles(message, deps, to);
  if (message.malformed || (cuts.cuts.length === 0 && !mayName)) return [];
  for (const { request } of answers)
    if (request) await deps.taskTools.find(request, { principal, server: deps.server });
  const named = mayName ? await naming(work) : [];
  const fetched = await fetchRemoteFiles(named, { deps, principal, inquire, signal: to.signal });
  const links = await announceLinks(named, principal, deps);
  await keepShownResources(named, cuts, to, deps);
  if (cuts.cuts.length === 0 && fetched.length === 0 && links.length === 0) return [];
  const requestAt = (path: readonly (string | number)[]) =>
    (answerAt(answers, path) as Work['answers'][number] | undefined)?.request;
  const view = viewOf(to.client.protocolVersion, principal);
  const structured = new StructuredResults(
    message,
    cuts,
    declaredResults(deps.catalog, view, inquire, requestAt),
    deps.limits,
  );
  const { server, dialects, limits } = deps;
  const { client, signal } = to;
  const { library } = deps.files;
  const context = { server, client, dialects, limits, library, files, signal, structured, room: work.room };
  const edits = await translate(message, cuts, files, {
    client,
    dialects,
    limits,
    mayHoldFiles: (path) => FILE_METHODS.has(requestAt(path)?.method ?? 'tools/call'),
    subject: (path) => {
      const request = requestAt(path);
      return nameOf(request) ?? 'file';
    },
    names: new ToldNames(message, requestAt, limits),
    structured,
    sampleLinks: () => library.sampleLinks(),
    settings: (path) => own(deps.settings, toolOf(requestAt(path)) ?? ''),
    links,
    remote: fetched.length > 0 ? await remoteEdits(message, fetched, context) : undefined,
  });
  const content = contentOf(work, fetched);
  if (content) to.facts.content = content;
  return edits;
}

/** What the first content of a resource has become: told in code, for a message is its server's word. */
function contentOf({ answers, cuts, files }: Work, fetched: readonly FetchedFile[]): FileRecord | undefined {
  const answer = answers.find(({ request }) => request?.method === 'resources/read');
  const place = answer && pointer([...answer.base, 'result', 'contents', 0]);
  const remote = fetched.find(({ path }) => pointer(path) === place)?.outcome;
  if (remote?.kind === 'stored') return remote.record;
  const own = cuts.claimed.find(({ range }) => pointer(range.path) === place);
  return own?.cut.stored && files.recordOf(own.cut.stored.digest);
}

/** What a model that this client shows its tools can do with a handle. */
function handleUses({ takers, tools, catalog }: ResultDeps, { client, principal }: Addressee): HandleUses | undefined {
  const linkTool = tools.linkName(catalog.beside(viewOf(client.protocolVersion, principal)));
  return takers.any || linkTool !== undefined ? { isTaken: takers.any, ...(linkTool && { linkTool }) } : undefined;
}

/** What nameless files in an answer are called after. */
function nameOf(request: PendingRequest | undefined): string | undefined {
  return request && (request.tool ?? request.subject ?? request.method);
}

/** The results in a message in which files may be named that the server keeps. */
function naming({ message, answers, deps }: Work): Promise<ResultPlace[]> {
  const asked = answers.flatMap(({ base, request }) =>
    request && FILE_METHODS.has(request.method) ? [{ base, subject: nameOf(request) ?? request.method }] : [],
  );
  return resultsIn(message, asked, deps.limits);
}

/** A cheap look. */
function namesFiles(message: HeldMessage, deps: ResultDeps, to: Addressee): boolean {
  const methods = answersIn(message).flatMap(({ id }) => to.answered(id)?.method ?? []);
  return mayAnswerWithFiles(methods, (start, end) => message.slice(start, end), message.size, deps);
}

/** Whether bytes that answer these methods may name files that the server keeps. */
export function mayAnswerWithFiles(
  methods: readonly string[],
  read: (start: number, end: number) => Buffer,
  size: number,
  { dialects }: Pick<ResultDeps, 'dialects'>,
): boolean {
  const own = methods.filter((method) => FILE_METHODS.has(method));
  return own.length > 0 && mayNameFiles(read, size, own, dialects);
}

/** An error that takes another form for this client takes it as a whole. */
function retell({ message, answers, deps, to }: Work): Outgoing | undefined {
  const [answer] = answers;
  if (message.slots.length > 0 || to.isFailure || answer?.base.length !== 0) return undefined;
  const bytes = retoldError(message, answer.request, refusalContext(answer, deps, to));
  return bytes && { pieces: [bytes], answered: [answer.id], sent: async () => {} };
}

function liftRefusals({ message, answers, deps, to }: Work): Edit[] {
  if (message.slots.length > 0) return [];
  return answers.flatMap((answer) => liftedFacts(message, answer, answer.request, refusalContext(answer, deps, to)));
}

function refusalContext({ request }: Work['answers'][number], deps: ResultDeps, { client, principal }: Addressee) {
  const tool = deps.catalog.known(viewOf(client.protocolVersion, principal), request?.subject ?? '');
  // of one that is too large to be kept nothing is known to be foreseen
  const outputSchema = () => (tool?.hasUnkeptSchema ? {} : tool?.outputSchema);
  return { client, dialects: deps.dialects, outputSchema };
}

function remapIds({ message, to }: Work): Edit[] {
  return to.remap?.(message) ?? [];
}
