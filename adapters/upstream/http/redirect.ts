import { GatewayError } from '../../../gateway/errors.js';
import type { Answer } from '../../http/answer.js';
import { drain } from '../../http/drain.js';
import type { HttpCall } from './call.js';
import type { HttpClient } from './client.js';

/**
 * These keep method and body (RFC 9110 §15.4.8 and .9); the others would turn a POST into a GET and lose its message.
 */
const KEEPING = new Set([307, 308]);
/** These also leave a GET a GET. */
const GETTING = new Set([301, 302, 307, 308]);

/** Most characters of a redirect's target in an error. */
const MAX_TOLD = 200;

export function isRedirection({ statusCode }: Answer): boolean {
  return statusCode >= 300 && statusCode < 400;
}

/** An answer and the path that gave it: the target of the redirect, if it was followed. */
interface Followed {
  answer: Answer;
  path: string;
}

/**
 * Sends a call, and once more if its server redirects it within its own origin, as frameworks do that want a slash at
 * the end of a path. Any other target would receive the operator's headers and the client's message.
 * @throws the errors of `HttpClient.send`
 */
export async function sendFollowing(
  client: HttpClient,
  origin: string,
  call: HttpCall,
  signal: AbortSignal,
): Promise<Followed> {
  return follow(await client.send(call, signal), { client, origin, call, signal });
}

/** Where an answer leads. @throws the errors of `HttpClient.send` */
export async function follow(
  answer: Answer,
  { client, origin, call, signal }: { client: HttpClient; origin: string; call: HttpCall; signal: AbortSignal },
): Promise<Followed> {
  const followed = call.method === 'GET' ? GETTING : KEEPING;
  if (!followed.has(answer.statusCode)) return { answer, path: call.path };
  const target = targetOf(answer, origin + call.path);
  if (target?.origin !== origin) return { answer, path: call.path };
  drain(answer);
  const path = target.pathname + target.search;
  return { answer: await client.send({ ...call, path }, signal), path };
}

/**
 * The error for a redirect that was not followed, with its target. A foreign address goes to the log only, because it
 * may be in the operator's own network. A query is never shown: it may hold a secret.
 */
export function redirected(server: string, answer: Answer, from: { origin: string; path: string }): GatewayError {
  const status = answer.statusCode;
  const target = targetOf(answer, from.origin + from.path);
  answer.destroy();
  const where =
    target?.origin === from.origin
      ? `to ${target.pathname.slice(0, MAX_TOLD)}`
      : target
        ? 'to another origin'
        : 'nowhere';
  const reason =
    `it answered with HTTP ${status}, which leads ${where}; redirects are followed once, ` +
    'within the same origin and with the same method';
  const cause = target && new Error(`redirected to ${target.origin}${target.pathname.slice(0, MAX_TOLD)}`);
  return new GatewayError('upstream_invalid', { server, reason, status }, cause);
}

function targetOf({ headers: { location } }: Answer, base: string): URL | undefined {
  return typeof location === 'string' && URL.canParse(location, base) ? new URL(location, base) : undefined;
}
