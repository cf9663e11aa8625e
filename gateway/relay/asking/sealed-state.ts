import { createHash, randomUUID } from 'node:crypto';
import { breathe } from '../../budget/turn.js';
import type { Authorization } from '../../files/uploads/upload-links.js';
import { isObject } from '../../json/value.js';
import type { Means } from '../../policy/means.js';
import type { OtherFields, ServerFile } from '../../ports/file-question.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import type { Owner } from '../../ports/owner.js';
import type { Seal } from '../../secrets/seal.js';
import { parseJson } from '../../wire/json/parse.js';
import type { Lacking } from './lacking.js';
import { formOf, type Way } from './means.js';
import type { AskedFor } from './questions.js';

/** Where it is kept, for the seal: at the client. */
const PLACE = 'requestState';

/** The keys of Wharf's own questions begin so; no server's keys do. */
export const OWN_KEY = 'wharf-file-';

/** Version of what is in it. */
const VERSION = 1;

/** An upload that a client was asked for, as the `requestState` of its call remembers it. */
export interface AskedUpload extends AskedFor {
  /** Key of the question among the client's `inputRequests`. */
  key: string;
  means: Means;
  uri: string;
  url: string;
  /** What the page asks for. */
  code?: string;
  /** When the right to upload it ends, milliseconds since the Unix epoch. */
  expiresAt: number;
  /** Until when its page must be open, milliseconds since the Unix epoch; set when the user has been asked. */
  openUntil?: number;
  /** Why what was given last could not be used, and how often that was so. */
  problem?: string;
  tries?: number;
}

/** @param about the question's key, and the name of its field */
export function askedUpload(
  { id: fileId, uri, ticket, url, code, expiresAt }: Authorization,
  { means, form }: Way,
  { key, field }: { key: string; field: string },
): AskedUpload {
  return {
    key,
    means,
    fileId,
    uri,
    ticket,
    url,
    ...(code !== undefined && { code }),
    expiresAt: Date.parse(expiresAt),
    ...(form && { form: formOf(form, field, randomUUID()) }),
  };
}

/** The right to the upload that a client was asked for: the reverse of `askedUpload`. */
export function offeredFor({ fileId, uri, ticket, url, code, expiresAt }: AskedUpload): Authorization {
  const until = new Date(expiresAt).toISOString();
  return { id: fileId, uri, ticket, url, expiresAt: until, ...(code !== undefined && { code }) };
}

/** A file that a call lacks. */
export interface AskedFile extends Lacking, AskedUpload {}

/** A file that the server itself has asked for. */
export interface TakenFile extends AskedUpload {
  wanted: ServerFile;
  /** It came in an earlier round, or in answer to an earlier call. */
  isThere?: boolean;
  /** The user has left it out. */
  isWithout?: boolean;
  /** The user has agreed to open its page, where nothing waits for that. */
  isAwaited?: boolean;
}

/** A question of the server's own that its client is asked in other words. */
export interface TakenQuestion {
  /** Its key among the server's `inputRequests`. */
  key: string;
  dialect: string;
  /** The server's own words. */
  message: string;
  files: readonly TakenFile[];
  besides: OtherFields;
  /** The key under which the fields besides files are asked for alone. */
  othersKey?: string;
  /** What has been filled in besides the files. */
  filled?: JsonObject;
  /** How often what was answered there could not be used. */
  tries?: number;
  /** What the server hears instead of files. */
  ended?: 'decline' | 'cancel';
}

/** What a state is about, and nothing else can use it for. */
export interface Bound {
  principal: string;
  server: string;
  method: string;
  subject: string;
  /** As the client wrote them, or `argumentsDigest` of very many. */
  args: JsonValue | undefined;
}

/** What a client brings back to a call that has asked its user: sealed, because the client holds it. */
export interface State {
  files: readonly AskedFile[];
  /** The bytes that the user was asked about, whether the server may have them. */
  consent?: { digest: string } | undefined;
  /** The server's own state, which its answer to a call with such files held. */
  inner?: string;
  /** What the server has asked for by itself, if its client is asked in other words. */
  questions?: readonly TakenQuestion[];
  /** Answers to the server's other questions, until the server gets them all. */
  kept?: JsonObject;
}

interface Sealed extends State {
  version: number;
  principal: string;
  server: string;
  call: string;
  until: number;
}

/** `foreign`: no state of Wharf's own, so that it is the server's. */
type Opened = { kind: 'open'; state: State } | { kind: 'foreign' } | { kind: 'other call' } | { kind: 'over' };

/** @param until when it ends, milliseconds since the Unix epoch */
export function closeState(seal: Seal, state: State, bound: Bound, until: number): string {
  const { principal, server } = bound;
  const sealed: Sealed = { version: VERSION, principal, server, call: digestOf(bound), until, ...state };
  return seal.close(PLACE, JSON.stringify(sealed));
}

/** The state with which a client calls again: only the same caller can, with the same call, and in time. */
export function openState(seal: Seal, text: string, bound: Bound, now: number): Opened {
  const opened = seal.open(PLACE, text);
  if (opened === undefined) return { kind: 'foreign' };
  const { version, principal, server, call, until, ...state } = parseJson(opened) as Sealed;
  if (principal !== bound.principal || server !== bound.server || call !== digestOf(bound))
    return { kind: 'other call' };
  if (version !== VERSION || until <= now) return { kind: 'over' };
  return { kind: 'open', state };
}

/** Whether a client gives back a state that Wharf has sealed, of any kind. */
export function isOwnState(seal: Seal, state: JsonValue | undefined): boolean {
  return typeof state === 'string' && seal.open(PLACE, state) !== undefined;
}

/** Bytes hashed in one step: a few milliseconds. */
const STEP = 1024 * 1024;

/** For arguments that are too many to be parsed: such a call must be repeated as it was written. */
export async function argumentsDigest(text: Buffer, owner: Owner): Promise<string> {
  const hash = createHash('sha256');
  for (let at = 0; at < text.length; at += STEP) {
    hash.update(text.subarray(at, at + STEP));
    await breathe(owner);
  }
  return hash.digest('base64url');
}

/** Calls that differ only in the order of members, or in blanks, have one digest. */
function digestOf({ method, subject, args }: Bound): string {
  const text = JSON.stringify([method, subject, canonical(args ?? null)]);
  return createHash('sha256').update(text).digest('base64url');
}

/** A value with its members in one order, whatever order they were written in. */
export function canonical(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, canonical(value[key] as JsonValue)]));
}
