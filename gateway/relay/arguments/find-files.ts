import { breathe } from '../../budget/turn.js';
import { GatewayError } from '../../errors.js';
import { isObject, own } from '../../json/value.js';
import type { ArgumentReading } from '../../ports/dialect.js';
import type { JsonValue } from '../../ports/json.js';
import { joinPath } from '../../schema/argument-path.js';
import { slotsOf } from '../../tools/slots.js';
import { calledName, type PendingRequest } from '../pending-request.js';
import { type SlotUse, type Stray, strayIn, valuesIn } from '../tools/file-slots.js';
import { readerOf } from '../tools/reader.js';
import { viewOf } from '../upstream/view.js';
import { argumentsOf } from './heavy-arguments.js';
import { refusalOfLong } from './long-argument.js';
import { mayHideFiles, mayHoldFiles } from './may-hold-files.js';
import {
  argumentsAt,
  type Call,
  type FileUse,
  nameIn,
  ofCall,
  ownerOf,
  type Post,
  type PostContext,
  toolNamed,
} from './post.js';

/** Finds the calls of tools that take files. @throws GatewayError for an argument that was too long to be kept */
export function findCalls(post: Post): Post | Promise<Post> {
  return post.requests.some((request) => mayTakeFiles(request, post.context)) ? withCalls(post) : post;
}

async function withCalls(post: Post): Promise<Post> {
  const calls: Call[] = [];
  for (const request of post.requests) {
    const call = mayTakeFiles(request, post.context) ? await callOf(request, post.context) : undefined;
    if (call) calls.push(call);
  }
  return { ...post, calls };
}

/** Whether a request is a call with an argument that may be a file, or one that was too long to be kept. */
function mayTakeFiles(
  { method, subject, params, heavyArguments, tooLong }: PendingRequest,
  context: PostContext,
): boolean {
  if (method !== 'tools/call' || subject === undefined) return false;
  if (tooLong) return true;
  if (params.arguments !== undefined && !isObject(params.arguments)) return false;
  const { catalog, settings, dialects } = context.deps;
  const view = viewOf(context.client.protocolVersion, context.principal);
  const known = catalog.known(view, subject);
  if (known) return known.slots.length > 0;
  const configured = own(settings, subject);
  const isConfigured = configured !== undefined && configured.files.length > 0;
  return (
    isConfigured ||
    !catalog.isSettled(view) ||
    heavyArguments !== undefined ||
    mayHoldFiles(params.arguments ?? {}, dialects)
  );
}

async function callOf(request: PendingRequest, context: PostContext): Promise<Call | undefined> {
  const { subject = '', tooLong } = request;
  if (tooLong) throw await refusalOfLong(request, subject, tooLong, context);
  const { catalog, settings, limits } = context.deps;
  const view = viewOf(context.client.protocolVersion, context.principal);
  const configured = own(settings, subject);
  const tool = catalog.known(view, subject) ?? (await toolNamed(subject, context));
  const slots = tool?.slots ?? slotsOf({}, configured, []);
  const args = await argumentsOf(request, slots, tool?.paramHeaders ?? [], { owner: ownerOf(context), limits });
  return (
    args && { request, name: calledName(request) ?? subject, base: argumentsAt(request), args, tool, slots, uses: [] }
  );
}

/** Finds the files in the arguments of each call, and marks the request, because its answer may concern them. */
export async function findFiles(post: Post): Promise<Post> {
  const calls: Call[] = [];
  for (const call of post.calls) {
    const uses = await ofCall(call, post, () => filesIn(call, post.context));
    if (uses.length > 0) calls.push({ ...call, uses });
  }
  const withFiles = new Set(calls.map(({ request }) => request));
  const requests = post.requests.map((one) => (withFiles.has(one) ? { ...one, hasFiles: true as const } : one));
  return { ...post, calls, requests };
}

