import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { breathe } from '../../budget/turn.js';
import { patchText, patchValue } from '../../json/patch.js';
import { eraOf } from '../../mcp/era.js';
import type { ExchangeLimits } from '../../policy/message-limits.js';
import type { ToolLimits } from '../../policy/tool-limits.js';
import type { JsonPatch } from '../../ports/json.js';
import type { Tool } from '../../tools/tool.js';
import type { Catalog, ListedFacts } from './catalog.js';
import { type ToolText, toolIn } from './listed-tools.js';
import { plainReader, type Reader } from './reader.js';
import { isUnusable, type ShowContext, type ShownLimits, show } from './show.js';
import type { WrittenTool } from './written-tools.js';

interface WriterDeps extends Omit<ShowContext, 'limits'> {
  catalog: Pick<Catalog, 'written' | 'keepWritten'>;
  limits: ExchangeLimits;
  toolLimits: ToolLimits;
}

/** Whose tools are listed, and for whom. */
interface WriterOwner {
  principal: string;
  server: string;
}

/** What the operator has changed of a tool for all clients. */
type Given = readonly JsonPatch[];

/**
 * Writes the tools of one list as its client sees them. What was written for a client of the same kind is taken as it was, while
 * it is kept.
 */
export class ToolWriter {
  readonly #owner: WriterOwner;
  readonly #reader: Reader;
  readonly #deps: WriterDeps;
  readonly #kind: string;
  /** Whether it matters that other clients see a tool otherwise. */
  readonly #asksOthers: boolean;

  constructor(owner: WriterOwner, reader: Reader, deps: WriterDeps) {
    this.#owner = owner;
    this.#reader = reader;
    this.#deps = deps;
    this.#kind = kindOf(reader, deps);
    this.#asksOthers = !reader.isPlain && eraOf(reader.client.protocolVersion).hasCacheFields;
  }

  /** The tool as it was written for another such client. */
  known(read: ListedFacts): WrittenTool | undefined {
    const key = this.#keyOf(read);
    return key === undefined ? undefined : this.#deps.catalog.written(key);
  }

  /** Writes a tool that can be parsed. @returns undefined for anything else in a list */
  async write(read: ListedFacts, listed: ToolText, given: Given): Promise<WrittenTool | undefined> {
    const { catalog, limits, toolLimits } = this.#deps;
    const declared = await toolIn(listed, this.#owner);
    if (!declared) return undefined;
    const tool = { ...read, declared: patchValue(declared, given) };
    await breathe(this.#owner);
    const { patches, isPersonal } = await this.#patchesFor(tool, {
      ...this.#deps,
      limits: toolLimits.lower(limits, [read.name]),
    });
    const all = [...given, ...patches];
    await breathe(this.#owner);
    const written = { text: all.length > 0 ? patchText(listed.text, all) : undefined, isPersonal };
    const key = this.#keyOf(read);
    if (key !== undefined) catalog.keepWritten(this.#owner.principal, key, written);
    return written;
  }

  /**
   * What a client sees in another way than the server declares it.
   * @returns with it, whether other clients see it otherwise: what is unchanged for one may be changed for all others
   */
  async #patchesFor(tool: Tool, context: ShowContext): Promise<{ patches: readonly JsonPatch[]; isPersonal: boolean }> {
    const reader = this.#reader;
    const patches = show(tool, reader, context);
    if (!this.#asksOthers) return { patches, isPersonal: false };
    await breathe(this.#owner);
    const isPersonal = !isDeepStrictEqual(patches, show(tool, plainReader(reader, context.dialects), context));
    return { patches, isPersonal };
  }

  /** The operator's settings for the tool are in the key of its facts. What a server lacks is found out while it runs. */
  #keyOf({ key, facts }: ListedFacts): string | undefined {
    if (key === undefined) return undefined;
    const lacking = facts.slots.map((slot, index) => (isUnusable(slot, this.#deps) ? `\n${index}` : '')).join('');
    return `${key}\n${this.#kind}${lacking}`;
  }
}

/** All but the tool that decides how it is written. */
function kindOf({ client }: Reader, { server, limits, accepts, dialects, uploadTool }: WriterDeps): string {
  const { file, inlineArgument, filesPerArgument, accept }: ShownLimits = limits;
  const names = dialects.map(({ name }) => name);
  const all = [client, server, { file, inlineArgument, filesPerArgument, accept }, accepts, names, uploadTool];
  return hash('sha256', JSON.stringify(all), 'base64');
}
