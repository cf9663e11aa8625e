import { OTHER } from './words.js';

/** Most tools of one server that count by their names. */
const MAX_TOOLS = 200;

/**
 * Names of tools that a histogram may count by. A client can call any name, so a name counts only once the server has
 * answered a call of it with a result, and only so many do.
 */
export class KnownTools {
  readonly #names = new Set<string>();

  /** The server has answered a call of this tool, and not with an error. */
  add(name: string): void {
    if (this.#names.size < MAX_TOOLS) this.#names.add(name);
  }

  labelOf(name: string | undefined): string | undefined {
    return name === undefined || this.#names.has(name) ? name : OTHER;
  }
}
