import type { JsonDocument } from '../../json/document.js';
import type { Edits } from '../../json/edit.js';
import type { ClientMessages } from '../../mcp/request.js';
import { type Accepting, acceptedWithin } from '../../policy/message-limits.js';
import type { ClientFacts } from '../../ports/client.js';
import type { ArgumentReading } from '../../ports/dialect.js';
import type { FileSlot } from '../../ports/file-slot.js';
import type { JsonObject, JsonPath } from '../../ports/json.js';
import type { Owner } from '../../ports/owner.js';
import type { ToolFacts, ToolSlot } from '../../tools/tool.js';
import { type ExchangeFacts, noteCall } from '../exchange.js';
import type { PendingRequest } from '../pending-request.js';
import type { SlotUse } from '../tools/file-slots.js';
import { calledAs } from '../tools/lifted-arguments.js';
import { type MostInSlot, maxSizeOf, mostTogether } from '../tools/max-size.js';
import { readerOf } from '../tools/reader.js';
import { viewOf } from '../upstream/view.js';
import type { Deliveries } from './deliveries.js';
import type { CallContext } from './deps.js';
import type { IncomingFile } from './incoming-files.js';
import type { SlotRules } from './refused-file.js';

/** Facts about a client's messages besides their content. */
export interface PostContext extends CallContext {
  client: ClientFacts;
  /** Of its exchange, which then names the call that is refused. */
  facts: ExchangeFacts;
  /** False where a batch is sent as its messages, one by one. */
  takesBatches: boolean;
  /** True when some arguments are repeated in headers for the server. */
  hasParamHeaders: boolean;
  /** The new id of the only request on a channel shared by several clients. */
  id?: number;
}

/** Whose messages they are. */
export function ownerOf({ principal, deps: { server } }: Pick<PostContext, 'principal' | 'deps'>): Owner {
  return { principal, server };
}

/**
 * A client's messages on their way to the server. Each stage passes on what it has found, and adds its changes to the
 * edits.
 */
export interface Post {
  readonly context: PostContext;
  readonly messages: ClientMessages;
  /** The original body. */
  readonly document: JsonDocument;
  /** Its changes. */
  readonly edits: Edits;
  /** Its requests, with what has been found in them. */
  readonly requests: readonly PendingRequest[];
  /** Those that are calls with file arguments. */
  readonly calls: readonly Call[];
  readonly deliveries: Deliveries;
  /** The files that go with it. */
  readonly handed: readonly HandedOver[];
  /** Headers that repeat what Wharf has written into it. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A stage of a client's messages. @throws GatewayError to refuse them */
export type Stage = (post: Post) => Post | Promise<Post>;

/** A call of a tool that takes files. */
export interface Call {
  readonly request: PendingRequest;
  readonly name: string;
  /** Path of the arguments in the body. */
  readonly base: JsonPath;
  readonly args: JsonObject;
  /** The tool's declaration, if it is known. */
  readonly tool: ToolFacts | undefined;
  readonly slots: readonly ToolSlot[];
  readonly uses: readonly FileUse[];
  /** Where the value at a path stood in the arguments as they came, if Wharf has opened a list. */
  readonly cameAt?: (path: JsonPath) => JsonPath;
}

/** A value in a slot that is a file, or was meant as one. */
export type FileUse = SlotUse & { reading: ArgumentReading };

/** A file that goes to the server with a call. */
export interface HandedOver {
  argument: string;
  file: IncomingFile;
}

/** Does the work for one call: the log and the audit log name it, and not the first of its batch, if that fails. */
export async function ofCall<T>(
  { name }: Call,
  { context: { facts } }: Pick<Post, 'context'>,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    noteCall(facts, name);
    throw error;
  }
}

/** True for a batch that is sent as its messages. */
export function splits({ messages, context }: Pick<Post, 'messages' | 'context'>): boolean {
  return messages.isBatch && !context.takesBatches;
}

/** Path of a request's arguments in the body. */
export function argumentsAt({ base }: PendingRequest): JsonPath {
  return [...base, 'params', 'arguments'];
}

/** True when the client has other names for nested arguments. */
export function lifts({ client, deps }: Pick<PostContext, 'client' | 'deps'>): boolean {
  return readerOf(client, deps.dialects).lifts;
}

/** The client's name for the value at a path of a call, for refusals. */
export function nameIn(
  { cameAt }: Pick<Call, 'cameAt'>,
  { slot, path }: Pick<SlotUse, 'slot' | 'path'>,
  context: Pick<PostContext, 'client' | 'deps'>,
): string {
  return calledAs(slot, cameAt?.(path) ?? path, lifts(context));
}

/** A tool's declaration, requested from the server if it is not known yet. */
export function toolNamed(
  name: string,
  { deps, principal, client, inquire }: PostContext,
): Promise<ToolFacts | undefined> {
  return deps.catalog.tool(viewOf(client.protocolVersion, principal), name, inquire);
}

/** Largest file in this slot, in bytes, and the config name of its limit. */
export function mostIn(slot: FileSlot, { deps }: Pick<PostContext, 'deps'>): MostInSlot {
  const { limits, accepts, server } = deps;
  return maxSizeOf(slot, { limits, accepts, owner: { server } });
}

/**
 * Most bytes that several files in this slot may have together, and the config name of that limit; undefined where only the limit of
 * each file counts.
 * @param files their number
 */
export function togetherIn(
  slot: FileSlot,
  files: number,
  { deps }: Pick<PostContext, 'deps'>,
): { bytes: number; limit: string } | undefined {
  const { limits, accepts, server } = deps;
  return mostTogether(slot, files, { limits, accepts, owner: { server } });
}

/** What decides about a file in this slot. */
export function rulesOf(
  slot: FileSlot,
  of: Pick<SlotRules, 'tool' | 'argument'>,
  context: Pick<PostContext, 'deps'>,
): SlotRules {
  const maxInline = context.deps.limits.inlineArgument;
  return { slot, ...of, maxSize: mostIn(slot, context), maxInline, ...typesIn(slot, context) };
}

/** Media types of files in this slot, by its own declaration and by the config. */
export function typesIn({ accept }: FileSlot, { deps }: Pick<PostContext, 'deps'>): Accepting {
  return acceptedWithin(accept, deps.incoming.accept);
}
