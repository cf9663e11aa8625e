import type { ToolSettings } from '../../ports/file-slot.js';

/**
 * Whether any tool of any server takes files: only then is a handle of use to a client that knows no dialect, and only
 * then are results that hold none of Wharf's files told of one.
 */
export class FileTakers {
  #any: boolean;

  /** @param settings of all servers */
  constructor(settings: readonly Readonly<Record<string, ToolSettings>>[]) {
    this.#any = settings.some((tools) => Object.values(tools).some(({ files }) => files.length > 0));
  }

  get any(): boolean {
    return this.#any;
  }

  /** A tool has been seen that does. */
  found(): void {
    this.#any = true;
  }
}
