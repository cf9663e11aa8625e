import { breathe } from '../../budget/turn.js';
import type { JsonDocument } from '../../json/document.js';
import type { Edits } from '../../json/edit.js';
import { isObject } from '../../json/value.js';
import type { Owner } from '../../ports/owner.js';
import type { Room } from '../client/room.js';
import type { ResultPlace } from './remote-files.js';

/** Names replaced in the texts of one message. Each becomes a link, which may be a hundred times as long. */
const MAX_RENAMED = 100;

/** Places checked in one message: a text may contain a million marks that belong to other URIs. */
const MAX_LOOKS = 10_000;

/** The part of every URI that distinguishes it from words. */
const MARK = '://';

/** How many characters of a URI are searched for; a shorter URI may mean something else. */
const LEAST = 12;

/** Characters of a scheme, before the mark (RFC 3986 §3.1). */
const SCHEME_CHARACTER = /[a-z0-9+.-]/i;
const MAX_SCHEME = 64;

/** Characters that would continue the URI. */
const GOES_ON = /[\w~/-]/;

/**
 * Replaces URIs in texts. Servers repeat structuredContent as text, for hosts that show nothing else; after the change,
 * the server's own URI would lead nowhere there.
 */
export class TextRenames {
  readonly #located: JsonDocument;
  readonly #room: Room;
  readonly #owner: Owner;
  #renamed = 0;
  #looks = 0;

  /** @param located contains the texts of all results */
  constructor(located: JsonDocument, { room, owner }: { room: Room; owner: Owner }) {
    this.#located = located;
    this.#room = room;
    this.#owner = owner;
  }

  /** @param names the replacement of each URI, in the texts of one result */
  async rename(result: ResultPlace, names: ReadonlyMap<string, string>, edits: Edits): Promise<void> {
    const known = byBeginning(names);
    if (known.size === 0) return;
    for (const [index, text] of textsOf(result)) {
      await breathe(this.#owner);
      const found = this.#find(text, known);
      const range = found.length > 0 && this.#located.at([...result.path, 'content', index, 'text']);
      const growth = found.reduce((sum, { uri, name }) => sum + Buffer.byteLength(name) - uri.length, 0);
      if (!range || !this.#room.take(growth)) continue;
      this.#renamed += found.length;
      edits.replace(range, JSON.stringify(renamed(text, found)));
    }
  }

  #find(text: string, known: ReadonlyMap<string, Known[]>): Found[] {
    const found: Found[] = [];
    for (let mark = text.indexOf(MARK); mark >= 0; ) {
      this.#looks += 1;
      if (this.#looks > MAX_LOOKS || this.#renamed + found.length >= MAX_RENAMED) break;
      const at = schemeBefore(text, mark);
      const named = known.get(text.slice(at, at + LEAST))?.find(({ uri }) => standsAt(text, at, uri));
      if (named) found.push({ at, ...named });
      mark = text.indexOf(MARK, named ? at + named.uri.length : mark + MARK.length);
    }
    return found;
  }
}

interface Known {
  uri: string;
  /** The replacement. */
  name: string;
}

interface Found extends Known {
  at: number;
}

/** The distinguishable URIs by their first characters, longest first. */
function byBeginning(names: ReadonlyMap<string, string>): Map<string, Known[]> {
  const known = new Map<string, Known[]>();
  for (const [uri, name] of [...names].sort(([one], [other]) => other.length - one.length)) {
    if (uri.length < LEAST || !uri.includes(MARK)) continue;
    const beginning = uri.slice(0, LEAST);
    known.set(beginning, [...(known.get(beginning) ?? []), { uri, name }]);
  }
  return known;
}

function schemeBefore(text: string, mark: number): number {
  let at = mark;
  while (at > 0 && mark - at < MAX_SCHEME && SCHEME_CHARACTER.test(text[at - 1] as string)) at--;
  return at;
}

function standsAt(text: string, at: number, uri: string): boolean {
  return text.startsWith(uri, at) && !GOES_ON.test(text[at + uri.length] ?? ' ');
}

function renamed(text: string, found: readonly Found[]): string {
  const pieces: string[] = [];
  let end = 0;
  for (const { at, uri, name } of found) {
    pieces.push(text.slice(end, at), name);
    end = at + uri.length;
  }
  return [...pieces, text.slice(end)].join('');
}

/** The texts of a result, each with its index in `content`. */
export function textsOf({ result }: ResultPlace): [number, string][] {
  const { content } = result;
  if (!Array.isArray(content)) return [];
  return [...content.entries()].flatMap(([index, block]): [number, string][] =>
    isObject(block) && block.type === 'text' && typeof block.text === 'string' ? [[index, block.text]] : [],
  );
}
