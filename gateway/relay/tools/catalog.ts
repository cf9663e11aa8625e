import { hash, randomBytes } from 'node:crypto';
import { LateCache } from '../../budget/collections/late-cache.js';
import { heapOf } from '../../budget/memory/heap-size.js';
import { breathe } from '../../budget/turn.js';
import { lightValue } from '../../json/light-value.js';
import { isObject, own } from '../../json/value.js';
import type { Inquire } from '../../mcp/inquire.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import type { Limits, Timeouts } from '../../policy/limits.js';
import type { Stopwatch } from '../../ports/clock.js';
import type { Dialect, JsonObject, JsonValue } from '../../ports/dialect.js';
import type { ToolSettings } from '../../ports/file-slot.js';
import type { Log } from '../../ports/log.js';
import type { Owner } from '../../ports/owner.js';
import { unknownArguments } from '../../schema/unknown-argument.js';
import { readTool, type Tool, type ToolFacts, type ToolSlot } from '../../tools/tool.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { FileTakers } from './file-takers.js';
import type { KeptView, KeptViews } from './kept-views.js';
import { type ToolText, toolIn, toolTexts } from './listed-tools.js';
import type { Shown } from './offered-tools.js';
import { isWharfs } from './own-tool-mark.js';
import type { WrittenTool } from './written-tools.js';

/** Facts about a server's tools that Wharf's own tools depend on. */
export interface Beside {
  /** Names of the server's own tools. */
  names: ReadonlySet<string>;
  /** True when one of them takes files. */
  takesFiles: boolean;
}

/** Most refused views that are remembered. */
const MAX_REFUSED = 1000;
/** The part of a view's memory that one schema may take, so that room is left for the others. */
const SCHEMA_PART = 0.25;
/** A schema is kept twice: as the server wrote it, and as clients see it. */
const SCHEMA_COPIES = 2;
/** Most pages of one tools/list that are fetched: an endless cursor must not be followed for ever. */
const MAX_PAGES = 50;
/** How often a list that changes while it is read is read: a server may say so of each. */
const MOST_READS = 3;
/** Keeps a server with an incomplete list from being asked again for each call of an unknown tool. */
const REFUSED_TTL_MS = 30 * 1000;

/** What is known of a tool of a list. */
export interface ListedFacts extends Omit<Tool, 'declared'> {
  /** Stands for its text and the operator's settings; undefined for one that is too large to be parsed. */
  key: string | undefined;
}

export interface CatalogOptions {
  server: string;
  /** What is kept about all servers' tools. */
  kept: KeptViews<ToolFacts>;
  limits: Pick<Limits, 'response' | 'values'>;
  timeouts: Pick<Timeouts, 'upstream'>;
  takers?: FileTakers;
  clock: Stopwatch;
  log?: Pick<Log, 'warn'>;
}

/**
 * The declaration of each tool of one server, by principal and protocol version. Filled from tools/list answers that
 * pass, dropped on `notifications/tools/list_changed`, and fetched when a result needs it.
 */
export class Catalog {
  readonly #options: CatalogOptions;
  /** Texts are known by it and their digest: another catalog of the server may have other settings. */
  readonly #name = `${randomBytes(6).toString('base64')} `;
  /** Views whose tools are all known. */
  readonly #whole = new WeakSet<KeptView<ToolFacts>>();
  /** Views for which the server has refused a complete list. */
  readonly #refused = new LateCache<true>({ max: MAX_REFUSED, ttl: REFUSED_TTL_MS });
  /** Running list requests, which concurrent calls share. */
  readonly #fetching = new Map<string, Promise<ToolFacts | undefined>>();
  readonly #settings: Readonly<Record<string, ToolSettings>>;
  readonly #dialects: readonly Dialect[];
  /** Configured tools whose arguments have been checked against the config. */
  readonly #checked = new Set<string>();

  /** @param settings the operator's settings for each tool */
  constructor(settings: Readonly<Record<string, ToolSettings>>, dialects: readonly Dialect[], options: CatalogOptions) {
    this.#settings = settings;
    this.#options = options;
    this.#dialects = dialects;
  }

