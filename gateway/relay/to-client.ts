import { asGatewayError, GatewayError } from '../errors.js';
import type { ClientFacts, JsonObject } from '../ports/dialect.js';
import type { HeldMessage } from '../wire/json/reader.js';
import type { Ask } from './catalog.js';
import { type Edit, inOrder, rangeAt, replaceRange } from './edits.js';
import { errorAnswers } from './error-answer.js';
import type { ExchangeFacts, RelayDeps } from './exchange.js';
import type { MessageCuts } from './message-cuts.js';
import { OutgoingFiles } from './outgoing-files.js';
import { isObject, type PendingRequest } from './request.js';
import { RANGE } from './slots.js';
import { type Piece, splice } from './splice.js';
import { withoutBase64Declarations } from './structured-content.js';
import { translate } from './translate.js';

/** Methods whose results can hold files. What another method answers is nobody's file, whatever it looks like. */
const FILE_METHODS = new Set(['tools/call', 'tasks/result', 'tasks/get', 'prompts/get', 'resources/read']);

/** Methods whose results Wharf itself reads. */
const READ_METHODS = new Set(['tools/list']);

const LIST_CHANGED = 'notifications/tools/list_changed';

/** For whom a message is, and what it answers. */
export interface Addressee {
  principal: string;
  client: ClientFacts;
  /** The request that an answer with this id belongs to, where that is known. */
  answered: (id: string) => PendingRequest | undefined;
  ask: Ask;
  facts: ExchangeFacts;
  signal: AbortSignal;
  /** Edits that the channel needs in every message, such as ids mapped back. */
  remap?: (message: HeldMessage) => Edit[];
}

interface Work {
  message: HeldMessage;
  cuts: MessageCuts;
  deps: RelayDeps;
  to: Addressee;
  /** The request this message answers. */
  request: PendingRequest | undefined;
  files: OutgoingFiles;
}

/** What an upstream's message goes through, in this order. Each stage adds edits or throws the answer's error. */
const STAGES: readonly ((work: Work) => Edit[] | Promise<Edit[]>)[] = [
  refuseFailed,
  refuseMalformed,
  rewriteToolList,
  linkFiles,
  remapIds,
];

export interface Outgoing {
  pieces: Piece[];
  /** Removes what existed only to send the message. */
  sent: () => Promise<void>;
}

/** A message's bytes as they came, when nothing in it needs work: the hot path. */
export function untouched(message: HeldMessage, cuts: MessageCuts, to: Addressee): Piece[] | undefined {
  if (cuts.cuts.length > 0 || cuts.failure || to.remap) return undefined;
  const request = requestOf(message, to);
  if (request && READ_METHODS.has(request.method)) return undefined;
  if (message.captured('method') === `"${LIST_CHANGED}"`) return undefined;
  return message.render([]) as Buffer[];
}

/** The message as the client gets it; undefined when it cannot be delivered and answers nothing. */
export async function toClient(
  message: HeldMessage,
  cuts: MessageCuts,
  deps: RelayDeps,
  to: Addressee,
): Promise<Outgoing | undefined> {
  await cuts.settle();
  const request = requestOf(message, to);
  const owner = {
    principal: to.principal,
    server: deps.server,
    subject: request?.subject ?? request?.method ?? 'file',
  };
  const files = new OutgoingFiles(deps.files, owner, cuts, to.signal);
  const work: Work = { message, cuts, deps, to, request, files };
  try {
    const edits: Edit[] = [];
    for (const stage of STAGES) edits.push(...(await stage(work)));
    const kept = (digest: string) => files.get(digest) !== undefined;
    const { pieces, temporary } = splice(message, inOrder(edits), deps.cut.library, kept, to.signal);
    to.facts.files += files.count;
    to.facts.fileBytes += files.bytes;
    const sent = async () => {
      await Promise.all(temporary.map((key) => deps.cut.library.discard(key)));
      cuts.release();
    };
    return { pieces, sent };
  } catch (thrown) {
    const error = asGatewayError(thrown);
    await cuts.discardFiles();
    cuts.release();
    return failed(message, error, deps, to);
  }
}

function failed(message: HeldMessage, error: GatewayError, deps: RelayDeps, to: Addressee): Outgoing | undefined {
  const level = error.code === 'internal' ? 'error' : 'warn';
  deps.log[level]({ code: error.code, facts: error.facts, err: error.cause }, 'a message could not be delivered');
  deps.metrics.count('wharf_errors_total', { code: error.code });
  const answers = errorAnswers(message, error);
  if (!answers) {
    deps.metrics.count('wharf_dropped_messages_total', { reason: error.code });
    return undefined;
  }
  to.facts.error = error.code;
  return { pieces: [answers], sent: async () => {} };
}

function requestOf(message: HeldMessage, to: Addressee): PendingRequest | undefined {
  const id = message.captured('method') === undefined ? message.captured(RANGE.id) : undefined;
  return id === undefined ? undefined : to.answered(id);
}

function refuseFailed({ cuts }: Work): Edit[] {
  if (cuts.failure) throw cuts.failure;
  return [];
}

/** Small broken messages pass as they came; one with a file in it would be a way round the limits. */
function refuseMalformed({ message, cuts }: Work): Edit[] {
  if (message.malformed && cuts.cuts.some((cut) => !cut.inline)) {
    const { offset, reason } = message.malformed;
    throw new GatewayError('upstream_invalid', { reason: `${reason} at byte ${offset}` });
  }
  return [];
}

function rewriteToolList({ message, request, deps, to }: Work): Edit[] {
  const view = viewOf(to);
  if (message.captured('method') === `"${LIST_CHANGED}"`) deps.catalog.forget(view);
  if (request?.method !== 'tools/list' || message.malformed) return [];
  const answer: unknown = JSON.parse(message.skeleton().toString('utf8'));
  const result = (answer as JsonObject).result;
  if (!isObject(result)) return [];
  deps.catalog.observe(view, result);
  const edits: Edit[] = [];
  const tools = Array.isArray(result.tools) ? result.tools : [];
  tools.forEach((tool, index) => {
    const schema =
      isObject(tool) && isObject(tool.outputSchema) ? withoutBase64Declarations(tool.outputSchema) : undefined;
    const range = rangeAt(message, RANGE.outputSchema, ['result', 'tools', index, 'outputSchema']);
    if (schema && range) edits.push(replaceRange(range, JSON.stringify(schema)));
  });
  return edits;
}

async function linkFiles({ message, cuts, deps, to, request, files }: Work): Promise<Edit[]> {
  if (cuts.cuts.length === 0 || message.malformed) return [];
  if (request && !FILE_METHODS.has(request.method)) return [];
  const tool = request?.method === 'tools/call' ? request.subject : undefined;
  return translate(message, cuts, files, {
    client: to.client,
    dialects: deps.dialects,
    limits: deps.limits,
    outputSchema: async () =>
      tool === undefined ? undefined : (await deps.catalog.tool(viewOf(to), tool, to.ask))?.outputSchema,
  });
}

function remapIds({ message, to }: Work): Edit[] {
  return to.remap?.(message) ?? [];
}

/** A server may show each caller other tools, and other ones in each version. */
function viewOf(to: Addressee): string {
  return `${to.client.protocolVersion} ${to.principal}`;
}
