import { type McpMessage, mcpReplies, pieceBytes } from './fake-upstream-mcp.js';

/** A place where an answer waits. Told to go on before it got there, it does not wait. */
export class Stop {
  #resume: (() => void) | undefined;
  #isOpen = false;

  async here(): Promise<void> {
    if (!this.#isOpen) {
      await new Promise<void>((resolve) => {
        this.#resume = resolve;
      });
    }
    this.#isOpen = false;
  }

  goOn(): void {
    this.#isOpen = true;
    this.#resume?.();
    this.#resume = undefined;
  }
}

/**
 * Writes every message that answers one, as fake-upstream-mcp.ts makes them, between `head` and `tail`. A `tools/call`
 * with the argument `stopAfter` is answered up to that many bytes; the rest comes when `stopped` resolves.
 */
export async function answerInParts(
  message: McpMessage,
  write: (bytes: Buffer) => Promise<void>,
  stopped: () => Promise<void>,
  [head, tail]: readonly [string, string],
): Promise<void> {
  const { stopAfter } = (message.params?.arguments ?? {}) as { stopAfter?: number };
  let left = stopAfter ?? Number.POSITIVE_INFINITY;
  for (const pieces of mcpReplies(message)) {
    if (head) await write(Buffer.from(head));
    for (const bytes of pieceBytes(pieces)) {
      if (bytes.length < left) await write(bytes);
      else {
        await write(bytes.subarray(0, left));
        await stopped();
        await write(bytes.subarray(left));
        left = Number.POSITIVE_INFINITY;
      }
      left -= bytes.length;
    }
    if (tail) await write(Buffer.from(tail));
  }
}
