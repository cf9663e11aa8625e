import { PAGE_POLICY } from './layout.js';

/** A page as an answer. */
export function page(content: { toString(): string }, status: number, headers: Record<string, string> = {}): Response {
  return new Response(`<!doctype html>${content}`, {
    status,
    headers: {
      'content-security-policy': PAGE_POLICY,
      'content-type': 'text/html; charset=utf-8',
      ...headers,
    },
  });
}

/** True when the answer to a request is shown to a person. */
export function wantsPage(accept: string | undefined): boolean {
  return accept?.includes('text/html') === true;
}
