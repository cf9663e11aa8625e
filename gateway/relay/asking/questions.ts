import { createHash, randomBytes } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import type { StateStore } from '../../ports/state-store.js';
import type { StateKeys } from '../../secrets/state-keys.js';
import { parseJson } from '../../wire/json/parse.js';
import type { Form } from './means.js';

/** 144 random bits: no server's request can have the same id, and only the client that was asked knows it. */
const ID_BYTES = 18;
const PREFIX = 'wharf-';

/** An id of a question, as JSON text. */
const ID = /^"(wharf-[\w-]{24})"$/;

/** A late answer is still known to be one to Wharf, and is not passed on to the server. */
const REMEMBERED_MS = 60 * 60 * 1000;

/** Characters, as JSON, of what a person may fill in besides files. */
const MOST_OTHERS = 64 * 1024;

/** What a person has said. */
export type PersonsAnswer =
  | 'accepted'
  | 'declined'
  | 'cancelled'
  /** The client cannot ask its person that way, whatever it declares. */
  | 'unable'
  /** What was given is not a file that can be used. */
  | 'invalid';

/** What a person has answered to a question. */
export interface Said {
  answer: PersonsAnswer;
  /** Why what was given cannot be used. */
  problem?: string;
  /** It was accepted without the file, which need not be given. */
  isWithout?: boolean;
  /** What was filled in besides the file, where a server has asked for it. */
  besides?: JsonObject;
}

/** As it is kept: what a person has filled in is sealed. */
type KeptSaid = Omit<Said, 'besides'> & { besides?: string };

/** For whom, and for which server's sake, a question is asked. */
interface Asker {
  principal: string;
  server: string;
  /** Id of the session, if there is one: its client may have renewed its token since, and is another principal then. */
  session?: string | undefined;
}

/** What was asked for. */
export interface AskedFor {
  ticket: string;
  fileId: string;
  form?: Form;
  /** The person may leave it out. */
  isOptional?: boolean;
  /** What is filled in besides it is wanted too. */
  keepsBesides?: boolean;
}

/** What a client has reported about its upload for a question, in bytes. */
export interface ToldUpload {
  done: number;
  total: number | undefined;
}

interface QuestionRecord {
  principal: string;
  server: string;
  /** A hash of its id, which is a credential. */
  session?: string;
  /** Sealed: it is a right. */
  asked: string;
  said?: KeptSaid;
}

/** A question, found by the id of an answer. */
export interface Question {
  /** Of the one that answers. */
  principal: string;
  /** Of the one that was asked. */
  askedOf: string;
  asked: AskedFor;
  isAnswered: boolean;
  key: string;
  written: string;
}

/**
 * Wharf's own requests to clients, and what they were answered with. Each is kept in the state store: its answer may come
 * to another replica than the one that waits for it.
 */
export class Questions {
  readonly #state: StateStore;
  readonly #keys: StateKeys;
  readonly #isShared: boolean;
  /** Those that a call of this process waits for, by their ids, and what was reported about their uploads. */
  readonly #awaited = new Map<string, Asker & { told?: ToldUpload }>();

  /** @param deps `isShared`: other replicas have the same state store, and may get a client's answer */
  constructor({ state, keys, isShared = false }: { state: StateStore; keys: StateKeys; isShared?: boolean }) {
    this.#state = state;
    this.#keys = keys;
    this.#isShared = isShared;
  }

  /** @returns the id of the request with which it is asked */
  async open(asked: AskedFor, { principal, server, session }: Asker, waitMs: number): Promise<string> {
    const id = `${PREFIX}${randomBytes(ID_BYTES).toString('base64url')}`;
    const key = this.#keys.of('question', id);
    const asker = { principal, server };
    const record: QuestionRecord = {
      ...asker,
      ...(session !== undefined && { session: hashOf(session) }),
      asked: this.#keys.seal.close(key, JSON.stringify(asked)),
    };
    await this.#state.create(key, JSON.stringify(record), waitMs + REMEMBERED_MS, asker);
    return id;
  }

  /** A call of this process waits for the question until `forget`. Its calls are counted by `limits.questions`. */
  expect(id: string, { principal, server, session }: Asker): void {
    this.#awaited.set(id, { principal, server, session });
  }

  forget(id: string): void {
    this.#awaited.delete(id);
  }

  /** What its client has reported to this process about the upload. */
  told(id: string): ToldUpload | undefined {
    return this.#awaited.get(id)?.told;
  }

  /**
   * The principal who was asked, if this client may report on the question; undefined for any other token.
   * @param token its id, if it is one of Wharf's
   */
  async askedWith(token: JsonValue, asker: Asker): Promise<string | undefined> {
    if (typeof token !== 'string') return undefined;
    const awaited = this.#awaited.get(token);
    if (awaited) return isSame(awaited, asker) ? awaited.principal : undefined;
    return (await this.answeredBy(JSON.stringify(token), asker))?.askedOf;
  }

  /**
   * Takes what a client reports about an upload. It is of use only where the question is awaited; elsewhere it is taken as
   * well, since no server knows the token.
   * @param token the id of the question
   */
  hears(token: JsonValue, { done, total }: ToldUpload): void {
    const awaited = typeof token === 'string' ? this.#awaited.get(token) : undefined;
    // a client may send its notifications on several connections, where one overtakes another
    if (awaited && done > 0 && done >= (awaited.told?.done ?? 0)) awaited.told = { done, total };
  }

