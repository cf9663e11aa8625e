import { z } from 'zod';
import { type ConfigProblem, formatPath, type Path, valueAt } from './problems.js';

/** Of lists that have lost items, by their paths in the config: the items that are left, by their places as written. */
export type Left = ReadonlyMap<string, readonly number[]>;

interface AsFar {
  /** Undefined where the schema takes nothing of it. */
  data: unknown;
  /** By their paths in the config. */
  issues: readonly z.core.$ZodIssue[];
  /** Members whose value is wrong: in `data` each is absent, or a default. */
  unclear: ReadonlySet<string>;
  left: Left;
}

/** A wrong value, by its path in the section. */
interface Wrong {
  path: Path;
  /** Unknown keys of what is there; undefined: it is wrong itself. */
  keys: readonly string[] | undefined;
}

/** A value that is known to be wrong before it is parsed. */
const wrongAt = (path: Path): Wrong => ({ path, keys: undefined });

/** An item may be wrong by itself, or because of another one, as the second hash of one key is. */
const MOST_ROUNDS = 3;

/**
 * Parses a section. Where it has problems, parses what is left of it without unknown keys, wrong values and wrong items of
 * lists, so that rules about the rest are checked at once.
 * @param at path of the section
 * @param lacking what of the whole config is not known
 */
export function parsedAsFar(schema: z.ZodType, written: unknown, at: Path, lacking: readonly Path[]): AsFar {
  const result = schema.safeParse(written);
  const unknown = lacking
    .filter((path) => at.every((step, index) => path[index] === step))
    .map((path) => wrongAt(path.slice(at.length)));
  if (result.success && unknown.length === 0)
    return { data: result.data, issues: [], unclear: new Set(), left: new Map() };
  const issues = [...(result.error?.issues ?? [])];
  const wrong = () => [...unknown, ...issues.map(wrongIn)];
  let rest = without(written, wrong());
  let again = schema.safeParse(rest.value);
  for (let round = 1; round < MOST_ROUNDS && again.error; round++) {
    const { lists } = rest;
    const told = new Set(wrong().map(({ path }) => itemOf(path)));
    // what else is missing now is what has been taken away
    const more = again.error.issues
      .map((issue) => ({ ...issue, path: [...asWritten(issue.path as Path, lists)] }))
      .filter(({ path }) => lists.has(formatPath(listOf(path) ?? [])) && !told.has(itemOf(path)));
    if (more.length === 0) break;
    issues.push(...more);
    rest = without(written, wrong());
    again = schema.safeParse(rest.value);
  }
  const unclear = wrong().filter(({ path, keys }) => keys === undefined && !listOf(path));
  return {
    data: again.success ? again.data : membersOf(schema, rest.value),
    issues: issues.map((issue) => ({ ...issue, path: [...at, ...issue.path] })),
    unclear: new Set(unclear.map(({ path }) => String(path[0] ?? ''))),
    left: new Map([...rest.lists.values()].map(({ path, items }) => [formatPath([...at, ...path]), items])),
  };
}

/** The members of a map that are right by themselves, where it lacks one that it needs. */
function membersOf(schema: z.ZodType, value: unknown): unknown {
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return undefined;
  const members = Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([key, member]) => {
    const { success, data } = member.safeParse(
      Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined,
    );
    return success && data !== undefined ? [[key, data] as const] : [];
  });
  return Object.fromEntries(members);
}

/** Where a problem is as written that was found in what is left. */
export function placedAsWritten(found: ConfigProblem, left: Left): ConfigProblem {
  for (const [list, items] of left) {
    if (!found.path.startsWith(`${list}[`)) continue;
    const end = found.path.indexOf(']', list.length);
    const index = Number(found.path.slice(list.length + 1, end));
    return { ...found, path: `${list}[${items[index]}${found.path.slice(end)}` };
  }
  return found;
}

/** An unknown key is not asked for, so the rest means the same without it. */
function wrongIn(issue: z.core.$ZodIssue): Wrong {
  return { path: issue.path as Path, keys: issue.code === 'unrecognized_keys' ? issue.keys : undefined };
}

/** The outermost list that a path leads into. */
function listOf(path: Path): Path | undefined {
  const index = path.findIndex((step) => typeof step === 'number');
  return index < 0 ? undefined : path.slice(0, index);
}

function itemOf(path: Path): string {
  return formatPath(path.slice(0, (listOf(path) ?? []).length + 1));
}

/** Lists by their paths in the section, as text. */
type Lists = ReadonlyMap<string, { path: Path; items: readonly number[] }>;

function without(written: unknown, wrong: readonly Wrong[]): { value: unknown; lists: Lists } {
  const value = structuredClone(written);
  const lost = new Map<string, { path: Path; items: Set<number> }>();
  for (const { path, keys } of wrong) {
    const list = listOf(path);
    if (keys) drop(valueAt(value, path), keys);
    else if (!list) drop(valueAt(value, path.slice(0, -1)), path.slice(-1));
    else {
      const own = lost.get(formatPath(list)) ?? { path: list, items: new Set() };
      own.items.add(path[list.length] as number);
      lost.set(formatPath(list), own);
    }
  }
  const lists = [...lost].flatMap(([name, { path, items }]) => {
    const list = valueAt(value, path);
    if (!Array.isArray(list)) return [];
    const kept = [...list.keys()].filter((index) => !items.has(index));
    list.splice(0, list.length, ...kept.map((index) => list[index]));
    // most lists must have an item, and without one what is around them would be wrong too
    if (kept.length === 0) drop(valueAt(value, path.slice(0, -1)), path.slice(-1));
    return [[name, { path, items: kept }] as const];
  });
  return { value, lists: new Map(lists) };
}

function drop(from: unknown, keys: Path): void {
  if (typeof from === 'object' && from !== null)
    for (const key of keys) delete (from as Record<string | number, unknown>)[key];
}

function asWritten(path: Path, lists: Lists): Path {
  const list = listOf(path) ?? [];
  const items = lists.get(formatPath(list))?.items ?? [];
  return path.map((step, at) => (at === list.length ? (items[step as number] ?? step) : step));
}