/** Stops after one file too many, because each would need a look-up in the state store. */
async function filesIn(call: Call, context: PostContext): Promise<FileUse[]> {
  const { args, slots } = call;
  const { client, deps } = context;
  const reader = readerOf(client, deps.dialects);
  const files: FileUse[] = [];
  let passing = 0;
  const { flow } = deps.incoming;
  const isJudged = flow?.mayKeepFrom(deps.server) === true;
  for (const slot of slots) {
    const pause = breathe(ownerOf(context));
    if (pause) await pause;
    if (isJudged) for (const stray of strayIn(args, slot)) refuseHidden(call, { slot, ...stray }, context);
    for (const use of valuesIn(args, slot)) {
      const reading = readingOf(use, context);
      const passes = reading?.kind === 'remote' && reader.passes.has(slot.declaredBy);
      passing += passes ? 1 : 0;
      const isText =
        reading !== undefined && slot.takesText === true && (await isOtherText(use.value, reading, context));
      if (!reading || isText || (passes && passing <= deps.limits.files && !(await isOwnLink(reading.url, context)))) {
        if (isJudged && typeof use.value === 'object') refuseHidden(call, use, context);
        refuseOtherType(call, use, context);
        continue;
      }
      files.push({ ...use, reading });
      if (files.length > deps.limits.files) return files;
    }
  }
  return files;
}

/** How a client means a value, if that is a file. */
export function readingOf({ value, slot }: SlotUse, { deps }: PostContext): ArgumentReading | undefined {
  for (const dialect of deps.dialects) {
    const reading = dialect.readArgument?.(value, slot);
    if (reading) return reading;
  }
  return undefined;
}

/** A server that gets Wharf's own link gets the file, so client and server cannot agree on that between themselves. */
async function isOwnLink(url: string, { deps, principal }: PostContext): Promise<boolean> {
  return (await deps.incoming.library.handleOfLink(url, principal)) !== undefined;
}

/**
 * A text that a tool takes in the place of a file: an address for the server, or a word. What a generous server could read
 * a file out of is not passed on unseen.
 */
async function isOtherText(value: JsonValue, reading: ArgumentReading, { deps }: PostContext): Promise<boolean> {
  if (typeof value !== 'string' || mayHideFiles(value)) return false;
  const { library } = deps.incoming;
  return reading.kind === 'link' ? !(await library.owns(reading.url)) : ['invalid', 'base64'].includes(reading.kind);
}

/** Refuses a value that is neither a file nor of another type that the server takes. Text is judged when it is read. */
function refuseOtherType(call: Call, use: SlotUse, context: PostContext): void {
  const { slot, value, wrap } = use;
  const type = Array.isArray(value) ? 'array' : typeof value;
  if (wrap || type === 'string' || !slot.types || slot.types.has(type)) return;
  if (type === 'number' && slot.types.has('integer')) return;
  const argument = nameIn(call, use, context);
  const kind = /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
  const text = `Argument '${argument}' is ${kind}, and takes a file: pass a file handle (mcp-file://…).`;
  throw new GatewayError('file_refused', { reason: 'malformedUri', argument, text });
}

/**
 * Where rules keep files from the server, a file must stand where they see it: a server that takes a text for the object in
 * it, or a list of one for the one, would get the file all the same.
 */
function refuseHidden(
  call: Call,
  use: Pick<SlotUse, 'slot' | 'path' | 'value'> & Partial<Stray>,
  context: PostContext,
): void {
  const { slot, value, isDoubtful = false } = use;
  if (!mayHideFiles(value)) return;
  const argument = nameIn(call, use, context);
  const text = isDoubtful
    ? `Argument '${argument}' may hold a file, and Wharf cannot tell whether the patterns of the tool's schema mean it, ` +
      'so that rules about files cannot be kept. Pass fewer members, with shorter names.'
    : `Argument '${argument}' may hold a file in a form in which rules about files cannot be kept: ` +
      `pass the file as ${joinPath(slot.path)}, in JSON as the tool's schema has it.`;
  throw new GatewayError('file_refused', { reason: 'malformedUri', argument, text });
}