  /** Combines a tool's own declaration with the operator's settings. @param isHeavy only its name is known */
  read(declared: JsonObject, isHeavy = false): Tool {
    return readTool(declared, { settings: this.#settings, dialects: this.#dialects }, isHeavy);
  }

  /** Records a tool on its way to the client. */
  note(view: string, tool: Tool): ToolFacts | undefined {
    const { name, declared } = tool;
    if (name === undefined || isWharfs(declared)) return undefined;
    const { kept, server, limits, takers } = this.#options;
    const facts = this.#keptOf(tool.facts);
    if (facts.slots.length > 0) takers?.found(server);
    kept.keep(kept.open(server, view), name, facts, limits.response);
    if (!tool.isHeavy) this.#warnOfUnknown(declared, name);
    return facts;
  }

  /**
   * Records a tool of a list. Thousands of callers are shown the same tools, so that most texts have been read before.
   * @param owner whose work it is
   * @returns undefined for anything else in a list
   */
  async noteListed(view: string, listed: ToolText, owner: Owner): Promise<ListedFacts | 'wharfs' | undefined> {
    const { kept, server, limits, takers } = this.#options;
    const { text, isHeavy } = listed;
    const key = isHeavy ? undefined : `${this.#name}${hash('sha256', text, 'base64')}`;
    const known = key === undefined ? undefined : kept.textOf(server, key);
    if (known) {
      const { name, value: facts } = known;
      if (facts.slots.length > 0) takers?.found(server);
      kept.keep(kept.open(server, view), name, facts, limits.response);
      return { name, isHeavy, facts, key };
    }
    const declared = await toolIn(listed, owner);
    if (!declared) return undefined;
    if (isWharfs(declared)) return 'wharfs';
    const tool = this.read(declared, isHeavy);
    const { name } = tool;
    const facts = this.note(view, tool) ?? tool.facts;
    if (key !== undefined && name !== undefined) kept.noteText(kept.open(server, view), key, name);
    return { name, isHeavy, facts, key };
  }

  /** A tool as it was written for a client of the same kind. @param key as of `keepWritten` */
  written(key: string): WrittenTool | undefined {
    return this.#options.kept.written.find(this.#options.server, key);
  }

  /**
   * Keeps a tool as it was written for a client.
   * @param key of the tool, and of all else that decides how it is written
   */
  keepWritten(principal: string, key: string, tool: WrittenTool): void {
    const { kept, server } = this.#options;
    kept.written.keep({ principal, server }, key, tool);
  }

  /** Every tool of a list, or of a page of it, has been recorded. */
  settle(view: string): void {
    const tools = this.#find(view);
    if (tools) this.#options.kept.settle(tools);
  }

  /** Omits a schema that leaves too little room for others. */
  #keptOf({ outputSchema, ...facts }: ToolFacts): ToolFacts {
    if (!outputSchema) return facts;
    const most = (this.#options.limits.response * SCHEMA_PART) / SCHEMA_COPIES;
    return heapOf(outputSchema, most) > most ? { ...facts, hasUnkeptSchema: true } : { ...facts, outputSchema };
  }

  /** Warns once: a wrong path in the config has no effect, or makes the tool refuse its calls, and nothing else reports it. */
  #warnOfUnknown(tool: JsonObject, name: string): void {
    const settings = own(this.#settings, name);
    if (!settings || this.#checked.has(name)) return;
    this.#checked.add(name);
    for (const { path, known, isList } of unknownArguments(tool, settings.files)) {
      const text = isList
        ? 'a file argument is configured as one file, and its tool takes a list: the tool will refuse what it is given'
        : 'a file argument is configured that its tool does not have: no client is shown it';
      this.#options.log?.warn({ tool: name, path, arguments: known }, text);
    }
  }

  forget(view: string): void {
    this.#options.kept.forget(this.#options.server, view);
    this.#refused.delete(view);
  }

  /** True when the server has been asked for all of its tools: an unknown tool is then missing, or new. */
  isSettled(view: string): boolean {
    return this.isWhole(view) || this.#refused.has(view);
  }

  /** True when every tool of the server is known. */
  isWhole(view: string): boolean {
    const tools = this.#find(view);
    return tools !== undefined && this.#whole.has(tools) && !tools.hasLost;
  }

  /** True when a known tool declares the content of its results. */
  declaresResults(view: string): boolean {
    return this.#facts(view).some(({ outputSchema, hasUnkeptSchema }) => outputSchema !== undefined || hasUnkeptSchema);
  }

  /** Names of the known tools. */
  toolNames(view: string): ReadonlySet<string> {
    return new Set(this.#find(view)?.values.keys());
  }

  /** Facts about this view's tools that Wharf's own tools depend on. @param shown limits it to the caller's tools */
  beside(view: string, shown?: Shown): Beside {
    if (!shown) return { names: this.toolNames(view), takesFiles: this.takesFiles(view) };
    const names = new Set<string>();
    let takesFiles = false;
    for (const [own, { value }] of this.#find(view)?.values.entries() ?? []) {
      const name = shown(own);
      if (name === undefined) continue;
      names.add(name);
      takesFiles ||= value.slots.length > 0;
    }
    return { names, takesFiles };
  }

  /** True when a known tool takes files. */
  takesFiles(view: string): boolean {
    return this.#facts(view).some((tool) => tool.slots.length > 0);
  }

  /** Every file slot of the known tools. */
  slots(view: string): { tool: string; slot: ToolSlot }[] {
    const tools = [...(this.#find(view)?.values.entries() ?? [])];
    return tools.flatMap(([tool, { value }]) => value.slots.map((slot) => ({ tool, slot })));
  }

  /** A known tool. */
  known(view: string, name: string): ToolFacts | undefined {
    return this.#find(view)?.get(name);
  }

  /** A tool, requested from the server if it is not known. */
  async tool(view: string, name: string, inquire: Inquire): Promise<ToolFacts | undefined> {
    const known = this.known(view, name);
    // a server that has just refused, or has an endless list, is not asked by each call
    if (known || this.#refused.has(view)) return known;
    return this.#fetch(view, inquire, name);
  }

  /** Loads the full tool list. Afterwards a missing name means that the server has no such tool. */
  async load(view: string, inquire: Inquire): Promise<void> {
    const { kept, server } = this.#options;
    for (let reads = 0; reads < MOST_READS && !this.isSettled(view); reads++) {
      const begun = kept.open(server, view);
      await this.#fetch(view, inquire);
      // otherwise the list has changed meanwhile, as many do when their clients begin, and what was read of it is forgotten
      if (kept.open(server, view) === begun) return;
    }
  }

  /** Fetches every page, or joins a running fetch. @param wanted the tool that is needed */
  async #fetch(view: string, inquire: Inquire, wanted?: string): Promise<ToolFacts | undefined> {
    const known = () => (wanted === undefined ? undefined : this.known(view, wanted));
    for (let other = this.#fetching.get(view); other; other = this.#fetching.get(view)) {
      await other.catch(() => {});
      // otherwise its caller left before the server had answered
      if (this.isSettled(view) || known()) return known();
    }
    const fetched = this.#fetchPages(view, inquire, wanted).finally(() => {
      if (this.#fetching.get(view) === fetched) this.#fetching.delete(view);
    });
    this.#fetching.set(view, fetched);
    return fetched;
  }

  /** @returns the wanted tool, even if it is too large to be kept */
  async #fetchPages(view: string, inquire: Inquire, wanted: string | undefined): Promise<ToolFacts | undefined> {
    const { kept, server, limits } = this.#options;
    const begun = kept.open(server, view);
    const most = new ListLimits(this.#options);
    let found: ToolFacts | undefined;
    let cursor: JsonValue | undefined;
    let outcome: 'whole' | 'silence' | 'refused' | undefined;
    while (!outcome) {
      const take = async (listed: ToolText, owner: Owner) => {
        const tool = await this.noteListed(view, listed, owner);
        if (tool !== 'wharfs' && tool?.name !== undefined && tool.name === wanted) found ??= tool.facts;
      };
      const params = cursor === undefined ? {} : { cursor };
      const answer = await inquire('tools/list', params, (message, owner) => this.#readPage(message, owner, take));
      if (!answer) outcome = 'silence';
      else if ('error' in answer) outcome = 'refused';
      else {
        // of a channel that has not read it tool by tool
        for (const tool of toolsOf(answer.result)) {
          const facts = this.note(view, this.read(tool));
          if (tool.name === wanted) found ??= facts;
        }
        cursor = answer.result.nextCursor;
        if (typeof cursor !== 'string') outcome = 'whole';
        // an endless list counts as a refusal
        else if (!most.allowsMore(answer.bytes ?? 0)) outcome = 'refused';
      }
    }
    const tools = kept.open(server, view);
    kept.settle(tools);
    // silence may only mean that the caller has gone
    if (outcome === 'refused') this.#refused.set(view, true);
    // a list that changed meanwhile has been forgotten
    if (outcome === 'whole' && tools === begun) this.#whole.add(tools);
    // from a list that is too long it may have been dropped already
    if (found && wanted !== undefined) kept.keep(tools, wanted, found, limits.response);
    return found;
  }

  /** Reads a page tool by tool. */
  async #readPage(
    message: HeldMessage,
    owner: Owner,
    take: (listed: ToolText, owner: Owner) => Promise<void>,
  ): Promise<JsonObject> {
    await breathe(owner);
    for (const listed of toolTexts(message, ['result'], this.#options.limits)) {
      await take(listed, owner);
      const pause = breathe(owner);
      if (pause) await pause;
    }
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

/** How much of one list is requested: all of it may be as large as a single message. */
class ListLimits {
  readonly #options: CatalogOptions;
  readonly #begun: number;
  #pages = 0;
  #bytes = 0;

  constructor(options: CatalogOptions) {
    this.#options = options;
    this.#begun = options.clock.ticks();
  }

  /** True when another page may follow one with this many bytes. */
  allowsMore(bytes: number): boolean {
    this.#pages += 1;
    this.#bytes += bytes;
    const { limits, timeouts, clock, log } = this.#options;
    const took = Math.round(clock.ticks() - this.#begun);
    const passed = [
      { limit: 'limits.response', allowed: limits.response, actual: this.#bytes },
      { limit: 'timeouts.upstream', allowed: timeouts.upstream, actual: took },
      { limit: 'pages', allowed: MAX_PAGES, actual: this.#pages + 1 },
    ].find(({ allowed, actual }) => actual > allowed);
    if (passed)
      log?.warn(passed, 'a list of tools is too long: what comes after is not known, and no files are read in it');
    return passed === undefined;
  }
}

function toolsOf(result: JsonObject): JsonObject[] {
  return Array.isArray(result.tools) ? result.tools.filter(isObject) : [];
}
