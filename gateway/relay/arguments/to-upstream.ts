import { GatewayError } from '../../errors.js';
import { patchMessage, patchValue } from '../../json/patch.js';
import type { Inquire } from '../../mcp/inquire.js';
import { type ClientMessages, capabilitiesOf, META_CAPABILITIES } from '../../mcp/request.js';
import type { ClientFacts } from '../../ports/client.js';
import type { JsonPatch } from '../../ports/dialect.js';
import type { OutgoingMessage } from '../../ports/upstream.js';
import { addAll } from '../../wire/add-all.js';
import type { PendingRequest } from '../pending-request.js';
import type { ToolFacts } from '../tools/catalog.js';
import { liftsArguments, putBack } from '../tools/lifted-arguments.js';
import { declaredBy } from '../upstream/declared.js';
import { viewOf } from '../upstream/view.js';
import type { CallDeps } from './deps.js';
import { type HandedOver, prepareArguments } from './file-arguments.js';
import { argumentsOf } from './heavy-arguments.js';
import { uploadToServer } from './upload-to-server.js';

/** Requests whose answers depend on what the client can do with files. */
const FILE_METHODS = new Set([
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/stream',
  'prompts/get',
]);

export interface ToUpstreamContext {
  deps: CallDeps;
  principal: string;
  client: ClientFacts;
  /** Asks the server on the session of the exchange under way. */
  inquire: Inquire;
  signal: AbortSignal;
  /** The server takes arguments in headers as well: over HTTP, since 2026-07-28. */
  hasParamHeaders: boolean;
}

/** A POST as the server gets it. */
export interface ToUpstream {
  message: OutgoingMessage;
  /** Headers that go with it. */
  headers: Record<string, string>;
  /** Removes what existed for it only. To be called when it is answered, or could not be sent. */
  done: () => Promise<void>;
}

/**
 * What a client's messages go through on their way to the server: what Wharf can do for the client is declared, and
 * file arguments take the form in which the server knows them. Where there is neither they go as they came.
 * @param text the body; not `messages.bytes` where ids have been renamed
 * @throws GatewayError `file_refused` before the server has been asked
 */
export async function toUpstream(
  text: Buffer,
  messages: ClientMessages,
  { deps, principal, client, inquire, signal, hasParamHeaders }: ToUpstreamContext,
): Promise<ToUpstream> {
  const declared = await declare(text, messages, deps);
  const view = viewOf(client.protocolVersion, principal);
  const lifts = liftsArguments(client, deps.dialects);
  const tool = (name: string) => deps.catalog.tool(view, name, inquire);
  const placed = lifts ? await putBackLifted(declared, messages, tool, deps.limits) : declared;
  const prepared = await prepareArguments(placed, messages.requests, {
    dialects: deps.dialects,
    client,
    lifts,
    hasParamHeaders,
    tool,
    known: (name) => deps.catalog.known(view, name),
    isSettled: () => deps.catalog.isSettled(view),
    handedOver: (handed) => deps.log.info({ principal, to: deps.server, ...factsOf(handed) }, 'a file was handed over'),
    owner: { principal, server: deps.server },
    limits: deps.limits,
    accepts: deps.accepts,
    settings: deps.settings,
    incoming: deps.incoming,
    tempFiles: deps.tempFiles,
    store: (file, inner) => deps.storeInline(file, principal, inner),
    upload: (file, delivery, argument) =>
      uploadToServer(file, delivery, argument, { deps, principal, inquire, signal }),
    signal,
  });
  if (prepared) return prepared;
  const actual = placed.length;
  const { accepts, limits, server } = deps;
  // over stdio a line too long ends the server's process, and with it everybody's work there
  if (actual > accepts) {
    throw new GatewayError('message_too_large', { limit: `servers.${server}.accepts`, allowed: accepts, actual });
  }
  // what may have been files was none
  if (text.length > limits.message) {
    const facts = { limit: 'limits.message', allowed: limits.message, actual: text.length };
    throw new GatewayError('message_too_large', facts);
  }
  return { message: placed, headers: {}, done: nothingToRemove };
}

/** A call on a channel keeps this until it is answered: it must keep nothing of the call alive, as a closure in there would. */
async function nothingToRemove(): Promise<void> {}

/** Arguments that the client was shown at a tool's top level go where the server takes them. @throws GatewayError */
async function putBackLifted(
  text: Buffer,
  { requests, isBatch }: ClientMessages,
  tool: (name: string) => Promise<ToolFacts | undefined>,
  limits: CallDeps['limits'],
): Promise<Buffer> {
  const patches: JsonPatch[] = [];
  for (const request of requests) {
    const { method, subject, params, base } = request;
    if (method !== 'tools/call' || subject === undefined) continue;
    const { slots = [], paramHeaders = [] } = (await tool(subject)) ?? {};
    const args = await argumentsOf(request, slots, paramHeaders, limits);
    const own = args ? putBack(args, slots) : [];
    if (!args || own.length === 0) continue;
    request.params = { ...params, arguments: patchValue(args, own) };
    delete request.heavyArguments;
    addAll(
      patches,
      own.map(({ path, value }) => ({ path: [...base, 'params', 'arguments', ...path], value })),
    );
  }
  return patches.length === 0 ? text : patchMessage(text, patches, isBatch);
}

/** What the log says of a file: nothing of what is in it, and of where it came from only what is known. */
function factsOf({ argument, file: { origin, size, record } }: HandedOver) {
  const { id, server, digest } = record ?? {};
  return {
    origin,
    argument,
    size,
    ...(record && { file: id, digest }),
    ...(server !== undefined && { from: server }),
  };
}

async function declare(
  text: Buffer,
  messages: ClientMessages,
  deps: Pick<CallDeps, 'dialects' | 'limits'>,
): Promise<Buffer> {
  const [request] = messages.requests;
  if (!request || messages.isBatch) return text;
  const at = placeOfCapabilities(request, messages);
  if (!at) return text;
  const patches: JsonPatch[] = Object.entries(declaredBy(deps)).map(([key, value]) => ({ path: [...at, key], value }));
  return patches.length === 0 ? text : patchMessage(text, patches);
}

function placeOfCapabilities(request: PendingRequest, messages: ClientMessages): string[] | undefined {
  if (request === messages.initialize) return ['params', 'capabilities'];
  const isStateless = messages.statelessVersion !== undefined && FILE_METHODS.has(request.method);
  // a request that lacks them is the server's to refuse
  return isStateless && capabilitiesOf(request.params) ? ['params', '_meta', META_CAPABILITIES] : undefined;
}
