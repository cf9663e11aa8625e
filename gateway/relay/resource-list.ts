import type { ClientFacts } from '../ports/dialect.js';
import type { JsonObject, JsonPath } from '../ports/json.js';
import type { AnswerEdit } from './answer-edit.js';
import { type Edit, insertMember, rangeAt, replaceRange } from './edits.js';
import { locate } from './json-text.js';
import { isObject, STATELESS_SINCE } from './request.js';
import { RANGE } from './slots.js';
import { keepPrivate } from './tool-list.js';

/** Lists of resources, and the member in which their entries stand. */
export const RESOURCE_LISTS: Readonly<Record<string, string>> = {
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
};

export type ShowResource = (entry: JsonObject) => JsonObject;

/** Gives the entries of a list the members that dialects add for this client. Every other byte is untouched. */
export function showResources(key: string, shows: readonly ShowResource[], client: ClientFacts): AnswerEdit {
  return ({ message, base }) => {
    const path = [...base, 'result'];
    const range = rangeAt(message, RANGE.result, path);
    if (!range) return [];
    const text = message.slice(range.start, range.end);
    const result: unknown = JSON.parse(text.toString('utf8'));
    const entries = isObject(result as JsonObject) ? (result as JsonObject)[key] : undefined;
    if (!Array.isArray(entries)) return [];
    const added = entries.map((entry) =>
      isObject(entry) ? Object.assign({}, ...shows.map((show) => show(entry))) : {},
    );
    if (added.every((members) => Object.keys(members).length === 0)) return [];
    const edits = editsFor(text, key, added as JsonObject[]).map((edit) => ({
      ...edit,
      start: edit.start + range.start,
      end: edit.end + range.start,
    }));
    // 2026-07-28: a list that was made for one client must not be given to another
    return client.protocolVersion >= STATELESS_SINCE ? [...edits, ...keepPrivate(message, path)] : edits;
  };
}

function editsFor(text: Buffer, key: string, added: readonly JsonObject[]): Edit[] {
  const wanted: { path: JsonPath; members: [string, unknown][] }[] = [];
  for (const [index, members] of added.entries()) {
    const entries = Object.entries(members);
    if (entries.length > 0) wanted.push({ path: [key, index], members: entries });
  }
  const paths = wanted.flatMap(({ path, members }) => [path, ...members.map(([name]) => [...path, name])]);
  const { text: located, at } = locate(text, paths);
  return wanted.flatMap(({ path, members }) => {
    const entry = at(path);
    if (!entry) return [];
    const edits: Edit[] = [];
    const missing: string[] = [];
    for (const [name, value] of members) {
      const there = at([...path, name]);
      if (there) edits.push(replaceRange(there, JSON.stringify(value)));
      else missing.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
    }
    return missing.length === 0 ? edits : [...edits, insertMember(located, entry, missing.join(','))];
  });
}
