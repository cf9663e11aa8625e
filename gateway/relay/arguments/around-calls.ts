import { patchValue } from '../../json/patch.js';
import { isObject } from '../../json/value.js';
import { META_CAPABILITIES } from '../../mcp/meta-keys.js';
import { capabilitiesOf, metaOf } from '../../mcp/request.js';
import type { JsonPath, JsonValue } from '../../ports/json.js';
import type { PendingRequest } from '../pending-request.js';
import { putBack } from '../tools/lifted-arguments.js';
import { declaredMembers } from '../upstream/declared.js';
import { argumentsOf } from './heavy-arguments.js';
import { argumentsAt, lifts, ownerOf, type Post, toolNamed } from './post.js';

/** Path of a request's progress token. */
export const PROGRESS_TOKEN: JsonPath = ['params', '_meta', 'progressToken'];

/** MCP's own requests whose answers depend on the client's file capabilities. */
const CAPABILITY_METHODS = new Set([
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/get',
]);

/**
 * On a channel shared by clients, the only request gets a new id, which is also its progress token, because two clients
 * may use the same ones.
 */
export function renameRequest(post: Post): Post {
  const { id } = post.context;
  const [request] = post.requests;
  if (id === undefined || !request) return post;
  post.edits.set(['id'], id);
  if (metaOf(request.params).progressToken !== undefined) post.edits.set(PROGRESS_TOKEN, id);
  return post;
}

/** Calls tools by the names that the server knows. */
export function renameTools(post: Post): Post {
  for (const { base, subject, calledAs } of post.requests) {
    if (calledAs !== undefined && subject !== undefined) post.edits.set([...base, 'params', 'name'], subject);
  }
  return post;
}

/** Declares to the server what Wharf can do for the client. */
export function declareAbilities(post: Post): Post {
  const [request] = post.requests;
  const declaration = request && !post.messages.isBatch ? declarationOf(request, post) : undefined;
  if (!declaration) return post;
  const { at, own } = declaration;
  const { deps, client } = post.context;
  const members = declaredMembers(deps);
  const keys = Object.keys(members.values);
  const isNew = isObject(own) && keys.length > 0 && !keys.some((key) => Object.hasOwn(own, key));
  if (isNew) post.edits.add(at, members);
  else for (const key of keys) post.edits.set([...at, key], members.values[key] as JsonValue);
  const elicitation = deps.elicitation(client);
  if (elicitation) post.edits.set([...at, 'elicitation'], elicitation);
  return post;
}

/** Where a request declares the client's capabilities. */
interface Declaration {
  at: JsonPath;
  own: JsonValue | undefined;
}

function declarationOf({ method, params }: PendingRequest, { messages, context }: Post): Declaration | undefined {
  if (method === 'initialize') return { at: ['params', 'capabilities'], own: params.capabilities };
  const { dialects } = context.deps;
  const showsFiles = CAPABILITY_METHODS.has(method) || dialects.some(({ streaming }) => streaming?.method === method);
  if (!messages.era.describesClient || !showsFiles) return undefined;
  const own = capabilitiesOf(params);
  // the server itself refuses a request that lacks them
  return own && { at: ['params', '_meta', META_CAPABILITIES], own };
}

/** Moves arguments that the client saw at a tool's top level to where the server takes them. @throws GatewayError */
export function putBackLifted(post: Post): Post | Promise<Post> {
  return lifts(post.context) ? withLiftedBack(post) : post;
}

async function withLiftedBack(post: Post): Promise<Post> {
  const requests: PendingRequest[] = [];
  for (const request of post.requests) requests.push(await withPutBack(request, post));
  return { ...post, requests };
}

async function withPutBack(request: PendingRequest, { context, edits }: Post): Promise<PendingRequest> {
  const { method, subject } = request;
  if (method !== 'tools/call' || subject === undefined) return request;
  const { slots = [], paramHeaders = [] } = (await toolNamed(subject, context)) ?? {};
  const args = await argumentsOf(request, slots, paramHeaders, {
    owner: ownerOf(context),
    limits: context.deps.limits,
  });
  const patches = args ? putBack(args, slots) : [];
  if (!args || patches.length === 0) return request;
  for (const { path, value } of patches) {
    const place = [...argumentsAt(request), ...path];
    if (value === undefined) edits.remove(place);
    else edits.set(place, value);
  }
  const { heavyArguments: _, params, ...rest } = request;
  return { ...rest, params: { ...params, arguments: patchValue(args, patches) } };
}
