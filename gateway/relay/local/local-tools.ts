import type { GatewayError } from '../../errors.js';
import { eraOf } from '../../mcp/era.js';
import type { ClientFacts } from '../../ports/client.js';
import type { JsonObject } from '../../ports/dialect.js';
import type { UploadTool } from '../../ports/file-slot.js';
import type { Identity } from '../../ports/identity.js';
import { OWN_TOOL_META_KEY } from '../cut/places.js';
import type { Beside } from '../tools/catalog.js';

/** Who calls a tool of Wharf's own. */
export interface ToolCaller extends Identity {
  /** Aborts when the caller has gone. */
  signal: AbortSignal;
  /** Hears of an error that becomes a result, so that it is logged and counted like any other. */
  refused: (error: GatewayError) => void;
}

/** A tool of Wharf's own, shown among a server's. */
export interface LocalTool {
  name: string;
  /** As in tools/list, without its name. */
  definition: JsonObject;
  /** The result of a call. A failure that the model can correct is a result with `isError`. */
  call(args: JsonObject, caller: ToolCaller, client: ClientFacts): Promise<JsonObject>;
}

/** Prefix when the server has a tool of the same name: Wharf never hides a server's tool. */
const PREFIX = 'wharf_';

/** What a client's revision must support for these members; other clients do not get them. */
const NEEDED = {
  definition: { annotations: 'hasToolAnnotations', title: 'hasTitles', outputSchema: 'hasStructuredContent' },
  result: { structuredContent: 'hasStructuredContent' },
} as const;

/** The tools that Wharf adds to a server whose tools take files, or return files whose links expire before they do. */
export class LocalTools {
  readonly #tools: readonly LocalTool[];
  readonly #names: UploadTool | undefined;
  readonly #linksDie: boolean;

  /** @param linksDie links expire before their files */
  constructor(tools: readonly LocalTool[], names: UploadTool | 'off', linksDie: boolean) {
    this.#tools = tools;
    this.#names = names === 'off' ? undefined : names;
    this.#linksDie = linksDie;
  }

  get any(): boolean {
    return this.#tools.length > 0;
  }

  /** Name of the tool that issues upload links. */
  requestName(beside: Beside): string | undefined {
    return this.#shown(beside).find(({ tool }) => tool.name === this.#names?.request)?.name;
  }

  /** Name of the tool that issues new links. */
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

  definitions(beside: Beside, client: ClientFacts): JsonObject[] {
    const { protocolVersion, capabilities } = client;
    const era = eraOf(protocolVersion);
    // older clients do not know it; a Wharf in front for such a client declares its file capabilities
    const isMarked = era.hasToolMeta || Object.keys(capabilities).length > 0;
    return this.#shown(beside).map(({ name, tool }) => ({
      name,
      ...known(tool.definition, NEEDED.definition, client),
      ...(isMarked && { _meta: { [OWN_TOOL_META_KEY]: true } }),
    }));
  }

  /** Each with its own name, or with an unused one. */
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

/** Runs a tool and adapts its result to the client. */
export async function callLocally(
  tool: LocalTool,
  args: JsonObject,
  caller: ToolCaller,
  client: ClientFacts,
): Promise<JsonObject> {
  return known(await tool.call(args, caller, client), NEEDED.result, client);
}

type Ability = 'hasToolAnnotations' | 'hasTitles' | 'hasStructuredContent';

function known(
  object: JsonObject,
  needed: Readonly<Record<string, Ability>>,
  { protocolVersion, host }: ClientFacts,
): JsonObject {
  const era = eraOf(protocolVersion);
  const isKnown = (key: string): boolean => {
    const ability = needed[key];
    // a host that hides text beside structuredContent would hide what to do with the link
    if (ability === 'hasStructuredContent' && host?.structured === 'drop') return false;
    return ability === undefined || era[ability];
  };
  return Object.fromEntries(Object.entries(object).filter(([key]) => isKnown(key)));
}
