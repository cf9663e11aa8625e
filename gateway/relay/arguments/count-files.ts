import { GatewayError } from '../../errors.js';
import { valueAt } from '../../json/value.js';
import { countText } from '../../policy/amounts.js';
import { EACH, PathKeys } from '../../schema/argument-path.js';
import { calledAs } from '../tools/lifted-arguments.js';
import { type Call, lifts, nameIn, ofCall, type Post } from './post.js';

/** Refuses a call with more files than allowed, or fewer than the server takes, before one of them is opened. */
export async function countFiles(post: Post): Promise<Post> {
  const withLifted = lifts(post.context);
  let before = 0;
  for (const call of post.calls) {
    const earlier = before;
    await ofCall(call, post, () => {
      refuseTooMany(call, earlier, post);
      refuseTooFew(call, withLifted);
    });
    before += call.uses.length;
  }
  return post;
}

/** @param before number of files in earlier calls of the same body */
function refuseTooMany(call: Call, before: number, { context }: Post): void {
  const { uses } = call;
  const { files, filesPerArgument } = context.deps.limits;
  const called = ({ slot, path: own }: Call['uses'][number], path = own) => nameIn(call, { slot, path }, context);
  const orMore = uses.length > files ? ' or more' : '';
  const refused = (argument: string, text: string, passed: { limit: string; allowed: number; actual: number }) =>
    new GatewayError('file_refused', { reason: 'tooManyFiles', argument, text, ...passed });
  const keys = new PathKeys();
  const listOf = ({ path }: Call['uses'][number]) =>
    typeof path.at(-1) === 'number' ? keys.of(path.slice(0, -1).map(String)) : undefined;
  const counts = new Map<string, number>();
  for (const use of uses) {
    const list = listOf(use);
    if (list === undefined) continue;
    const count = (counts.get(list) ?? 0) + 1;
    counts.set(list, count);
    const { maxItems } = use.slot;
    const allowed = maxItems ?? filesPerArgument;
    if (count <= allowed) continue;
    const limit = maxItems === undefined ? 'limits.filesPerArgument' : 'maxItems of the argument';
    const argument = called(use, use.path.slice(0, -1));
    const actual = uses.filter((one) => listOf(one) === list).length;
    const text = `Argument '${argument}' has ${countText(actual, 'file')}${orMore}; it takes at most ${allowed}.`;
    throw refused(argument, text, { limit, allowed, actual });
  }
  const total = before + uses.length;
  if (total <= files) return;
  const last = uses.at(-1);
  const argument = last ? called(last) : '';
  const text = `With argument '${argument}' there are ${total} files${orMore}; a call takes at most ${files}.`;
  throw refused(argument, text, { limit: 'limits.files', allowed: files, actual: total });
}

/** Refuses a list that the server would refuse, before it is encoded. */
function refuseTooFew({ args, uses }: Call, withLifted: boolean): void {
  for (const { slot, path, wrap } of uses) {
    const { minItems = 0 } = slot;
    const list = wrap ? path : path.slice(0, -1);
    const items = wrap ? 1 : valueAt(args, list);
    const count = Array.isArray(items) ? items.length : 1;
    if (slot.path.at(-1) !== EACH || count >= minItems) continue;
    const argument = calledAs(slot, list, withLifted);
    const text = `Argument '${argument}' has ${countText(count, 'file')}; it takes at least ${minItems}.`;
    throw new GatewayError('file_refused', { reason: 'tooFewFiles', argument, text });
  }
}
