import type { ToolSettings } from '../../ports/file-slot.js';

/** What the config says of a server's tools. */
interface Configured {
  readonly name: string;
  readonly tools: Readonly<Record<string, ToolSettings>>;
}

/**
 * Whether any tool of any server takes files. Only then is a handle useful to a client without a dialect, and only then
 * do results without Wharf's files get handles.
 */
export class FileTakers {
  #isConfigured = false;
  /** Servers that have shown such a tool. */
  readonly #found = new Set<string>();

  get any(): boolean {
    return this.#isConfigured || this.#found.size > 0;
  }

  /** A server has shown such a tool. */
  found(server: string): void {
    this.#found.add(server);
  }

  /**
   * Takes over what a config says.
   * @param changed names of servers that were removed or made anew: what they have shown counts no longer
   */
  put(servers: readonly Configured[], changed: readonly string[]): void {
    this.#isConfigured = servers.some(({ tools }) => Object.values(tools).some(({ files }) => files.length > 0));
    for (const name of changed) this.#found.delete(name);
  }
}
