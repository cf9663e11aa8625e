import type { JsonObject, JsonPath } from '../../../ports/json.js';
import { SCHEME } from '../../../wire/data-uri.js';
import { ByteStore } from '../../../wire/json/byte-store.js';
import { pointer } from '../../../wire/json/pointer.js';
import { isStructured, type MessageCuts } from '../../cut/message-cuts.js';
import type { TextParts } from '../../cut/text-parts.js';
import { HEAD_END } from '../../cut/uri-head.js';
import { saysAll, withoutBytes } from './said.js';

/** More `data:` URIs than a message may have files are not looked through. */
const MOST_URIS = 1000;
const MOST_HEAD = 512;
const NO_BASE64 = /[^A-Za-z0-9+/]/g;
const PADDING = /={0,2}/y;

/**
 * True where the texts of a result say all that its structure does, but for `data:` URIs that have become links in them: servers
 * repeat a text that is all of a result as the only member of an object.
 * @param texts those that are in the message
 * @param structure without the strings that are not
 */
export function saysAround(
  { texts: parted, cuts }: MessageCuts,
  result: JsonPath,
  texts: readonly string[],
  structure: JsonObject,
): boolean {
  const isUnder = (path: JsonPath, key: string) => pointer(path).startsWith(`${pointer([...result, key])}/`);
  const around = parted.flatMap(({ value, nested }) => (isUnder(value.path, 'content') ? textAround(nested) : []));
  const isSaid = (words: string) => {
    const spelled = JSON.stringify(words).slice(1, -1);
    return around.some((text) => text.includes(words) || text.includes(spelled));
  };
  for (const { value, nested } of parted) {
    if (!nested.hasCuts || !isUnder(value.path, 'structuredContent')) continue;
    const words = textAround(nested).trim();
    if (!isSaid(words) && !isSaid(withoutUris(words) ?? words)) return false;
  }
  for (const cut of cuts) {
    if (!isStructured(cut) || !isUnder(cut.value.path, 'structuredContent')) continue;
    if (!cut.inline) return false;
    const words = withoutUris(textOf(cut.inline))?.trim();
    if (words === undefined) return false;
    if (!isSaid(words)) return false;
  }
  return saysAll([...texts, ...around], withoutBytes(structure));
}

/** A text with nothing in the places of its `data:` URIs; undefined where there are too many. */
function withoutUris(text: string): string | undefined {
  const kept: string[] = [];
  let at = 0;
  for (let count = 0; count < MOST_URIS; count += 1) {
    const end = text.indexOf(HEAD_END, at);
    if (end < 0) return kept.join('') + text.slice(at);
    const from = Math.max(at, end - MOST_HEAD);
    const head = text.slice(from, end).toLowerCase().lastIndexOf(SCHEME);
    const behind = end + HEAD_END.length;
    kept.push(text.slice(at, head < 0 ? behind : from + head));
    at = head < 0 ? behind : endOfBase64(text, behind);
  }
  return undefined;
}

function endOfBase64(text: string, start: number): number {
  NO_BASE64.lastIndex = start;
  PADDING.lastIndex = NO_BASE64.exec(text)?.index ?? text.length;
  PADDING.exec(text);
  return PADDING.lastIndex;
}

/** What is left of a text, with nothing in the places of its files. */
function textAround({ parts }: TextParts): string {
  return textOf(
    parts.flatMap((part, index) => {
      if (!(part instanceof ByteStore)) return [];
      const next = parts[index + 1];
      const head = next && !(next instanceof ByteStore) ? next.head : 0;
      return head > 0 ? part.slice(0, part.size - head) : part.pieces();
    }),
  );
}

/** A text. @param raw as its message spells it, without quotes */
export function textOf(raw: readonly Buffer[]): string {
  return JSON.parse(`"${Buffer.concat(raw).toString('utf8')}"`) as string;
}
