import type { ClientFacts, JsonObject } from '../ports/dialect.js';
import type { UploadTool } from '../ports/file-slot.js';

/** A tool of Wharf's own, shown among a server's. */
export interface LocalTool {
  name: string;
  /** As tools/list has it, without its name. */
  definition: JsonObject;
  /** The result of a call. A failure that the model can mend is a result with `isError`. */
  call(args: JsonObject, principal: string, client: ClientFacts): Promise<JsonObject>;
}

/** Put before a name that the server has given to a tool of its own: Wharf never hides one. */
const PREFIX = 'wharf_';

/** Since when tools and their results have these members: clients of older versions are not sent them. */
const MEMBERS_SINCE = {
  definition: { annotations: '2025-03-26', title: '2025-06-18', outputSchema: '2025-06-18' },
  result: { structuredContent: '2025-06-18' },
} as const;

/** The tools that Wharf adds to a server whose tools take files. */
export class LocalTools {
  readonly #tools: readonly LocalTool[];
  readonly #request: string | undefined;

  constructor(tools: readonly LocalTool[], names: UploadTool | 'off') {
    this.#tools = tools;
    this.#request = names === 'off' ? undefined : names.request;
  }

  get any(): boolean {
    return this.#tools.length > 0;
  }

  /** Name of the tool that gives upload links. @param taken names of the server's own tools */
  requestName(taken: ReadonlySet<string>): string | undefined {
    return this.#beside(taken).find(({ tool }) => tool.name === this.#request)?.name;
  }

  /** False for a name that none of them can have, whatever the server's own tools are called. */
  mayHave(name: string | undefined): boolean {
    return this.#tools.some((tool) => name?.endsWith(tool.name) === true);
  }

  /** The tool of this name, unless the server has one. */
  named(name: string | undefined, taken: ReadonlySet<string>): LocalTool | undefined {
    return this.#beside(taken).find((candidate) => candidate.name === name)?.tool;
  }

  definitions(taken: ReadonlySet<string>, { protocolVersion }: ClientFacts): JsonObject[] {
    return this.#beside(taken).map(({ name, tool }) => ({
      name,
      ...known(tool.definition, MEMBERS_SINCE.definition, protocolVersion),
    }));
  }

  /** Each under its own name, or another that nobody has. */
  #beside(taken: ReadonlySet<string>): { name: string; tool: LocalTool }[] {
    const names = new Set(taken);
    return this.#tools.map((tool) => {
      let { name } = tool;
      while (names.has(name)) name = PREFIX + name;
      names.add(name);
      return { name, tool };
    });
  }
}

/** Runs a tool for a client that may be older than what the result holds. */
export async function callLocally(
  tool: LocalTool,
  args: JsonObject,
  principal: string,
  client: ClientFacts,
): Promise<JsonObject> {
  return known(await tool.call(args, principal, client), MEMBERS_SINCE.result, client.protocolVersion);
}

function known(object: JsonObject, since: Readonly<Record<string, string>>, version: string): JsonObject {
  // MCP versions are dates: comparing them as text orders them
  return Object.fromEntries(Object.entries(object).filter(([key]) => (since[key] ?? '') <= version));
}
