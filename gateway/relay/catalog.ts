import { LRUCache } from 'lru-cache';
import type { Dialect, JsonObject, JsonValue, RpcError } from '../ports/dialect.js';
import type { FileSlot, ToolSettings } from '../ports/file-slot.js';
import type { Log } from '../ports/log.js';
import { sizeIsText } from './companions.js';
import { slotsOf } from './file-slots.js';
import type { FileTakers } from './file-takers.js';
import { withLiftedNames } from './lifted-arguments.js';
import type { Beside } from './local-tools.js';
import { type RequiredSlot, requiredSlots } from './missing-files.js';
import { withNameCompanions } from './name-companion.js';
import { type ParamHeader, paramHeadersOf } from './param-headers.js';
import { isObject } from './request.js';
import { itemCountsOf, typesOf } from './schema-place.js';
import { unknownArguments } from './unknown-argument.js';

/** What is kept of a tool. */
export interface ToolFacts {
  outputSchema?: JsonObject;
  paramHeaders: ParamHeader[];
  /** Where its arguments may hold files. */
  slots: FileSlot[];
  /** Those of them that a call must fill. */
  required: RequiredSlot[];
}

/** Principals whose view of a server is remembered at one time. */
const MAX_VIEWS = 1000;
/** Tools remembered of one view; a server with more is asked again for those that fell out. */
const MAX_TOOLS = 2000;
const VIEW_TTL_MS = 5 * 60 * 1000;
/** Pages of one tools/list that are fetched at most: a cursor that never ends must not be followed for ever. */
const MAX_PAGES = 50;
/** A server that does not list all of its tools is not asked again for each call of one that is not known. */
const REFUSED_TTL_MS = 30 * 1000;

/** Asks the server on a session of the client's; undefined when it refused. */
export type Ask = (method: string, params: JsonObject) => Promise<JsonObject | undefined>;

/** What a server answered to a request of Wharf's own; undefined when it did not answer. */
export type OwnAnswer = { result: JsonObject } | { error: RpcError } | undefined;

/** The same, told also how it refused. */
export type Inquire = (method: string, params: JsonObject) => Promise<OwnAnswer>;

export function asking(inquire: Inquire): Ask {
  return async (method, params) => {
    const answer = await inquire(method, params);
    return answer && 'result' in answer ? answer.result : undefined;
  };
}

/**
 * What each tool of one server declared, by principal and protocol version. It is filled by the tools/list answers that
 * pass, dropped on `notifications/tools/list_changed`, and asked for when a result needs it and it is not there.
 */
export class Catalog {
  readonly #views = new LRUCache<string, LRUCache<string, ToolFacts>>({ max: MAX_VIEWS, ttl: VIEW_TTL_MS });
  /** Views of which every tool has been seen. */
  readonly #whole = new WeakSet<LRUCache<string, ToolFacts>>();
  /** Views of which the server has refused to list all. */
  readonly #refused = new LRUCache<string, true>({ max: MAX_VIEWS, ttl: REFUSED_TTL_MS });
  /** Lists under way: many calls at once need one. */
  readonly #fetching = new Map<string, Promise<void>>();
  readonly #settings: Readonly<Record<string, ToolSettings>>;
  readonly #dialects: readonly Dialect[];
  readonly #takers: FileTakers | undefined;
  readonly #log: Pick<Log, 'warn'> | undefined;
  /** Configured tools whose arguments have been held against the config. */
  readonly #checked = new Set<string>();

  /** @param settings what the operator says of each tool */
  constructor(
    settings: Readonly<Record<string, ToolSettings>>,
    dialects: readonly Dialect[],
    { takers, log }: { takers?: FileTakers; log?: Pick<Log, 'warn'> } = {},
  ) {
    this.#settings = settings;
    this.#takers = takers;
    this.#log = log;
    this.#dialects = dialects;
  }

