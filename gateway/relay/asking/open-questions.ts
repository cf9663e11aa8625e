import { createHash } from 'node:crypto';
import { HeldTogether } from '../../budget/held.js';
import { type Ledger, refusalFacts } from '../../budget/ledger.js';
import { GatewayError } from '../../errors.js';
import type { JsonValue } from '../../ports/json.js';
import type { CallOwner } from '../../ports/owner.js';
import type { AskingDeps } from './deps.js';
import { ownerIn } from './questions.js';

/** The caller to whom a server's question is sent: the server's ids are unique within its session. */
export interface Questioned {
  principal: string;
  session: string | undefined;
}

/** A server's own question that Wharf has taken over. */
export interface OpenQuestion {
  /** Aborted when nothing is to be asked any longer. */
  readonly ended: AbortController;
  /** Its server has cancelled it: the answer is not wanted. */
  isCancelled: boolean;
  /** Counts bytes that are kept for it. @throws GatewayError `held_full` */
  hold(bytes: number): void;
  /** The server has its answer. */
  end(): void;
}

interface OpenQuestionsDeps extends Pick<AskingDeps, 'waiting' | 'held' | 'server'> {
  questions: Pick<AskingDeps['questions'], 'takeOver' | 'isTakenOver'>;
  timeouts: Pick<AskingDeps['timeouts'], 'elicitation'>;
}

/**
 * The questions of one server that Wharf has taken over and that have no answer yet, over all its streams. Each counts as
 * one of `limits.questions`, and its bytes against `limits.held`, until the server has its answer.
 */
export class OpenQuestions {
  readonly #deps: OpenQuestionsDeps;
  readonly #open = new Map<string, OpenQuestion>();

  constructor(deps: OpenQuestionsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * @param size of the question, bytes
   * @returns undefined for a question that is open already, such as one that a resumed stream repeats
   * @throws GatewayError `questions_full`, `held_full`
   */
  begin(from: Questioned, id: JsonValue, size: number): OpenQuestion | undefined {
    const { waiting, held, server, questions, timeouts } = this.#deps;
    const key = keyOf(from, id);
    if (this.#open.has(key)) return undefined;
    const owner = { principal: from.principal, server };
    const full = waiting.take(1, owner);
    if (full) throw new GatewayError('questions_full', refusalFacts(full));
    const counted = new HeldTogether(held, owner);
    const giveBack = questions.takeOver(nameOfQuestion(from, server, id), owner, timeouts.elicitation);
    const question: OpenQuestion = {
      ended: new AbortController(),
      isCancelled: false,
      hold: (bytes) => counted.hold(bytes),
      end: () => {
        if (this.#open.get(key) !== question) return;
        this.#open.delete(key);
        waiting.give(1, owner);
        counted.release();
        giveBack();
      },
    };
    this.#open.set(key, question);
    try {
      question.hold(size);
    } catch (error) {
      question.end();
      throw error;
    }
    return question;
  }

  /** Whether Wharf answers such a question by itself. @param id as the client would name it, or as servers read what it names */
  has(from: Questioned, id: JsonValue): boolean {
    return this.#open.size > 0 && readingsOf(id).some((one) => this.#open.has(keyOf(from, one)));
  }

  /** As `has`, of the questions at other replicas. */
  isElsewhere(from: Questioned, id: JsonValue): Promise<boolean> {
    const { questions, server } = this.#deps;
    return questions.isTakenOver(nameOfQuestion(from, server, id));
  }

  /** Its server does not want the answer. @returns whether there is such a question */
  cancel(from: Questioned, id: JsonValue): boolean {
    const question = this.#open.get(keyOf(from, id));
    if (!question) return false;
    question.isCancelled = true;
    question.ended.abort(new GatewayError('internal', {}, 'its server has cancelled it'));
    return true;
  }
}

/** Takes one of the places for waiting calls. @returns for a model, why all of them are taken */
export function noPlaceIn(waiting: Ledger, owner: CallOwner): string | undefined {
  const full = waiting.take(1, owner);
  if (!full) return undefined;
  const { message } = new GatewayError('questions_full', refusalFacts(full));
  return `This call does not wait for the file. ${message}`;
}

/** Python reads no longer number, and digits of other scripts are looked up one by one. */
const LONGEST_FOREIGN = 10_000;

/**
 * The ids that servers take an id for: the official SDKs read "42" as 42, that of TypeScript by `Number`, and that of Python by
 * `int`, which knows the digits of every script, an underscore between them, and a blank more than `Number`. Zeros before it make
 * a number as long as a client likes.
 */
function readingsOf(id: JsonValue): readonly JsonValue[] {
  if (typeof id === 'number') return [id, String(id)];
  return typeof id === 'string' ? [id, numberIn(id)] : [id];
}

function numberIn(id: string): number {
  const plain = id.replaceAll('\u0085', ' ').trim().replaceAll('_', '');
  return Number(plain.length > LONGEST_FOREIGN ? plain : plain.replaceAll(/\p{Nd}/gu, digitOf));
}

/** Names a question on all replicas, the same for all ids that a server takes for one. */
function nameOfQuestion(from: Questioned, server: string, id: JsonValue): string {
  const number = typeof id === 'string' ? numberIn(id) : Number.NaN;
  return JSON.stringify([ownerIn(from), server, Number.isNaN(number) ? id : number]);
}

/** The digits of a script follow one another, from zero to nine. */
function digitOf(digit: string): string {
  const code = digit.codePointAt(0) as number;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((code - zero) % 10);
}

/** Always short, however long the server's id is. */
function keyOf(from: Questioned, id: JsonValue): string {
  return createHash('sha256')
    .update(JSON.stringify([ownerIn(from), id]))
    .digest('base64');
}
