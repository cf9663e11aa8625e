import { lightValue } from '../../json/light-value.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import type { Limits } from '../../policy/limits.js';
import type { JsonPath } from '../../ports/json.js';
import type { LongText } from '../../schema/instance.js';
import { publishedSchema } from '../../schema/published.js';
import { StructuredValue, type ValueChange } from '../../schema/structured-value.js';
import { pointer } from '../../wire/json/pointer.js';
import type { HeldMessage, SlotValue } from '../../wire/json/reader.js';
import type { Cut } from '../cut/cut.js';
import { isStructured, type MessageCuts } from '../cut/message-cuts.js';
import { isInStructure } from '../cut/message-texts.js';
import type { DeclaredResult } from '../tools/declared-results.js';

/** Most raw bytes for one character of a string: `\u0061`. */
export const ESCAPE_LENGTH = 6;

/**
 * Decides which changes of structuredContent in a message's results are allowed, so that each result still matches the
 * outputSchema that the client was shown.
 */
export class StructuredResults {
  readonly #limits: Pick<Limits, 'values'>;
  readonly #message: HeldMessage;
  readonly #cuts: MessageCuts;
  readonly #declared: (path: JsonPath) => Promise<DeclaredResult>;
  readonly #values = new Map<string, Promise<StructuredValue | 'free' | 'fixed'>>();

  /** @param declared the declaration of the tool whose result has this path, fetched on first use */
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

  /** What the tool declares about the result at this path. */
  declared(path: JsonPath): Promise<DeclaredResult> {
    return this.#declared(path);
  }

  /** The first of these texts that may replace a cut string; undefined when the string has to stay. */
  async fitting<T extends string | LongText>(
    { value: { path } }: Pick<Cut, 'value'>,
    texts: readonly T[],
  ): Promise<T | undefined> {
    const value = await this.#valueOf(resultOf(path));
    if (typeof value === 'string') return value === 'free' ? texts[0] : undefined;
    return value.fitting(structuredPath(path), texts);
  }

  /**
   * Records changes that are made together.
   * @param result path of the result
   * @param changes of existing values; paths are below its structuredContent
   * @returns false when they are not allowed
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
    const lacks = ({ path: of }: SlotValue, characters: { least: number; most: number }) => {
      if (pointer(of.slice(0, path.length)) === place) value.lacks(of.slice(path.length), characters);
    };
    for (const cut of this.#cuts.cuts) if (isStructured(cut)) lacks(cut.value, charactersOf(cut));
    for (const { value: text, nested } of this.#cuts.texts) {
      if (isInStructure(text) && nested.hasCuts) lacks(text, charactersIn(text));
    }
    return value;
  }
}

/** The result that a path in structuredContent belongs to. */
function resultOf(path: JsonPath): JsonPath {
  return path.slice(0, path.indexOf('structuredContent'));
}

/** The path below structuredContent. */
export function structuredPath(path: JsonPath): JsonPath {
  return path.slice(path.indexOf('structuredContent') + 1);
}

/** Bounds of the length of a string that is words. */
function charactersIn({ length }: SlotValue): { least: number; most: number } {
  return { least: Math.floor(length / ESCAPE_LENGTH), most: length };
}

/** Bounds of a cut string's length: in base64 at least the characters that its bytes need without padding. */
function charactersOf(cut: Cut): { least: number; most: number } {
  const { size } = cut;
  if (size === undefined) return charactersIn(cut.value);
  return { least: Math.ceil((size * 4) / 3), most: cut.value.length };
}
