import type { HeldBudget } from '../../budget/held.js';
import { nextTurn } from '../../budget/turn.js';
import { asGatewayError, GatewayError, tooDeep } from '../../errors.js';
import { RANGE } from '../../mcp/ranges.js';
import { answersIn } from '../../mcp/responses.js';
import type { Limits } from '../../policy/limits.js';
import type { Owner } from '../../ports/owner.js';
import { WireError } from '../../wire/errors.js';
import { createReader, type HeldMessage, type MessageReader } from '../../wire/json/reader.js';
import { compileWatchTree, type WatchTree } from '../../wire/json/watch-tree.js';

/** Messages after which others have a turn: a chunk may hold tens of thousands. */
const MOST_AT_ONCE = 1000;

/** Finds an answer by its id alone. */
const ANSWER_TREE = compileWatchTree({
  keys: {
    id: { capture: RANGE.id },
    method: { capture: 'method' },
    result: { watch: RANGE.result },
    error: { watch: RANGE.error },
  },
});

interface OwnAnswerOptions {
  /** The request's id, as JSON text. */
  id: string;
  limits: Pick<Limits, 'response' | 'depth'>;
  held: HeldBudget;
  /** The owner whose share of `limits.held` it takes. */
  owner: Owner;
  tree?: WatchTree;
}

/**
 * Finds the answer to one request of Wharf's own in a body. Keeps only that, counted against `limits.response` and
 * `limits.held` until it is released.
 */
export class OwnAnswerReader {
  readonly #options: OwnAnswerOptions;
  readonly #reader: MessageReader;
  #held = 0;
  #failure: GatewayError | undefined;
  #answer: HeldMessage | undefined;

  constructor(kind: 'json' | 'sse', options: OwnAnswerOptions) {
    this.#options = options;
    const { id, limits, tree = ANSWER_TREE } = options;
    this.#reader = createReader(kind, {
      tree,
      maxHeld: limits.response,
      maxDepth: limits.depth,
      mostAtOnce: MOST_AT_ONCE,
      handler: {
        held: (delta) => this.#count(delta),
        limit: (error, message) => {
          message.discard();
          this.#failure ??= this.#tooLarge(error);
        },
        message: (message) => {
          const isAnswer = answersIn(message).some((answer) => answer.id === id && answer.base.length === 0);
          if (!isAnswer || this.#answer || this.#failure) {
            // once discarded, it is no longer counted
            message.discard();
          } else if (message.malformed) {
            this.#failure ??= new GatewayError('upstream_invalid', { reason: message.malformed.reason });
          } else this.#answer = message;
        },
      },
    });
  }

  /** The answer, once it is complete. */
  get answer(): HeldMessage | undefined {
    return this.#answer;
  }

  /**
   * Reads a chunk. A promise is returned for one with so many messages that others must have a turn between them.
   * @throws GatewayError `response_too_large`, `held_full`, `too_deep`, `upstream_invalid`
   */
  feed(chunk: Buffer): Promise<void> | undefined {
    const rest = this.#feed(chunk);
    return rest && this.#feedRest(rest);
  }

  async #feedRest(rest: Buffer): Promise<void> {
    for (let left: Buffer | undefined = rest; left; left = this.#feed(left)) await nextTurn(this.#options.owner);
  }

  /** @returns what is left of it */
  #feed(chunk: Buffer): Buffer | undefined {
    return this.#answer ? undefined : this.#run(() => this.#reader.feed(chunk));
  }

  /** Ends the body. @throws GatewayError as `feed` does */
  end(): void {
    if (!this.#answer) this.#run(() => this.#reader.end());
  }

  /** Releases the answer. */
  release(): void {
    const held = this.#held;
    this.#held = 0;
    this.#options.held.add(-held, this.#options.owner);
  }

  #run<Value>(step: () => Value): Value {
    let value: Value;
    try {
      value = step();
    } catch (error) {
      throw this.#translate(error);
    }
    if (this.#failure) throw this.#failure;
    return value;
  }

  #count(delta: number): void {
    this.#held += delta;
    try {
      this.#options.held.add(delta, this.#options.owner);
    } catch (error) {
      this.#failure ??= asGatewayError(error);
    }
  }

  #tooLarge(error: WireError): GatewayError {
    const { response } = this.#options.limits;
    const facts = { limit: 'limits.response', allowed: response, actual: error.offset };
    return new GatewayError('response_too_large', facts, error);
  }

  #translate(error: unknown): unknown {
    if (!(error instanceof WireError)) return error;
    const { depth } = this.#options.limits;
    if (error.code === 'held') return this.#tooLarge(error);
    if (error.code === 'depth') return tooDeep(depth, error);
    return new GatewayError('upstream_invalid', { reason: error.message }, error);
  }
}
