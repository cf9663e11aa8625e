import { GatewayError } from '../../errors.js';
import type { Several } from '../../files/bundles/several.js';
import type { FileRecord } from '../../files/file.js';
import type { Authorization } from '../../files/upload.js';
import type { UploadIntent } from '../../files/upload-intent.js';
import { isObject } from '../../json/value.js';
import type { Inquire } from '../../mcp/inquire.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect } from '../../ports/dialect.js';
import type {
  BadQuestion,
  FileAsking,
  GivenFile,
  OtherFields,
  ServerFile,
  ServerQuestion,
} from '../../ports/file-question.js';
import type { Identity } from '../../ports/identity.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import type { LocalAnswer } from '../client/local-answer.js';
import { calledName, type PendingRequest } from '../pending-request.js';
import type { AskingDeps } from './deps.js';
import { MAX_QUESTION, mostInAnswer } from './lacking.js';
import { type Way, wayFor } from './means.js';
import type { PutOffFor } from './put-off.js';
import { serverAskedText, serverQuestionText, unopenedText } from './texts.js';

/** A file in an answer exists at one time as bytes, as base64, in the text of the answer and in its bytes. */
const COPIES = 4;

/** Most types that a file may have, and characters of one: an upload link keeps them. */
const MAX_ACCEPT = 100;
const MAX_TYPE = 255;

/** A question of a server's that Wharf answers. */
export interface FoundQuestion {
  dialect: Dialect;
  question: ServerQuestion | BadQuestion;
}

/** What a server asks for in a dialect of files. Undefined for what the client itself can answer. */
export function readQuestion(
  params: JsonObject,
  client: ClientFacts,
  deps: Pick<AskingDeps, 'order' | 'dialects' | 'limits' | 'accepts'>,
): FoundQuestion | undefined {
  for (const dialect of deps.dialects) {
    const question = dialect.asks?.fromServer(params);
    if (!question) continue;
    if ('problem' in question) return { dialect, question };
    // the client answers a form itself where it fills such fields with bytes, or can be asked in no other way
    const isInForm = question.files.every(({ endpoint }) => !endpoint);
    if (isInForm && givesBytes(dialect, question, client)) return undefined;
    const problem = tooMuchIn(question, deps.limits.files);
    if (problem !== undefined) return { dialect, question: { problem } };
    if (isInForm && !canAskFor(question, client, deps)) return undefined;
    return { dialect, question };
  }
  return undefined;
}

/** Whether a client knows fields for such files, and fills them with the files themselves. */
function givesBytes({ asks }: Dialect, { files }: ServerQuestion, client: ClientFacts): boolean {
  if (!asks || asks.mayNameUploads?.(client)) return false;
  const file = { name: 'file', message: '', maxSize: 1, maxInline: 1, upload: { url: '', id: '' } };
  return files.every(({ transferModes }) =>
    asks.question({ ...file, ...(transferModes && { transferModes }) }, client),
  );
}

/** Whether there is a way to ask a client for each of the files. */
export function canAskFor(
  { files }: ServerQuestion,
  client: ClientFacts,
  deps: Pick<AskingDeps, 'order' | 'dialects' | 'limits' | 'accepts'>,
): boolean {
  return files.every((wanted) => wayForServer(wanted, client, deps) !== undefined);
}

/** Looked at before anything else: a client's own types are compared with each of these. */
function tooMuchIn({ files }: ServerQuestion, most: number): string | undefined {
  if (files.length > most) return `it asks for ${files.length} files, and at most ${most} are asked for at once`;
  for (const { name, accept = [] } of files) {
    if (accept.length > MAX_ACCEPT) return `"${name}" accepts ${accept.length} types, and may accept ${MAX_ACCEPT}`;
    if (accept.some((type) => type.length > MAX_TYPE)) return `"${name}" accepts a type of over ${MAX_TYPE} characters`;
  }
  return undefined;
}

/** The way in which a client is asked for a file that its server wants. */
export function wayForServer(
  wanted: ServerFile,
  client: ClientFacts,
  deps: Pick<AskingDeps, 'order' | 'dialects' | 'limits' | 'accepts'>,
): Way | undefined {
  const { name, title, description, accept, transferModes } = wanted;
  if (!takesInline(wanted) && !deps.dialects.some(({ transfer }) => transfer)) return undefined;
  const words = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
  const maxSize = largestFor(wanted, deps);
  const maxInline = Math.min(maxSize, mostInAnswer(deps.limits));
  const several = severalFor(wanted, deps);
  const limited = { ...(accept && { accept }), ...(several && { several }), ...(transferModes && { transferModes }) };
  return wayFor({ name, ...words, maxSize, maxInline, ...limited, isServers: true }, client, deps);
}

