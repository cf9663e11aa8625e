import { breathe } from '../../budget/turn.js';
import { GatewayError } from '../../errors.js';
import { patchValue } from '../../json/patch.js';
import { valueAt } from '../../json/value.js';
import type { JsonPath, JsonValue } from '../../ports/json.js';
import { isEach } from '../../schema/argument-path.js';
import { type SlotUse, valuesIn } from '../tools/file-slots.js';
import { calledAs } from '../tools/lifted-arguments.js';
import { readingOf } from './find-files.js';
import { type Call, lifts, ofCall, ownerOf, type Post, type PostContext, rulesOf } from './post.js';
import { notThere } from './refused-file.js';

/** The end of a bundle's handle, whatever a model has put around it. */
const MAY_BE_BUNDLE = /\/b_[\w-]{22}/;
/** Handles are short. */
const MOST_CHARACTERS = 4096;

/** A list in the arguments, with what is in it instead of handles of bundles. */
interface Opened {
  path: JsonPath;
  /** The handles of their files, by the item; undefined: the handle is in place of the list. */
  items: Map<number | undefined, readonly string[]>;
}

/** An item of an opened list, and which one of the list that came it was; undefined: a handle in place of the list. */
interface Item {
  value: JsonValue;
  from: number | undefined;
}

/** Puts the files of a bundle into the place of its handle. @throws GatewayError `file_refused` */
export function openBundles(post: Post): Post | Promise<Post> {
  return mayNameBundles(post.messages.bytes) ? withBundles(post) : post;
}

/** A cheap test of a body. In an escape a character of a handle may look like another. */
function mayNameBundles(body: Buffer): boolean {
  return body.includes('/b_') || body.includes('\\u');
}

async function withBundles(post: Post): Promise<Post> {
  const calls: Call[] = [];
  for (const call of post.calls) calls.push(await ofCall(call, post, () => withOpened(call, post)));
  return { ...post, calls };
}

async function withOpened(call: Call, { context, edits }: Post): Promise<Call> {
  const { args, base } = call;
  const opened = await openedIn(call, context);
  if (opened.length === 0) return call;
  const lists = opened.map(({ path, items }) => ({ path, filled: filled(valueAt(args, path), items) }));
  const patches = lists.map((list) => ({ path: list.path, value: list.filled.map(({ value }) => value) }));
  for (const { path, value } of patches) edits.set([...base, ...path], value);
  return { ...call, args: patchValue(args, patches), cameAt: placesOf(lists) };
}

/** Where a value of the opened lists stood before. */
function placesOf(lists: readonly { path: JsonPath; filled: readonly Item[] }[]): (path: JsonPath) => JsonPath {
  const byPath = new Map(lists.map(({ path, filled }) => [JSON.stringify(path), filled]));
  return (path) => {
    const list = path.slice(0, -1);
    const item = byPath.get(JSON.stringify(list))?.[Number(path.at(-1))];
    if (!item) return path;
    return item.from === undefined ? list : [...list, item.from];
  };
}

async function openedIn(call: Call, context: PostContext): Promise<Opened[]> {
  const { limits } = context.deps;
  const lists = new Map<string, Opened>();
  let bundles = 0;
  for (const slot of call.slots) {
    const pause = breathe(ownerOf(context));
    if (pause) await pause;
    for (const use of valuesIn(call.args, slot)) {
      const uri = bundleIn(use, context);
      const isWhole = use.wrap || slot.hasListForm === true;
      // of a list in arguments that are too many to be parsed, not every item is known
      if (uri === undefined || (call.request.heavyArguments && !isWhole)) continue;
      bundles += 1;
      if (bundles > limits.files) return [...lists.values()];
      const handles = await handlesOf(uri, use, call, context);
      const path = isWhole ? use.path : use.path.slice(0, -1);
      const list = lists.get(JSON.stringify(path)) ?? { path, items: new Map() };
      list.items.set(isWhole ? undefined : Number(use.path.at(-1)), handles);
      lists.set(JSON.stringify(path), list);
    }
  }
  return [...lists.values()];
}

function bundleIn(use: SlotUse, context: PostContext): string | undefined {
  const { value } = use;
  if (typeof value !== 'string' || value.length > MOST_CHARACTERS || !MAY_BE_BUNDLE.test(value)) return undefined;
  const reading = readingOf(use, context);
  const isBundle = reading?.kind === 'handle' && context.deps.incoming.library.bundles.names(reading.uri);
  return isBundle ? reading.uri : undefined;
}

async function handlesOf(uri: string, { slot, path }: SlotUse, call: Call, context: PostContext): Promise<string[]> {
  const { deps, principal } = context;
  const argument = calledAs(slot, path, lifts(context));
  if (!isEach(slot.path) && !slot.hasListForm) {
    const text = `Argument '${argument}' takes one file, and this is the handle of several; pass the handle of one.`;
    throw new GatewayError('file_refused', { reason: 'tooManyFiles', argument, text });
  }
  const found = await deps.incoming.library.bundles.resolve(uri, principal);
  if (found.kind === 'ready') return found.handles;
  throw notThere(found.kind, rulesOf(slot, { tool: call.name, argument }, context));
}

function filled(list: JsonValue | undefined, items: Opened['items']): Item[] {
  const whole = items.get(undefined);
  if (whole) return whole.map((value) => ({ value, from: undefined }));
  return (Array.isArray(list) ? list : []).flatMap((item, from): Item[] => {
    const values: readonly JsonValue[] = items.get(from) ?? [item];
    return values.map((value) => ({ value, from }));
  });
}