  /** What a tool's own declaration and the operator say of it. */
  factsOf(tool: JsonObject): ToolFacts {
    const settings = typeof tool.name === 'string' ? own(this.#settings, tool.name) : undefined;
    const schema = isObject(tool.outputSchema) ? { outputSchema: tool.outputSchema } : {};
    const slots = withNameCompanions(tool, slotsOf(tool, settings, this.#dialects)).map((slot) => {
      // what the operator configured was never a file to the server, whose own words on other values are as good
      const types = slot.declaredBy === 'config' ? undefined : typesOf(tool, slot.path);
      return {
        ...slot,
        ...itemCountsOf(tool, slot.path),
        ...(types && { types }),
        ...(sizeIsText(tool, slot) && { sizeIsText: true }),
      };
    });
    const named = withLiftedNames(tool, slots);
    return {
      paramHeaders: paramHeadersOf(tool.inputSchema),
      slots: named,
      required: requiredSlots(tool, named),
      ...schema,
    };
  }

  /** Takes note of a tools/list result on its way to the client. */
  observe(view: string, result: JsonObject): void {
    for (const tool of toolsOf(result)) {
      if (typeof tool.name !== 'string') continue;
      const facts = this.factsOf(tool);
      if (facts.slots.length > 0) this.#takers?.found();
      this.#view(view).set(tool.name, facts);
      this.#warnOfUnknown(tool, tool.name);
    }
  }

  /** Once: what is misspelt in the config works for nobody who goes by the list, and nothing else says so. */
  #warnOfUnknown(tool: JsonObject, name: string): void {
    const settings = own(this.#settings, name);
    if (!settings || this.#checked.has(name)) return;
    this.#checked.add(name);
    for (const { path, known } of unknownArguments(tool, settings.files)) {
      const text = 'a file argument is configured that its tool does not have: no client is shown it';
      this.#log?.warn({ tool: name, path, arguments: known }, text);
    }
  }

  forget(view: string): void {
    this.#views.delete(view);
    this.#refused.delete(view);
  }

  /** Whether the server has been asked for all of its tools: one that is not known then is none, or a new one. */
  isSettled(view: string): boolean {
    const tools = this.#views.get(view);
    return (tools !== undefined && this.#whole.has(tools)) || this.#refused.has(view);
  }

  /** Whether every tool of the server has been seen. */
  isWhole(view: string): boolean {
    const tools = this.#views.get(view);
    return tools !== undefined && this.#whole.has(tools);
  }

  /** Whether one of the tools that have been seen declares what its results hold. */
  declaresResults(view: string): boolean {
    return [...(this.#views.get(view)?.values() ?? [])].some(({ outputSchema }) => outputSchema !== undefined);
  }

  /** Names of the tools that have been seen. */
  toolNames(view: string): ReadonlySet<string> {
    return new Set(this.#views.get(view)?.keys());
  }

  /** What Wharf's own tools beside those of this view depend on. */
  beside(view: string): Beside {
    return { names: this.toolNames(view), takesFiles: this.takesFiles(view) };
  }

  /** Whether one of the tools that have been seen takes files. */
  takesFiles(view: string): boolean {
    return [...(this.#views.get(view)?.values() ?? [])].some((tool) => tool.slots.length > 0);
  }

  /** A tool that has been seen. */
  known(view: string, name: string): ToolFacts | undefined {
    return this.#views.get(view)?.get(name);
  }

  /** A tool, asked for if it has not been seen. */
  async tool(view: string, name: string, inquire: Inquire): Promise<ToolFacts | undefined> {
    const known = this.known(view, name);
    if (known) return known;
    await this.#fetch(view, inquire, name);
    return this.known(view, name);
  }

  /** Sees to it that every tool has been seen: what is not there then the server has not. */
  async load(view: string, inquire: Inquire): Promise<void> {
    if (!this.isSettled(view)) await this.#fetch(view, inquire);
  }

  /** Asks for every page, unless somebody is at it. @param wanted the tool that is needed */
  async #fetch(view: string, inquire: Inquire, wanted?: string): Promise<void> {
    for (let other = this.#fetching.get(view); other; other = this.#fetching.get(view)) {
      await other.catch(() => {});
      // else whoever asked has gone before the server had answered
      if (this.isSettled(view) || (wanted !== undefined && this.known(view, wanted))) return;
    }
    const fetched = this.#fetchPages(view, inquire, wanted).finally(() => {
      if (this.#fetching.get(view) === fetched) this.#fetching.delete(view);
    });
    this.#fetching.set(view, fetched);
    await fetched;
  }

  async #fetchPages(view: string, inquire: Inquire, wanted: string | undefined): Promise<void> {
    const begun = this.#view(view);
    let found: JsonObject | undefined;
    let cursor: JsonValue | undefined;
    let outcome: 'whole' | 'silence' | 'refused' | undefined;
    for (let page = 0; !outcome && page < MAX_PAGES; page++) {
      const answer = await inquire('tools/list', cursor === undefined ? {} : { cursor });
      if (!answer) outcome = 'silence';
      else if ('error' in answer) outcome = 'refused';
      else {
        this.observe(view, answer.result);
        found ??= toolsOf(answer.result).find(({ name }) => name === wanted);
        cursor = answer.result.nextCursor;
        if (typeof cursor !== 'string') outcome = 'whole';
      }
    }
    const tools = this.#view(view);
    // silence may be the fault of the caller, who has gone; pages without end are a refusal
    if (outcome === undefined || outcome === 'refused') this.#refused.set(view, true);
    // what changed meanwhile has been forgotten
    if (outcome === 'whole' && tools === begun && tools.size < MAX_TOOLS) this.#whole.add(tools);
    // of a list that is too long it may have fallen out already
    if (found && wanted !== undefined) tools.set(wanted, this.factsOf(found));
  }

  #view(view: string): LRUCache<string, ToolFacts> {
    let tools = this.#views.get(view);
    if (!tools) {
      tools = new LRUCache({ max: MAX_TOOLS });
      this.#views.set(view, tools);
    }
    return tools;
  }
}

export function toolsOf(result: JsonObject): JsonObject[] {
  return Array.isArray(result.tools) ? result.tools.filter(isObject) : [];
}

/** Names of tools come from peers: `constructor` is no setting. */
export function own<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