/** A file that a server wants, and for whose sake its user is asked. */
interface WantedByServer {
  wanted: ServerFile;
  /** The server's own words. */
  message: string;
  tool: string | undefined;
  principal: string;
}

/** The upload that such a file needs. */
export function uploadForServer(
  { wanted, message, tool, principal }: WantedByServer,
  { form }: Pick<Way, 'form'>,
  deps: Pick<AskingDeps, 'server' | 'limits' | 'accepts'>,
): UploadIntent {
  const { server } = deps;
  const { name, accept } = wanted;
  const question = serverAskedText(message, server, wanted).slice(0, MAX_QUESTION);
  const several = severalFor(wanted, deps);
  return {
    principal,
    maxSize: largestFor(wanted, deps),
    ...(accept && { accept }),
    ...(several && { several }),
    ...(form?.asks.isCallersUpload ? { isCallers: true } : { isForPerson: true }),
    purpose: { server, argument: name, question, ...(tool !== undefined && { tool }) },
  };
}

/** Stored files for one field of the server's question. */
interface Handed {
  wanted: ServerFile;
  records: readonly [FileRecord, ...FileRecord[]];
  /** Hears how many bytes of them have gone, and of which file the last ones were. */
  sent: (bytes: number, name: string) => void;
}

/** What is needed to hand over files. */
export interface HandOver {
  deps: Pick<AskingDeps, 'deliver' | 'upload' | 'library' | 'log' | 'flow' | 'server' | 'limits' | 'accepts'>;
  principal: string;
  identity: Identity;
  /** Asks the server in the session in which it asks. */
  inquire: Inquire;
  signal: AbortSignal;
  /** Counts bytes that are kept. @throws GatewayError `held_full` */
  hold: (bytes: number) => void;
}

/** Brings files to the server. @returns what the answer says about them @throws GatewayError */
export async function handOver(
  { wanted, records, sent }: Handed,
  asks: FileAsking,
  context: HandOver,
): Promise<JsonValue> {
  const { deps, principal, signal } = context;
  const { endpoint, name: argument } = wanted;
  for (const record of records) await refuseKept(record, argument, context);
  if (endpoint) await deps.deliver({ files: records, endpoint, sent }, signal);
  const isUploaded = wantsUploaded(wanted, records, deps);
  const given: GivenFile[] = [];
  let done = 0;
  for (const record of records) {
    const { name, mimeType, size, digest, id } = record;
    if (endpoint) given.push({ name, mimeType, size });
    else if (!isUploaded) given.push({ name, mimeType, size, base64: await base64Of(record, context) });
    else {
      const uri = await deps.upload({ file: record, argument, principal, inquire: context.inquire }, signal);
      given.push({ name, mimeType, size, uri });
      done += size;
      sent(done, name);
    }
    deps.log.info({ principal, argument, uploadId: endpoint?.id, file: id, size, digest }, 'a file was handed over');
  }
  return asks.toServer(given, wanted);
}

/** A server that takes files in both ways gets short ones in its answer, as in a call. */
function wantsUploaded(
  wanted: ServerFile,
  records: readonly FileRecord[],
  deps: Pick<AskingDeps, 'limits' | 'accepts'>,
): boolean {
  if (!takesUploads(wanted)) return false;
  return !takesInline(wanted) || records.reduce((sum, { size }) => sum + size, 0) > largestInline(deps);
}

/** A rule may keep these bytes from the server, wherever they have come from before. @throws GatewayError */
async function refuseKept(record: FileRecord, argument: string, { deps, identity: who }: HandOver): Promise<void> {
  const { flow, server: to } = deps;
  const answer = await flow?.decide({ who, from: record.server, to, file: record });
  if (!answer || answer.kind === 'allowed') return;
  const text = `The file for '${argument}' may not be given to the server "${to}": ${answer.rule.place} keeps it from there.`;
  throw new GatewayError('file_refused', { reason: 'handoffDenied', argument, text, rule: answer.rule.place });
}

