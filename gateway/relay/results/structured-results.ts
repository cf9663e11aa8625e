import { lightValue } from '../../json/light-value.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import type { Limits } from '../../policy/limits.js';
import type { JsonPath } from '../../ports/json.js';
import { publishedSchema } from '../../schema/published.js';
import { StructuredValue, type ValueChange } from '../../schema/structured-value.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { Cut } from '../cut/cut.js';
import { isStructured, type MessageCuts, pointer } from '../cut/message-cuts.js';
import type { DeclaredResult } from '../tools/declared-results.js';

/** Raw bytes that one character of a string can take: `\u0061`. */
const ESCAPE_LENGTH = 6;

/**
 * What may be changed in the structuredContent of a message's results, so that each still fits the outputSchema that its
 * client has been shown.
 */
export class StructuredResults {
  readonly #limits: Pick<Limits, 'values'>;
  readonly #message: HeldMessage;
  readonly #cuts: MessageCuts;
  readonly #declared: (path: JsonPath) => Promise<DeclaredResult>;
  readonly #values = new Map<string, Promise<StructuredValue | 'free' | 'fixed'>>();

  /** @param declared of the tool whose result has this path, fetched when it is needed first */
  constructor(
    message: HeldMessage,
    cuts: MessageCuts,
    declared: (path: JsonPath) => Promise<DeclaredResult>,
    limits: Pick<Limits, 'values'>,
  ) {
    this.#limits = limits;
    this.#message = message;
    this.#cuts = cuts;
    this.#declared = declared;
  }

  /** What the tool whose result has this path declares of it. */
  declared(path: JsonPath): Promise<DeclaredResult> {
    return this.#declared(path);
  }

  /** The first of these texts that may take the place of a string that was cut out; undefined: it has to stay. */
  async fitting(cut: Cut, texts: readonly string[]): Promise<string | undefined> {
    const value = await this.#valueOf(resultOf(cut.value.path));
    if (typeof value === 'string') return value === 'free' ? texts[0] : undefined;
    return value.fitting(structuredPath(cut.value.path), texts);
  }

  /**
   * Takes note of changes that are made together.
   * @param result where the result stands
   * @param changes below its structuredContent, of what is there
   * @returns false when they may not be made
   */
  async change(result: JsonPath, changes: readonly ValueChange[]): Promise<boolean> {
    const value = await this.#valueOf(result);
    return typeof value === 'string' ? value === 'free' : value.change(changes);
  }

  #valueOf(result: JsonPath): Promise<StructuredValue | 'free' | 'fixed'> {
    const place = pointer(result);
    let value = this.#values.get(place);
    if (!value) {
      value = this.#open(result);
      this.#values.set(place, value);
    }
    return value;
  }

  async #open(result: JsonPath): Promise<StructuredValue | 'free' | 'fixed'> {
    const declared = await this.#declared(result);
    if (typeof declared === 'string') return declared === 'none' ? 'free' : 'fixed';
    const path = [...result, 'structuredContent'];
    const range = rangeAt(this.#message, RANGE.structuredContent, path);
    const json = range && lightValue(this.#message, range, this.#limits);
    if (json === undefined) return 'fixed';
    const value = new StructuredValue(publishedSchema(declared), json);
    const place = pointer(path);
    for (const cut of this.#cuts.cuts) {
      if (!isStructured(cut) || pointer(cut.value.path.slice(0, path.length)) !== place) continue;
      value.lacks(cut.value.path.slice(path.length), charactersOf(cut));
    }
    return value;
  }
}

/** The result that a place in structuredContent belongs to. */
function resultOf(path: JsonPath): JsonPath {
  return path.slice(0, path.indexOf('structuredContent'));
}

/** The path below structuredContent. */
export function structuredPath(path: JsonPath): JsonPath {
  return path.slice(path.indexOf('structuredContent') + 1);
}

/** How many characters a string had: as base64 at least those that its bytes take without padding. */
function charactersOf(cut: Cut): { least: number; most: number } {
  const size = cut.stored?.size ?? cut.inspect()?.size;
  const most = cut.value.length;
  return { least: size === undefined ? Math.floor(most / ESCAPE_LENGTH) : Math.ceil((size * 4) / 3), most };
}
