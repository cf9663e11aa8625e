import type { ClientFacts } from '../../ports/client.js';
import type { JsonObject } from '../../ports/dialect.js';
import type { UploadTool } from '../../ports/file-slot.js';
import { OWN_TOOL_META_KEY } from '../cut/places.js';
import type { Beside } from '../tools/catalog.js';

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

/** The version since which tools have a `_meta`. */
const META_SINCE = '2025-06-18';

/** The tools that Wharf adds to a server whose tools take files, or give some whose links die before they do. */
export class LocalTools {
  readonly #tools: readonly LocalTool[];
  readonly #names: UploadTool | undefined;
  readonly #linksDie: boolean;

  /** @param linksDie links do not last as long as their files */
  constructor(tools: readonly LocalTool[], names: UploadTool | 'off', linksDie = true) {
    this.#tools = tools;
    this.#names = names === 'off' ? undefined : names;
    this.#linksDie = linksDie;
  }

  get any(): boolean {
    return this.#tools.length > 0;
  }

  /** Name of the tool that gives upload links. */
  requestName(beside: Beside): string | undefined {
    return this.#shown(beside).find(({ tool }) => tool.name === this.#names?.request)?.name;
  }

  /** Name of the tool that gives new links. */
  linkName(beside: Beside): string | undefined {
    return this.#shown(beside).find(({ tool }) => tool.name === this.#names?.link)?.name;
  }

  /** False for a name that none of them can have, whatever the server's own tools are called. */
  mayHave(name: string | undefined): boolean {
    return this.#tools.some((tool) => name?.endsWith(tool.name) === true);
  }

  /** The tool of this name, unless the server has one. */
  named(name: string | undefined, beside: Beside): LocalTool | undefined {
    return this.#shown(beside).find((candidate) => candidate.name === name)?.tool;
  }

  definitions(beside: Beside, { protocolVersion, capabilities }: ClientFacts): JsonObject[] {
    // older clients do not know it; a Wharf that speaks for one has declared what it can do with files
    const isMarked = protocolVersion >= META_SINCE || Object.keys(capabilities).length > 0;
    return this.#shown(beside).map(({ name, tool }) => ({
      name,
      ...known(tool.definition, MEMBERS_SINCE.definition, protocolVersion),
      ...(isMarked && { _meta: { [OWN_TOOL_META_KEY]: true } }),
    }));
  }

  /** Each under its own name, or another that nobody has. */
  #shown({ names, takesFiles }: Beside): { name: string; tool: LocalTool }[] {
    const taken = new Set(names);
    const isDue = ({ name }: LocalTool) => takesFiles || (this.#linksDie && name === this.#names?.link);
    return this.#tools.filter(isDue).map((tool) => {
      let { name } = tool;
      while (taken.has(name)) name = PREFIX + name;
      taken.add(name);
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