/** Small: it goes into a message. */
async function base64Of(file: FileRecord, { deps, signal, hold }: HandOver): Promise<string> {
  hold(Math.ceil(file.size / 3) * 4 * COPIES);
  const chunks: Buffer[] = [];
  const read = await deps.library.read(file, signal);
  if (read.kind !== 'found') throw new GatewayError('file_gone');
  for await (const chunk of read.body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('base64');
}

function takesInline({ transferModes }: ServerFile): boolean {
  return transferModes === undefined || transferModes.includes('inline');
}

function takesUploads({ transferModes, endpoint }: ServerFile): boolean {
  return endpoint !== undefined || transferModes?.includes('upload') === true;
}

function largestFor(wanted: ServerFile, deps: Pick<AskingDeps, 'limits' | 'accepts'>) {
  const { limits } = deps;
  const { maxSize } = wanted;
  const most = takesUploads(wanted) ? limits.file : largestInline(deps);
  return Math.min(limits.file, most, maxSize ?? most);
}

/** How many files a list takes; undefined where one is wanted. */
function severalFor(wanted: ServerFile, deps: Pick<AskingDeps, 'limits' | 'accepts'>): Several | undefined {
  const { isList, minItems = 1, maxItems } = wanted;
  const most = Math.min(maxItems ?? deps.limits.filesPerArgument, deps.limits.filesPerArgument);
  if (!isList || most <= 1) return undefined;
  const together = takesUploads(wanted) ? {} : { together: { bytes: largestInline(deps), limit: 'limits.message' } };
  return { least: Math.min(Math.max(1, minItems), most), most, ...together };
}

/** Bytes of files that are in the answer itself. */
function largestInline({ limits, accepts }: Pick<AskingDeps, 'limits' | 'accepts'>): number {
  return Math.min(mostInAnswer(limits), mostInAnswer({ ...limits, message: accepts }));
}

/** The request with the other fields that the server wants. @param files those that must be given */
export function withOthers(params: JsonObject, besides: OtherFields, files: readonly string[]): JsonObject {
  const { requestedSchema } = params;
  if (!isObject(requestedSchema) || !isObject(requestedSchema.properties)) return params;
  const properties = { ...besides.properties, ...requestedSchema.properties };
  return { ...params, requestedSchema: { ...requestedSchema, properties, required: [...files, ...besides.required] } };
}

/** A form of the other fields alone. */
export function formForOthers(message: string, { properties, required }: OtherFields, server: string): JsonObject {
  return {
    mode: 'form',
    message: serverQuestionText({ message, server, means: 'form' }, {}),
    requestedSchema: { type: 'object', properties, required: [...required] },
  };
}

/** What an earlier call with the same question has left: its link, and the file if it has come. */
export async function takenUp(
  about: PutOffFor,
  { putOff, uploads }: Pick<AskingDeps, 'putOff' | 'uploads'>,
): Promise<{ offered: Authorization; records?: readonly FileRecord[] } | undefined> {
  const offered = await putOff.take(about);
  if (!offered) return undefined;
  const records = await uploads.given(offered.id);
  if (records) return { offered, records };
  return (await uploads.inspect(offered.ticket)).kind === 'open' ? { offered } : undefined;
}

/** The tool in which a server asks: of a task, the one that it runs. Prompts and resources are not tools. */
export async function askingTool(
  request: PendingRequest | undefined,
  owner: { principal: string; server: string },
  { taskTools }: Pick<AskingDeps, 'taskTools'>,
): Promise<string | undefined> {
  const { method, subject } = request ?? {};
  if (request && method === 'tools/call') return calledName(request);
  return method === 'tasks/result' && subject !== undefined ? taskTools.toolOf(subject, owner) : undefined;
}

/** Requests whose results tell the model of errors. A result of any other is a prompt or a resource, and nothing else. */
const TELLS_MODEL = new Set(['tools/call', 'tasks/result']);

/** What answers a request instead of its server, whose question was put off. @param message the server's own words */
export function putOffAnswer(
  { method }: Pick<PendingRequest, 'method'>,
  message: string,
  offered: Authorization,
  { server, steps, timeouts }: Pick<AskingDeps, 'server' | 'steps' | 'timeouts'>,
): LocalAnswer {
  const isCall = TELLS_MODEL.has(method);
  const again = isCall ? 'call the tool again with the same arguments' : 'make the same request again';
  const then = steps(offered, `${again}, which then gets this file`);
  const text = `${serverAskedText(message, server)} ${unopenedText(timeouts.elicitationNotice)}\n${then}`;
  if (!isCall) return { error: new GatewayError('question_put_off', { text }).toJsonRpc() };
  return { result: { content: [{ type: 'text', text }], isError: true } };
}
