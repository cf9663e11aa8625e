import { AdvisedError } from './errors/system.js';
import { GatewayError } from './errors.js';
import { inSight } from './in-sight.js';
import { stackInSources } from './source-frames.js';

/** Keys whose values are never written, whatever their content. The address of a token endpoint is not among them. */
const SECRET_KEY = /authorization|cookie|secret|password|passphrase|credential|token(?!url)|ticket|api-?key|signature/i;

/** Maps whose values are often secrets although their names do not say so: `x-honeycomb-team` is a key. */
const NAMES_ONLY: ReadonlySet<string> = new Set(['headers', 'env']);

/**
 * The key of a caller's name, which was verified and is not secret. With an issuer without a path and an e-mail address it
 * looks like a URL with a password (`https://idp.example|ada@example.com`), and people of a company would look alike.
 */
const CALLER_KEY = 'principal';
const REDACTED = '[redacted]';
const HIDDEN = JSON.stringify(REDACTED);

/** Most texts are names of methods and tools, which need only this test. */
const MAY_HOLD_SECRET = /[:=?#%]|\/(?:[du]|login)[\\/]|bearer|basic/i;

/** Without what JSON escapes and without what MAY_HOLD_SECRET finds: most texts, if they are short, written as they are. */
const PLAIN = /^(?!.*(?:\/(?:[du]|login)\/|bearer|basic))[\w ./()+,-]*$/i;
/** Characters of a text that is tested for that: of a longer one all would be read before most of it is left out. */
const MOST_PLAIN = 100;

/** A possible URI or path. Every pattern here takes linear time on any text, because peers choose the texts. */
const WORD = /[^\s"'<>]+/g;

/** A parameter, also without a URI before it. */
const PARAMETER = /(?<![\w-])([\w-]{1,64})=[^&\s"'<>]+/g;
const SECRET_PARAMETER = /^sig$|signature|credential|token|secret|passw|api[_-]?key|access[_-]?key/i;

/**
 * The ticket of a link (`/d/`, `/u/`, `/oauth/login/`), also where a proxy, a chat or a program has written the link in
 * another way: with two slashes, with `%2F` or `\/`, in capitals, or with `%64` for `d`, which reaches the same route. A
 * secret that was cut is not followed by what ends one, but by the text's length.
 */
const TICKET =
  /((?:\/|2f)(?:[du]|%(?:25){0,3}(?:[46]4|[57]5)|(?:l|%(?:25){0,3}[46]c)(?:o|%(?:25){0,3}[46]f)(?:g|%(?:25){0,3}[46]7)(?:i|%(?:25){0,3}[46]9)(?:n|%(?:25){0,3}[46]e))(?:\\?\/|%(?:25){0,3}2f){1,4}[^\w\s"'<>-]{0,3})(?:[\w%-]{16,}|[\w%-]+(?=… \(\d+ characters\)$))/gi;

/**
 * A secret as headers, JSON and programs write it: servers print what they send on standard error. Without quotes a digit
 * tells it from a word of a sentence.
 */
const NAMED_SECRET =
  /(?<![\w-])([\w-]{0,50}(?:token|secret|password|passwd|passphrase|credentials?|api[_-]?key|access[_-]?key|private[_-]?key|signature)\\?["']? ?[:=] ?)(?:(\\?["'])[^"'\s\\]+|([^\s"'<>&,]{8,}))/gi;

/** What follows the scheme of `Authorization`. */
const AUTHORIZATION = /\b(authorization\\?["']? ?[:=] ?\\?["']?[a-z]{1,20} )([^\s"'\\,]+)/gi;

/** A `Cookie` with all that it holds. */
const COOKIE = /\b(cookie\\?["']? ?[:=] ?\\?["']?)([^"'\n\\…]+)/gi;

/** Most texts of peers name none of these, and need only this test. */
const MAY_NAME_SECRET = /token|secret|pass|credential|key|sig|authorization|cookie/i;

const DIGIT = /\d/;

const MAX_DEPTH = 5;
const MAX_ITEMS = 50;
const MAX_TEXT = 2000;

/** Whether only the names in this value may be written. */
export function holdsSecrets(key: string, value: unknown): value is object {
  return NAMES_ONLY.has(key) && typeof value === 'object' && value !== null;
}

/** True for a key whose value is never written. */
export function isSecretName(name: string): boolean {
  return SECRET_KEY.test(name);
}

/**
 * A copy of log fields without secrets: values under secret names, tickets in paths, everything in the query of a URI,
 * `data:` content, bearer tokens and URL passwords. Shortens long texts, long lists and deep values.
 */
export function redactFields(fields: Record<string, unknown>): Record<string, unknown> {
  return redactMap(fields, 0);
}

/**
 * Log fields without secrets as JSON members, each with a comma in front, as a line of the log has them. A person may read
 * it in a terminal.
 */
export function redactedMembers(fields: Readonly<Record<string, unknown>>): string {
  let members = '';
  let count = 0;
  for (const key of Object.keys(fields)) {
    if (++count > MAX_ITEMS) break;
    const value = fields[key];
    if (value === undefined) continue;
    const name = nameOf(key);
    const json = name.isSecret && typeof value !== 'boolean' ? HIDDEN : jsonOf(key, value);
    if (json !== undefined) members += name.begin + json;
  }
  return members;
}

function jsonOf(key: string, value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? `${value}` : 'null';
  if (typeof value === 'string' && value.length <= MOST_PLAIN && PLAIN.test(value)) return `"${value}"`;
  const json = JSON.stringify(redactMember(key, value, 1)) as string | undefined;
  return json === undefined ? undefined : inSight(json);
}

/** Redacts one text. */
export function redactText(text: string): string {
  // Shortened first: the patterns are linear in a text that a peer may have chosen.
  const short = shortened(text);
  if (!MAY_HOLD_SECRET.test(short)) return short;
  const named = short.replace(TICKET, `$1${REDACTED}`).replace(WORD, withoutQuery);
  return (MAY_NAME_SECRET.test(named) ? withoutNamed(named) : named)
    .replace(/(data:[^,\s"']{0,200},)[A-Za-z0-9+/=_%-]+/gi, '$1[redacted]')
    .replace(/\b(bearer|basic) +[A-Za-z0-9._~+/=-]+/gi, '$1 [redacted]')
    .replace(/(:\/\/)[^/\s@"'…]*(?:@|(?=… \(\d+ characters\)$))/g, '$1[redacted]@');
}

/** Without the values of what is called a secret. */
function withoutNamed(text: string): string {
  return text
    .replace(PARAMETER, (whole, name: string) => (SECRET_PARAMETER.test(name) ? `${name}=${REDACTED}` : whole))
    .replace(NAMED_SECRET, (whole, name: string, quote = '', word = '1') =>
      DIGIT.test(word) ? name + quote + REDACTED : whole,
    )
    .replace(AUTHORIZATION, (whole, name: string, value: string) => (DIGIT.test(value) ? name + REDACTED : whole))
    .replace(COOKIE, (whole, name: string, value: string) => (value.includes('=') ? name + REDACTED : whole));
}

/** A text as long as one may be, without a look at what it holds. */
export function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… (${text.length} characters)` : text;
}

/**
 * Every vendor has another name for the credential in a URI's query or fragment. The names stay: they show the vendor.
 */
function withoutQuery(word: string): string {
  const at = word.search(/[?#]/);
  if (at < 0 || !/[:/]/.test(word.slice(0, at))) return word;
  const query = word.slice(at);
  return (
    word.slice(0, at) +
    query.replace(/([?#&;])([^?#&;=]*)(=?)[^?#&;]*/g, (_, mark: string, name: string, equals: string) => {
      return `${mark}${equals === '' && name !== '' ? REDACTED : name + equals + (equals && REDACTED)}`;
    })
  );
}

function redactMap(fields: object, depth: number): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  let count = 0;
  for (const [key, value] of Object.entries(fields)) {
    if (++count > MAX_ITEMS) break;
    result[key] = isHidden(key, value) ? REDACTED : redactMember(key, value, depth + 1);
  }
  return result;
}

function redactMember(key: string, value: unknown, depth: number): unknown {
  if (holdsSecrets(key, value)) return Object.fromEntries(Object.keys(value).map((name) => [name, REDACTED]));
  return key === CALLER_KEY && typeof value === 'string' ? shortened(value) : redactValue(value, depth);
}

/** Most names that are kept. Nearly every line has the same twenty; a peer may choose others. */
const KEPT_NAMES = 500;
const LONGEST_KEPT = 64;

/** The name of a field. */
interface FieldName {
  isSecret: boolean;
  /** How its member begins in a line. */
  begin: string;
}

const names = new Map<string, FieldName>();

function isHidden(key: string, value: unknown): boolean {
  return nameOf(key).isSecret && typeof value !== 'boolean';
}

function nameOf(key: string): FieldName {
  const known = names.get(key);
  if (known !== undefined) return known;
  const found = { isSecret: SECRET_KEY.test(key), begin: `,${JSON.stringify(key)}:` };
  if (names.size < KEPT_NAMES && key.length <= LONGEST_KEPT) names.set(key, found);
  return found;
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return redactError(value, depth);
  // File content: only its length may be logged.
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth > MAX_DEPTH) return '[…]';
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => redactValue(item, depth + 1));
  return redactMap(value, depth);
}

/** V8's error for invalid JSON quotes it, and it may be any caller's content. */
const QUOTING = /JSON/;

/**
 * An error's name, texts and stack. Of its other properties only `code`, because SDKs attach whole requests to errors.
 */
function redactError(error: Error, depth: number): Record<string, unknown> {
  // a peer may choose both: the name of an error of S3 is what the store says
  const type = redactText(String(error.name));
  const code =
    'code' in error && /^(string|number)$/.test(typeof error.code) ? { code: redactValue(error.code, depth) } : {};
  if (error.name === 'SyntaxError' && QUOTING.test(error.message)) {
    return { type, message: 'it is not valid JSON' };
  }
  const cause = error.cause === undefined || depth > MAX_DEPTH ? {} : { cause: redactValue(error.cause, depth + 1) };
  return {
    type,
    message: redactText(error instanceof GatewayError ? error.forOperator : error.message),
    ...todoOf(error),
    ...code,
    ...(error.stack === undefined ? {} : { stack: redactText(stackInSources(error)) }),
    ...cause,
  };
}

/** What to do about it, where the message is a peer's and does not say it. */
function todoOf(error: Error): { todo?: string } {
  return error instanceof AdvisedError && !error.message.includes(error.todo) ? { todo: redactText(error.todo) } : {};
}