  /** Whether the state store has a question that is waited for. It has each for longer than any wait, unless it loses it. */
  async isKept(id: string): Promise<boolean> {
    return (await this.#find(id)) !== undefined;
  }

  /** What the person has said so far. */
  async said(id: string): Promise<Said | undefined> {
    const found = await this.#find(id);
    if (!found?.record.said) return undefined;
    const { besides, ...said } = found.record.said;
    const opened = besides === undefined ? undefined : this.#keys.seal.open(found.key, besides);
    return opened === undefined ? said : { ...said, besides: parseJson(opened) as JsonObject };
  }

  /** The question that an answer is to. @param text its id, as JSON text */
  async answeredBy(text: string, asker: Asker): Promise<Question | undefined> {
    const id = ID.exec(text)?.[1];
    const found = id === undefined ? undefined : await this.#find(id);
    const { session } = asker;
    if (!found || !isSame(found.record, { ...asker, session: session && hashOf(session) })) return undefined;
    const { key, written, record } = found;
    const { principal } = asker;
    const asked = this.#keys.seal.open(key, record.asked);
    if (asked === undefined) return undefined;
    const isAnswered = record.said !== undefined;
    return { principal, askedOf: record.principal, asked: parseJson(asked) as AskedFor, isAnswered, key, written };
  }

  /** The person has answered. Of several answers the first counts. */
  async note({ key, written }: Question, { besides, ...said }: Said): Promise<void> {
    const record = parseJson(written) as QuestionRecord;
    const sealed = besides && { besides: this.#keys.seal.close(key, JSON.stringify(besides)) };
    const noted = JSON.stringify({ ...record, said: { ...said, ...sealed } });
    await this.#state.replace(key, written, noted, REMEMBERED_MS);
  }

  /** A call waits for an upload: its client may cancel it at another replica. @param call as `nameOfCall` names it */
  async expectCall(call: string, ticket: string, asker: Asker, waitMs: number): Promise<void> {
    const key = this.#keys.of('call', call);
    const sealed = this.#keys.seal.close(key, ticket);
    if (await this.#state.create(key, sealed, waitMs, asker)) return;
    // left behind by a replica that was killed
    await this.#state.remove(key);
    await this.#state.create(key, sealed, waitMs, asker);
  }

  /** The ticket of the upload for which a call waits, if it does. */
  async linkOf(call: string): Promise<string | undefined> {
    for (const key of this.#keys.all('call', call)) {
      const sealed = await this.#state.read(key);
      if (sealed !== undefined) return this.#keys.seal.open(key, sealed);
    }
    return undefined;
  }

  /** The ticket of the upload for which a call waits; afterwards it is known to wait no longer. */
  async endCall(call: string): Promise<string | undefined> {
    for (const key of this.#keys.all('call', call)) {
      const sealed = await this.#state.take(key);
      if (sealed !== undefined) return this.#keys.seal.open(key, sealed);
    }
    return undefined;
  }

  /**
   * Wharf answers a server's own question, and other replicas must know it: the client may send an answer of its own there.
   * @param question as `nameOfQuestion` names it
   * @returns what to call when the server has its answer. Neither rejects
   */
  takeOver(question: string, { principal, server }: Asker, waitMs: number): () => void {
    if (!this.#isShared) return () => undefined;
    const key = this.#keys.of('taken', question);
    const noted = this.#state.create(key, '', waitMs + REMEMBERED_MS, { principal, server }).catch(() => undefined);
    return () => void noted.then(() => this.#state.remove(key)).catch(() => undefined);
  }

  /** Whether a replica has taken it over. Never rejects: a client must be able to answer while the state store is away. */
  async isTakenOver(question: string): Promise<boolean> {
    if (!this.#isShared) return false;
    const found = await Promise.allSettled(this.#keys.all('taken', question).map((key) => this.#state.read(key)));
    return found.some((one) => one.status === 'fulfilled' && one.value !== undefined);
  }

  async #find(id: string): Promise<{ key: string; written: string; record: QuestionRecord } | undefined> {
    for (const key of this.#keys.all('question', id)) {
      const written = await this.#state.read(key);
      if (written !== undefined) return { key, written, record: parseJson(written) as QuestionRecord };
    }
    return undefined;
  }
}

/** Whether one that answers is the one that was asked: the same caller, or in the same session. */
function isSame(asked: Asker, { principal, server, session }: Asker): boolean {
  if (asked.server !== server) return false;
  return asked.principal === principal || (session !== undefined && asked.session === session);
}

function hashOf(session: string): string {
  return createHash('sha256').update(session).digest('base64url');
}

/** Names a call on all replicas. @param id of the call, as JSON text */
export function nameOfCall({ principal, server }: Asker, session: string | undefined, id: string): string {
  return JSON.stringify([ownerIn({ principal, session }), server, id]);
}

/** Whose a call is: its session's, where there is one. Its client may have renewed its token. */
export function ownerIn({ principal, session }: Pick<Asker, 'principal' | 'session'>): readonly unknown[] {
  return session === undefined ? [principal] : [undefined, session];
}

/** What an `ElicitResult` says. An error, and what is not one, says that the client cannot ask that way. */
export function answerIn(result: { action?: unknown } | undefined): Exclude<PersonsAnswer, 'invalid'> {
  switch (result?.action) {
    case 'accept':
      return 'accepted';
    case 'decline':
      return 'declined';
    case 'cancel':
      return 'cancelled';
    default:
      return 'unable';
  }
}

/** What is wrong with what a person has filled in besides files; undefined where it can be kept. */
export function problemOfOthers(others: JsonObject): string | undefined {
  return JSON.stringify(others).length > MOST_OTHERS ? 'The other fields are too long.' : undefined;
}
