import { OTHER } from './words.js';

/** Most tools of one server that count by their names. */
const MAX_TOOLS = 200;

/** Most of their failures that count by the tool. */
const MAX_FAILURES = 200;

/**
 * Names of tools that a histogram may count by. A client can call any name, so a name counts only once the server has
 * answered a call of it with a result, and only so many do.
 */
export class KnownTools {
  readonly #names = new Set<string>();
  /** A name with the failure of a call of it: a server may let each of its tools fail in every way. */
  readonly #failures = new Set<string>();

  /** The server has answered a call of this tool, and not with an error. */
  add(name: string): void {
    if (this.#names.size < MAX_TOOLS) this.#names.add(name);
  }

  /** @param failure of a failed call, one of few */
  labelOf(name: string | undefined, failure?: string): string | undefined {
    if (name === undefined) return undefined;
    if (!this.#names.has(name)) return OTHER;
    if (failure === undefined) return name;
    const both = `${failure} ${name}`;
    if (this.#failures.size < MAX_FAILURES) this.#failures.add(both);
    return this.#failures.has(both) ? name : OTHER;
  }
}
