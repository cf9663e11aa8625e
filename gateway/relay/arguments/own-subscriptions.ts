import { breathe } from '../../budget/turn.js';
import { isObject } from '../../json/value.js';
import type { JsonPath } from '../../ports/json.js';
import type { PendingRequest } from '../pending-request.js';
import { ownerOf, type Post } from './post.js';

/** The URIs that a client wants to hear of (2026-07-28). */
const WATCHED: JsonPath = ['params', 'notifications', 'resourceSubscriptions'];

/** Takes Wharf's own files, which never change, out of what a server is asked to watch: it must not learn their links. */
export function keepOwnSubscriptions(post: Post): Post | Promise<Post> {
  return post.requests.some((request) => watchedIn(request).length > 0) ? withoutOwn(post) : post;
}

async function withoutOwn(post: Post): Promise<Post> {
  const { library } = post.context.deps.incoming;
  for (const request of post.requests) {
    const watched = watchedIn(request);
    const others: unknown[] = [];
    for (const uri of watched) {
      const wait = breathe(ownerOf(post.context));
      if (wait) await wait;
      if (typeof uri !== 'string' || !(await library.owns(uri))) others.push(uri);
    }
    if (others.length < watched.length) post.edits.set([...request.base, ...WATCHED], others as string[]);
  }
  return post;
}

const NOTHING: readonly unknown[] = [];

function watchedIn({ method, params }: PendingRequest): readonly unknown[] {
  if (method !== 'subscriptions/listen' || !isObject(params.notifications)) return NOTHING;
  const { resourceSubscriptions } = params.notifications;
  return Array.isArray(resourceSubscriptions) ? resourceSubscriptions : NOTHING;
}
