import type { Readable } from 'node:stream';
import { GatewayError } from '../../errors.js';

/** How long a body may go on after the message that was asked for, which MCP's JSON bodies end with. */
const END_MS = 1000;

/** Gives up a body soon, if it has not ended by then: what it was read for has come. */
export function endSoon(body: Readable): NodeJS.Timeout {
  return setTimeout(() => body.destroy(), END_MS).unref();
}

interface Bounded {
  body: Readable;
  server: string;
  /** `timeouts.upstream` */
  ms: number;
  /** Whether nothing of what is awaited has come. */
  lacksAll: () => boolean;
  /** Whether a message is on its way. */
  isBusy: () => boolean;
}

/**
 * Bounds the silence in a body that is not part of a message, which has its own limits: that before what is awaited, which
 * fails it, and that behind it. A server may send a head and nothing else, or a whole message and never end its body.
 */
export class BodyBounds {
  readonly #bounded: Bounded;
  #beginning: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;
  /** Set when the body was given up after all that it was read for. */
  isOver = false;

  constructor(bounded: Bounded) {
    const { body, server, ms, lacksAll } = bounded;
    this.#bounded = bounded;
    this.#beginning = setTimeout(() => {
      const facts = { server, limit: 'timeouts.upstream', allowed: ms };
      if (lacksAll()) body.destroy(new GatewayError('upstream_timeout', facts));
    }, ms).unref();
  }

  /** All that was asked for has come: the end of the body is due. */
  awaitEnd(): void {
    this.#end ??= setTimeout(() => this.#giveUp(), END_MS).unref();
  }

  clear(): void {
    clearTimeout(this.#beginning);
    clearTimeout(this.#end);
  }

  #giveUp(): void {
    this.#end = undefined;
    if (this.#bounded.isBusy()) {
      this.awaitEnd();
      return;
    }
    this.isOver = true;
    this.#bounded.body.destroy();
  }
}
