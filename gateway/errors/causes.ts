import { GatewayError } from '../errors.js';
import { AdvisedError, adviceOnCertificate, adviceOnPlain } from './system.js';

/** More than any part of Wharf wraps an error in another. */
const MOST_CAUSES = 4;

/** The words for clients that an operator has no use for: what is to be done is another thing, and no log is at hand. */
const FOR_CLIENTS =
  / Try again later\.| Trying again does not help until the operator of Wharf has mended that\.|; its last words are in the log of Wharf/g;

/** Node's codes, S3's, and the first word of Redis's errors. */
const CODE = /^[A-Za-z][A-Za-z\d_]{2,63}$/;

/** Names that say nothing of a cause: those of classes, and what the SDK of S3 calls an answer without a code. */
const NO_CODE = /Error$|^(?:Unknown|ERR)$/;

/** What to do about a connection that ends on its way, by Node's code for it. */
const ON_THE_WAY: ReadonlyMap<string | undefined, string> = new Map(
  ['ECONNRESET', 'EPIPE', 'ETIMEDOUT'].map((code) => [
    code,
    'Look at what answers there, its load and its log, and at proxies and firewalls on the way.',
  ]),
);

/** An error and its causes, the outermost first. */
export function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; causes.length < MOST_CAUSES && cause !== undefined; cause = Object(cause).cause)
    causes.push(cause);
  return causes;
}

/**
 * What they say, without the words for clients between two others, and without what has been said before: neither a whole
 * text of it nor the beginning of one, up to a semicolon.
 */
export function linesOf(causes: readonly unknown[]): string[] {
  const lines: string[] = [];
  const said = new Set<string>();
  for (const [depth, cause] of causes.entries()) {
    const { message } = Object(cause) as { message?: unknown };
    if (typeof message !== 'string') break;
    const isForClients = cause instanceof GatewayError && depth > 0 && depth < causes.length - 1;
    if (isForClients) continue;
    const text = textOf(cause, message);
    // what S3 calls it is its name: the text is optional, and often missing
    const name = ownNameOf(cause);
    const line = `${name === undefined ? '' : `${name}: `}${text}`.replaceAll(/\s+/g, ' ').trim();
    const words = newWordsOf(line, said);
    // a name adds nothing to words that were said: it is often that of a class
    const isNew = words.some((word) => word !== name) || (text === '' && words.length > 0);
    if (isNew) lines.push(withoutSaid(line, said));
    for (const word of words) said.add(word);
  }
  return lines;
}

function newWordsOf(text: string, said: ReadonlySet<string>): string[] {
  return text.split(/[^\w]+/).filter((word) => !said.has(word));
}

/** Such as `exit code 1; its last words: …` after the words that the server ended with exit code 1. */
function withoutSaid(line: string, said: ReadonlySet<string>): string {
  const end = line.indexOf('; ');
  return end > 0 && newWordsOf(line.slice(0, end), said).length === 0 ? line.slice(end + 2) : line;
}

/** What to do about an error, by the innermost cause that says it: that one knows most. */
export function adviceIn(causes: readonly unknown[]): string | undefined {
  const advised = causes.findLast((cause) => cause instanceof AdvisedError);
  return advised?.todo ?? adviceOnCertificate(causes[0]) ?? adviceOnPlain(causes[0]);
}

/**
 * Why a part of this process fails, for the operator who asks the admin port: the code of the cause and what to do about it.
 * Addresses, and what a peer has written, appear only in the log.
 * @param otherwise what to do where no cause says it
 */
export function failureText(error: GatewayError, otherwise?: string): string {
  const causes = causesOf(error);
  const code = causes
    .slice(1)
    .map((cause) => ownNameOf(cause) ?? codeOf(cause))
    .findLast((one) => one !== undefined);
  const said = error.message.replaceAll(FOR_CLIENTS, '').replace(/\.$/, '');
  const todo = adviceIn(causes) ?? ON_THE_WAY.get(code) ?? otherwise;
  return `${said}${code === undefined ? '' : ` (${code})`}.${todo === undefined ? '' : ` ${todo}`}`;
}

function textOf(cause: unknown, message: string): string {
  if (cause instanceof AdvisedError) return cause.why;
  // what is to be done stands below it
  return cause instanceof GatewayError ? cause.forOperator.replaceAll(FOR_CLIENTS, '') : message;
}

/** The name that a peer has given to an error; a class has one too, which says nothing. */
function ownNameOf(cause: unknown): string | undefined {
  const { name } = Object(cause) as { name?: unknown };
  const isOfPeer = typeof name === 'string' && Object.hasOwn(Object(cause), 'name') && !(cause instanceof GatewayError);
  return isOfPeer && CODE.test(name) && !NO_CODE.test(name) && name !== Object(cause).constructor.name
    ? name
    : undefined;
}

function codeOf(cause: unknown): string | undefined {
  const { code } = Object(cause) as { code?: unknown };
  return typeof code === 'string' && CODE.test(code) && !(cause instanceof GatewayError) ? code : undefined;
}
