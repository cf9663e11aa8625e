import type { Post } from './post.js';

/** Puts the trace that a request belongs to where its server looks for it (SEP-414), if that is wanted. */
export function handOnTrace(post: Post): Post {
  const { watch } = post.context.deps;
  if (!watch?.handedOn) return post;
  for (const request of post.requests) {
    const context = watch.handedOn(request);
    if (!context) continue;
    const meta = [...request.base, 'params', '_meta'];
    post.edits.set([...meta, 'traceparent'], context.traceparent);
    if (context.tracestate === undefined) post.edits.remove([...meta, 'tracestate']);
    else post.edits.set([...meta, 'tracestate'], context.tracestate);
  }
  return post;
}
