import { isDeepStrictEqual } from 'node:util';
import { type ErrorFacts, GatewayError } from '../../errors.js';
import { severalIn } from '../../files/tickets/several.js';
import { acceptByIn, type SizeBy, sizeByIn, type UploadIntent } from '../../files/tickets/upload-intent.js';
import { JsonDocument } from '../../json/document.js';
import { Edits } from '../../json/edit.js';
import { invalid } from '../../mcp/read-message.js';
import { type ClientMessages, type ReadingLimits, readMessages } from '../../mcp/request.js';
import type { Limits } from '../../policy/limits.js';
import type { AcceptedBy, Accepting } from '../../policy/message-limits.js';
import type { FileBounds, FileQuestion } from '../../ports/file-question.js';
import type { JsonPath, JsonValue } from '../../ports/json.js';
import type { CallOwner } from '../../ports/owner.js';
import { type PendingRequest, underOwnName } from '../pending-request.js';
import type { Way } from './means.js';
import { askedText, type WantedFile } from './texts.js';

/** Characters of the question that a ticket keeps: a page shows no more of it. */
export const MAX_QUESTION = 600;

/** A file that a call lacks, and where it belongs. */
export interface Lacking extends WantedFile {
  /** Where it is in the arguments that the client writes. */
  at: JsonPath;
  /** What limits its size. */
  maxSizeBy?: UploadIntent['maxSizeBy'];
  /** The lists that limit its types. */
  acceptBy?: readonly AcceptedBy[];
}

/** The file that a call was refused for the lack of, where it may be uploaded. */
export function lackingIn(error: unknown): Lacking | undefined {
  if (!(error instanceof GatewayError) || error.code !== 'file_missing') return undefined;
  const { tool, argument, at, maxSize, accept, transferModes } = error.facts;
  const several = severalIn(error.facts);
  if (Array.isArray(transferModes) && !transferModes.includes('upload')) return undefined;
  return {
    tool: String(tool),
    argument: String(argument),
    at: at as JsonPath,
    maxSize: Number(maxSize),
    ...sizeByIn(error.facts),
    ...(Array.isArray(accept) && { accept: accept as string[] }),
    ...acceptByIn(error.facts),
    ...(several && { several }),
  };
}

/** What a refusal says of it: the reverse of `lackingIn`. */
export function factsOfLack(lacking: Lacking): ErrorFacts {
  const { tool, argument, at, maxSize, maxSizeBy, accept, acceptBy, several } = lacking;
  const counts = several && { minFiles: several.least, maxFiles: several.most };
  const { bytes, limit } = several?.together ?? {};
  const together = bytes !== undefined && limit !== undefined && { maxTogether: bytes, togetherLimit: limit };
  const { limit: sizeLimit, source: sizeSource } = maxSizeBy ?? {};
  const by = { ...(sizeLimit !== undefined && { sizeLimit }), ...(sizeSource !== undefined && { sizeSource }) };
  const types = { ...(accept && { accept }), ...(acceptBy && { acceptBy }) };
  return { tool, argument, at, maxSize, ...by, ...types, ...counts, ...together };
}

/** The field of a question for the file. @param maxInline bytes of a file that may be in an answer */
export function fieldOf(
  { at, maxSize, accept, several }: Lacking,
  maxInline: number,
): Omit<FileQuestion, 'message' | 'upload'> {
  const name = at.findLast((key) => typeof key === 'string') ?? 'file';
  return {
    name: String(name),
    maxSize,
    maxInline: Math.min(maxSize, maxInline),
    ...(accept && { accept }),
    ...(several && { several }),
  };
}

/**
 * Bytes of a file that may be in a client's answer: as base64, beside some words, it is a message.
 */
export function mostInAnswer({ message, inlineArgument }: Pick<Limits, 'message' | 'inlineArgument'>): number {
  return Math.max(1, Math.min(inlineArgument, Math.floor((message * 3) / 4) - 1024));
}

/** What limits the size of a file to less than the tool takes. */
export const BY_CLIENT: SizeBy = { limit: 'what the client declares' };

/** What limits its types, where a client takes fewer than the tool as well. */
export function acceptedBy(
  accepting: Accepting,
  { accept }: Pick<FileBounds, 'accept'>,
): Pick<UploadIntent, 'acceptBy'> {
  const { acceptBy = [] } = accepting;
  const isNarrower = accept !== undefined && !isDeepStrictEqual(accept, accepting.accept);
  const all = isNarrower ? [...acceptBy, { types: accept, ...BY_CLIENT }] : acceptBy;
  return all.length > 0 ? { acceptBy: all } : {};
}

/** The upload that such a file needs. */
export function uploadFor(
  lacking: Lacking,
  { principal, server }: CallOwner,
  { form, takes }: Pick<Way, 'form' | 'takes'>,
): UploadIntent {
  const { tool, argument, maxSize, maxSizeBy, several } = lacking;
  const by = takes.maxSize < maxSize ? BY_CLIENT : maxSizeBy;
  return {
    principal,
    ...takes,
    ...(by && { maxSizeBy: by }),
    ...acceptedBy(lacking, takes),
    ...(several && { several }),
    ...(form?.asks.isCallersUpload ? { isCallers: true } : { isForPerson: true }),
    purpose: { server, tool, argument, question: askedText(lacking, server).slice(0, MAX_QUESTION) },
  };
}

/** Messages, with what has been found about their request. */
interface WithOnlyRequest extends ClientMessages {
  requests: PendingRequest[];
}

/** A change of a call's parameters, below them; a member without a value is removed. */
interface ParamEdit {
  path: JsonPath;
  value: JsonValue | undefined;
}

/**
 * The messages with the parameters of their only request changed; every other byte stays as it came, and so does what has
 * been found about it, such as the server's own name of its tool.
 * @throws GatewayError `request_invalid` where it names twice what is to be changed
 */
export async function withParams(
  { bytes, requests: [before] }: WithOnlyRequest,
  changes: readonly ParamEdit[],
  limits: ReadingLimits,
): Promise<ClientMessages> {
  const document = JsonDocument.of(bytes);
  const edits = new Edits(document);
  for (const { path, value } of changes) {
    if (value === undefined) edits.remove(['params', ...path]);
    else edits.set(['params', ...path], value);
  }
  await document.findInSteps(edits.paths());
  const [duplicate] = document.duplicates;
  if (duplicate) throw invalid(`the object at ${duplicate.path || 'the top'} names "${duplicate.key}" twice`);
  const read = await readMessages(Buffer.concat(edits.applied().pieces as readonly Buffer[]), limits);
  return before ? { ...read, requests: read.requests.map((request) => withFound(request, before)) } : read;
}

/** What the bytes of a request do not say: they have the name of a tool that the client knows. */
function withFound(request: PendingRequest, { subject, calledAs, edits }: PendingRequest): PendingRequest {
  const named = calledAs === undefined || subject === undefined ? request : underOwnName(request, subject);
  return edits ? { ...named, edits } : named;
}

/**
 * A file in the place of an argument: its handle. Alone in the place of a list it is one of one file, and the handle of
 * several files is all of them.
 */
export function inPlace({ at }: Pick<Lacking, 'at'>, uri: string): ParamEdit {
  return { path: ['arguments', ...at], value: uri };
}
