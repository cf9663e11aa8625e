import { LRUCache } from 'lru-cache';
import { lightValue } from '../../json/light-value.js';
import { isObject, own } from '../../json/value.js';
import type { Inquire } from '../../mcp/inquire.js';
import { type ParamHeader, paramHeadersOf } from '../../mcp/param-headers.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import type { Limits, Timeouts } from '../../policy/limits.js';
import type { Dialect, JsonObject, JsonValue } from '../../ports/dialect.js';
import type { FileSlot, ToolSettings } from '../../ports/file-slot.js';
import type { Log } from '../../ports/log.js';
import { itemCountsOf, typesOf } from '../../schema/place.js';
import { unknownArguments } from '../../schema/unknown-argument.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import { slotsOf } from './file-slots.js';
import type { FileTakers } from './file-takers.js';
import { heapOf } from './heap-size.js';
import type { KeptView, KeptViews } from './kept-views.js';
import { withLiftedNames } from './lifted-arguments.js';
import { listedTools } from './listed-tools.js';
import { sizeIsText, withNameCompanions } from './name-companion.js';
import { isWharfs } from './own-tool-mark.js';
import { type RequiredSlot, requiredSlots } from './required.js';

/** The tools of a server, as far as Wharf's own beside them depend on those. */
export interface Beside {
  /** Names of the server's own tools. */
  names: ReadonlySet<string>;
  /** One of them takes files. */
  takesFiles: boolean;
}

/** What is kept of a tool. */
export interface ToolFacts {
  outputSchema?: JsonObject;
  /** It declares one that is too large to be kept, or may do so: it is too much to be looked into. */
  hasUnkeptSchema?: true;
  paramHeaders: ParamHeader[];
  /** Where its arguments may hold files. */
  slots: FileSlot[];
  /** Those of them that a call must fill. */
  required: RequiredSlot[];
}

/** Views that have been refused and are remembered at one time. */
const MAX_REFUSED = 1000;
/** What one schema may take of what is kept of a view: the others need room too. */
const SCHEMA_PART = 0.25;
/** A schema is there as its server wrote it, and as clients are shown it. */
const SCHEMA_COPIES = 2;
/** Pages of one tools/list that are fetched at most: a cursor that never ends must not be followed for ever. */
const MAX_PAGES = 50;
/** A server that does not list all of its tools is not asked again for each call of one that is not known. */
const REFUSED_TTL_MS = 30 * 1000;

export interface CatalogOptions {
  server: string;
  /** What is kept of all servers' tools. */
  kept: KeptViews<ToolFacts>;
  limits: Pick<Limits, 'response' | 'values'>;
  timeouts: Pick<Timeouts, 'upstream'>;
  takers?: FileTakers;
  log?: Pick<Log, 'warn'>;
}

/**
 * What each tool of one server declared, by principal and protocol version. It is filled by the tools/list answers that
 * pass, dropped on `notifications/tools/list_changed`, and asked for when a result needs it and it is not there.
 */
export class Catalog {
  readonly #options: CatalogOptions;
  /** Views of which every tool has been seen. */
  readonly #whole = new WeakSet<KeptView<ToolFacts>>();
  /** Views of which the server has refused to list all. */
  readonly #refused = new LRUCache<string, true>({ max: MAX_REFUSED, ttl: REFUSED_TTL_MS });
  /** Lists under way: many calls at once need one. */
  readonly #fetching = new Map<string, Promise<ToolFacts | undefined>>();
  readonly #settings: Readonly<Record<string, ToolSettings>>;
  readonly #dialects: readonly Dialect[];
  /** Configured tools whose arguments have been held against the config. */
  readonly #checked = new Set<string>();

  /** @param settings what the operator says of each tool */
  constructor(settings: Readonly<Record<string, ToolSettings>>, dialects: readonly Dialect[], options: CatalogOptions) {
    this.#settings = settings;
    this.#options = options;
    this.#dialects = dialects;
  }

