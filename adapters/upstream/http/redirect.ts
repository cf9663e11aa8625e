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
/** These say that the target stays the address (RFC 9110 §15.4.2 and .9); any other may lead elsewhere the next time. */
const LASTING = new Set([301, 308]);
/** A remembered target that answers with one of these may have moved on. */
const GONE = new Set([404, 410]);

/** Most characters of a redirect's target in an error. */
const MAX_TOLD = 200;

/** Whether an answer's status is 3xx. */
export function isRedirection({ statusCode }: Answer): boolean {
  return statusCode >= 300 && statusCode < 400;
}

/** An answer and the path that gave it: the target of the redirect, if it was followed. */
interface Followed {
  answer: Answer;
  path: string;
  /** Later requests may begin at this path. */
  isLasting: boolean;
}

/** The target that was remembered must be forgotten. */
export function isGone({ statusCode }: Answer): boolean {
  return GONE.has(statusCode);
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
  const { statusCode } = answer;
  if (!followed.has(statusCode)) return { answer, path: call.path, isLasting: false };
  const target = targetOf(answer, origin + call.path);
  if (target?.origin !== origin) return { answer, path: call.path, isLasting: false };
  drain(answer);
  const path = target.pathname + target.search;
  const last = await client.send({ ...call, path }, signal);
  const isLasting = last.statusCode < 300 && (LASTING.has(statusCode) || isSlashed(call.path, path));
  return { answer: last, path, isLasting };
}

/** Frameworks want a slash at the end, or none, and say 307 to it: it is the same address in their spelling. */
function isSlashed(path: string, target: string): boolean {
  const [one, other] = [path, target].map((whole) => whole.replace(/\/(?=\?|$)/, ''));
  return one === other;
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
