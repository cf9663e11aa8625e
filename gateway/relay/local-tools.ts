import type { ClientFacts, JsonObject } from '../ports/dialect.js';
import type { UploadTool } from '../ports/file-slot.js';

/** A tool of Wharf's own, shown among a server's. */
export interface LocalTool {
  name: string;
  /** As tools/list has it. */
  definition: JsonObject;
  /** The result of a call. A failure that the model can mend is a result with `isError`. */
  call(args: JsonObject, principal: string, client: ClientFacts): Promise<JsonObject>;
}

/** Put before a name that the server has given to a tool of its own: Wharf never hides one. */
const PREFIX = 'wharf_';

/** The tools that Wharf adds to a server whose tools take files. */
export class LocalTools {
  readonly #tools: readonly LocalTool[];
  /** Name of the tool that gives upload links. */
  readonly request: string | undefined;

  constructor(tools: readonly LocalTool[], names: UploadTool | 'off') {
    this.#tools = tools;
    this.request = names === 'off' ? undefined : names.request;
  }

  get any(): boolean {
    return this.#tools.length > 0;
  }

  /** The tool of this name, unless the server has one. */
  named(name: string | undefined, taken: ReadonlySet<string>): LocalTool | undefined {
    return this.#tools.find((tool) => nameBeside(tool, taken) === name);
  }

  definitions(taken: ReadonlySet<string>): JsonObject[] {
    return this.#tools.map((tool) => ({ ...tool.definition, name: nameBeside(tool, taken) }));
  }
}

function nameBeside({ name }: LocalTool, taken: ReadonlySet<string>): string {
  return taken.has(name) ? PREFIX + name : name;
}