  /** What a tool's own declaration and the operator say of it. @param isHeavy only its name is there */
  factsOf(tool: JsonObject, isHeavy = false): ToolFacts {
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
      ...(isHeavy && { hasUnkeptSchema: true }),
    };
  }

  /** Takes note of a tool on its way to the client. @param isHeavy only its name is there */
  note(view: string, tool: JsonObject, isHeavy = false): ToolFacts | undefined {
    const { name } = tool;
    if (typeof name !== 'string' || isWharfs(tool)) return undefined;
    const { kept, server, limits, takers } = this.#options;
    const facts = this.#keptOf(this.factsOf(tool, isHeavy));
    if (facts.slots.length > 0) takers?.found();
    kept.keep(kept.open(server, view), name, facts, limits.response);
    if (!isHeavy) this.#warnOfUnknown(tool, name);
    return facts;
  }

  /** Without a schema that leaves too little room for others. */
  #keptOf({ outputSchema, ...facts }: ToolFacts): ToolFacts {
    if (!outputSchema) return facts;
    const most = (this.#options.limits.response * SCHEMA_PART) / SCHEMA_COPIES;
    return heapOf(outputSchema, most) > most ? { ...facts, hasUnkeptSchema: true } : { ...facts, outputSchema };
  }

  /** Once: what is misspelt in the config works for nobody who goes by the list, and nothing else says so. */
  #warnOfUnknown(tool: JsonObject, name: string): void {
    const settings = own(this.#settings, name);
    if (!settings || this.#checked.has(name)) return;
    this.#checked.add(name);
    for (const { path, known } of unknownArguments(tool, settings.files)) {
      const text = 'a file argument is configured that its tool does not have: no client is shown it';
      this.#options.log?.warn({ tool: name, path, arguments: known }, text);
    }
  }

  forget(view: string): void {
    this.#options.kept.forget(this.#options.server, view);
    this.#refused.delete(view);
  }

  /** Whether the server has been asked for all of its tools: one that is not known then is none, or a new one. */
  isSettled(view: string): boolean {
    return this.isWhole(view) || this.#refused.has(view);
  }

  /** Whether every tool of the server has been seen. */
  isWhole(view: string): boolean {
    const tools = this.#find(view);
    return tools !== undefined && this.#whole.has(tools) && !tools.hasLost;
  }

  /** Whether one of the tools that have been seen declares what its results hold. */
  declaresResults(view: string): boolean {
    return this.#facts(view).some(({ outputSchema, hasUnkeptSchema }) => outputSchema !== undefined || hasUnkeptSchema);
  }

  /** Names of the tools that have been seen. */
  toolNames(view: string): ReadonlySet<string> {
    return new Set(this.#find(view)?.values.keys());
  }

  /** What Wharf's own tools beside those of this view depend on. */
  beside(view: string): Beside {
    return { names: this.toolNames(view), takesFiles: this.takesFiles(view) };
  }

  /** Whether one of the tools that have been seen takes files. */
  takesFiles(view: string): boolean {
    return this.#facts(view).some((tool) => tool.slots.length > 0);
  }

  /** Every place for a file in the tools that have been seen. */
  slots(view: string): { tool: string; slot: FileSlot }[] {
    const tools = [...(this.#find(view)?.values.entries() ?? [])];
    return tools.flatMap(([tool, { value }]) => value.slots.map((slot) => ({ tool, slot })));
  }

  /** A tool that has been seen. */
  known(view: string, name: string): ToolFacts | undefined {
    return this.#find(view)?.get(name);
  }

  /** A tool, asked for if it has not been seen. */
  async tool(view: string, name: string, inquire: Inquire): Promise<ToolFacts | undefined> {
    const known = this.known(view, name);
    // a server that has just refused, or whose list has no end, is not asked by each call
    if (known || this.#refused.has(view)) return known;
    return this.#fetch(view, inquire, name);
  }

  /** Sees to it that every tool has been seen: what is not there then the server has not. */
  async load(view: string, inquire: Inquire): Promise<void> {
    if (!this.isSettled(view)) await this.#fetch(view, inquire);
  }

  /** Asks for every page, unless somebody is at it. @param wanted the tool that is needed */
  async #fetch(view: string, inquire: Inquire, wanted?: string): Promise<ToolFacts | undefined> {
    const known = () => (wanted === undefined ? undefined : this.known(view, wanted));
    for (let other = this.#fetching.get(view); other; other = this.#fetching.get(view)) {
      await other.catch(() => {});
      // else whoever asked has gone before the server had answered
      if (this.isSettled(view) || known()) return known();
    }
    const fetched = this.#fetchPages(view, inquire, wanted).finally(() => {
      if (this.#fetching.get(view) === fetched) this.#fetching.delete(view);
    });
    this.#fetching.set(view, fetched);
    return fetched;
  }

  /** @returns what is wanted, also where it is too much to be kept */
  async #fetchPages(view: string, inquire: Inquire, wanted: string | undefined): Promise<ToolFacts | undefined> {
    const { kept, server, limits } = this.#options;
    const begun = kept.open(server, view);
    const most = new ListLimits(this.#options);
    let found: ToolFacts | undefined;
    let cursor: JsonValue | undefined;
    let outcome: 'whole' | 'silence' | 'refused' | undefined;
    while (!outcome) {
      const take = (tool: JsonObject, isHeavy?: boolean) => {
        const facts = this.note(view, tool, isHeavy);
        if (tool.name === wanted) found ??= facts;
      };
      const params = cursor === undefined ? {} : { cursor };
      const answer = await inquire('tools/list', params, (message) => this.#readPage(message, take));
      if (!answer) outcome = 'silence';
      else if ('error' in answer) outcome = 'refused';
      else {
        for (const tool of toolsOf(answer.result)) take(tool);
        cursor = answer.result.nextCursor;
        if (typeof cursor !== 'string') outcome = 'whole';
        // a list without end is a refusal
        else if (!most.allowsMore(answer.bytes ?? 0)) outcome = 'refused';
      }
    }
    const tools = kept.open(server, view);
    // silence may be the fault of the caller, who has gone
    if (outcome === 'refused') this.#refused.set(view, true);
    // what changed meanwhile has been forgotten
    if (outcome === 'whole' && tools === begun) this.#whole.add(tools);
    // of a list that is too long it may have fallen out already
    if (found && wanted !== undefined) kept.keep(tools, wanted, found, limits.response);
    return found;
  }

  /** A page of very many values, tool by tool. */
  async #readPage(message: HeldMessage, take: (tool: JsonObject, isHeavy: boolean) => void): Promise<JsonObject> {
    for await (const { tool, isHeavy } of listedTools(message, ['result'], this.#options.limits)) take(tool, isHeavy);
    const cursor = rangeAt(message, RANGE.nextCursor, ['result', 'nextCursor']);
    const nextCursor = cursor && lightValue(message, cursor, this.#options.limits);
    return nextCursor === undefined ? {} : { nextCursor };
  }

  #find(view: string): KeptView<ToolFacts> | undefined {
    return this.#options.kept.find(this.#options.server, view);
  }

  #facts(view: string): ToolFacts[] {
    return [...(this.#find(view)?.values.values() ?? [])].map(({ value }) => value);
  }
}

/** How much of one list is asked for: all of it is no more than a single message may be. */
class ListLimits {
  readonly #options: CatalogOptions;
  readonly #begun = performance.now();
  #pages = 0;
  #bytes = 0;

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  /** Whether there may be another page after one of so many bytes. */
  allowsMore(bytes: number): boolean {
    this.#pages += 1;
    this.#bytes += bytes;
    const { limits, timeouts, log } = this.#options;
    const passed = [
      { limit: 'limits.response', allowed: limits.response, actual: this.#bytes },
      { limit: 'timeouts.upstream', allowed: timeouts.upstream, actual: Math.round(performance.now() - this.#begun) },
      { limit: 'pages', allowed: MAX_PAGES, actual: this.#pages + 1 },
    ].find(({ allowed, actual }) => actual > allowed);
    if (passed)
      log?.warn(passed, 'a list of tools is too long: what stands after is not known, and no files are read in it');
    return passed === undefined;
  }
}

export function toolsOf(result: JsonObject): JsonObject[] {
  return Array.isArray(result.tools) ? result.tools.filter(isObject) : [];
}
