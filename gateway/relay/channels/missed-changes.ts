import type { HeldMessage } from '../../wire/json/reader.js';
import type { GetStream } from './get-stream.js';

/** The notifications without parameters that a list has changed (MCP 2025-11-25, tools, prompts, resources). */
const CHANGES: ReadonlySet<string> = new Set(
  ['tools', 'prompts', 'resources'].map((list) => `notifications/${list}/list_changed`),
);

/**
 * Which lists a server has said to have changed while its client had no stream open. Servers that find their tools late
 * say so as soon as they hear `notifications/initialized`, and a client opens its stream a moment after that: without
 * this it would show the old list for as long as its session lives. At most three names, however often they are said.
 */
export class MissedChanges {
  readonly #methods = new Set<string>();

  get isEmpty(): boolean {
    return this.#methods.size === 0;
  }

  /** @returns whether the message is such a notification, of which the client learns on its next stream */
  note(message: HeldMessage): boolean {
    const [said, ...others] = message.captures.filter(({ name }) => name === 'method');
    const method = said?.text.slice(1, -1) ?? '';
    if (others.length > 0 || !CHANGES.has(method)) return false;
    this.#methods.add(method);
    return true;
  }

  /** Tells them on a stream; what a client that leaves did not get stays for its next one. */
  async tell(stream: GetStream): Promise<void> {
    for (const method of this.#methods) {
      if (stream.gone) return;
      this.#methods.delete(method);
      await stream.send([Buffer.from(`{"jsonrpc":"2.0","method":"${method}"}`)]);
    }
  }
}
