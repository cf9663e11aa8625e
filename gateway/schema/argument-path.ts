import type { JsonPath } from '../ports/json.js';

/** Segment of a slot's path: every item of an array. */
export const EACH = '[]';

/**
 * Segment of a slot's path: every member of an object whose schema names none, so that all have one schema. Behind it,
 * `segments.ts` writes which members are meant where others have schemas of their own.
 */
export const MEMBERS = '{}';

const NAME = String.raw`[^.\[\]]+(?:\[\])*`;

/** `a.b[].c`. A leading `$` would be JSONPath, where `[]` has another meaning. */
export const PATH = new RegExp(String.raw`^(?!\$(?:[.\[]|$))${NAME}(?:\.${NAME})*$`);

/** The name of a file argument's sibling; with `[]` if the file's path ends with `[]`. */
export const COMPANION = new RegExp(`^${NAME}$`);

/** `pages[].data` as segments. */
export function segmentsOf(path: string): string[] {
  return path.replaceAll(EACH, `.${EACH}`).split('.').filter(Boolean);
}

/** One item of a list, by its index. */
const OF_ITEM = /\.?\[\](\d+)(?=$|[.[])/g;

/** Most characters of a name in a text: a server's own may have millions, and a refusal repeats it several times. */
const MAX_NAME = 1024;

function cut(name: string): string {
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME)}…`;
}

function shown(segment: string): string {
  return segment.startsWith(MEMBERS) ? MEMBERS : cut(segment);
}

/** Segments as `pages[].data`, and `pair[0]` or `map.{}` where they have no names. */
export function joinPath(segments: readonly string[]): string {
  return segments.map(shown).join('.').replaceAll(`.${EACH}`, EACH).replaceAll(OF_ITEM, '[$1]');
}

/** The path of a value as refusals write it: `pages[2].data`. Two long names may look alike in it. */
export function spell(path: JsonPath): string {
  return path
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : index === 0 ? cut(key) : `.${cut(key)}`))
    .join('');
}

/** True when a slot's path leads to each item of a list of files. */
export function isEach(path: readonly string[]): boolean {
  return path.at(-1) === EACH;
}

/** The path of the argument itself: for a slot in each item of a list, the list. */
export function argumentOf(path: readonly string[]): readonly string[] {
  return isEach(path) ? path.slice(0, -1) : path;
}

/** The segments of a slot's sibling; for a list of files it may be a list too. */
export function besidePath(path: readonly string[], companion: string): string[] {
  const name = companion.endsWith(EACH) ? companion.slice(0, -EACH.length) : companion;
  return [...argumentOf(path).slice(0, -1), name, ...(name === companion ? [] : [EACH])];
}

/**
 * Short keys of the paths of one tool. A name that a server makes up may have a million characters, and is in the path of
 * each slot below it: a hundred such paths, written out, took seconds.
 */
export class PathKeys {
  readonly #numbers = new Map<string, number>();

  of(path: readonly string[]): string {
    return path.map((segment) => this.#numberOf(segment)).join('.');
  }

  #numberOf(segment: string): number {
    const known = this.#numbers.get(segment);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(segment, number);
    return number;
  }
}
