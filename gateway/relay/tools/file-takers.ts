import type { ToolSettings } from '../../ports/file-slot.js';

/**
 * Whether any tool of any server takes files. Only then is a handle useful to a client without a dialect, and only then
 * do results without Wharf's files get handles.
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

  /** Records that such a tool exists. */
  found(): void {
    this.#any = true;
  }
}
