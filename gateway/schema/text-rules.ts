import type { JsonValue } from '../ports/json.js';
import { LongText, lengthOf } from './instance.js';
import type { Truth } from './truth.js';

/** Formats that every text matches. */
const ANY_TEXT = new Set(['binary', 'password']);

/** Formats that the empty text matches. */
const MAY_BE_EMPTY = new Set(['uri-reference', 'iri-reference', 'uri-template', 'json-pointer', 'byte', 'regex']);

/** Formats that every absolute URI matches. */
const OF_URIS = new Set(['uri', 'iri', 'uri-reference', 'iri-reference', 'uri-template']);

/** RFC 3986, with an authority. */
const URI = /^[a-z][a-z0-9+.-]*:\/\/(?:\[[0-9a-f:.]+\])?(?:[\w.~:/?#@!$&'()*+,;=-]|%[0-9a-f]{2})+$/i;

/**
 * `url` is not a standard format: validators accept names with a dot, and few accept addresses or ports of one digit.
 */
const NAMED_HOST = /^https?:\/\/(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?::\d{2,5})?\//i;

/** `minLength`, in code points; undefined where only bounds of a text's length are known, and they do not decide. */
export function longEnough(text: string | LongText, least: JsonValue): Truth {
  if (typeof least !== 'number') return undefined;
  const length = lengthOf(text);
  return length.least >= least ? true : length.most < least ? false : undefined;
}

/** `maxLength`, counted as `minLength` is. */
export function shortEnough(text: string | LongText, most: JsonValue): Truth {
  if (typeof most !== 'number') return undefined;
  const length = lengthOf(text);
  return length.most <= most ? true : length.least > most ? false : undefined;
}

/** Never false: many validators treat a format as an annotation. */
export function hasFormat(text: string | LongText, format: JsonValue): Truth {
  if (typeof format !== 'string') return undefined;
  if (ANY_TEXT.has(format)) return true;
  if (text instanceof LongText) return undefined;
  if (text === '') return MAY_BE_EMPTY.has(format) ? true : undefined;
  if (!URI.test(text) || !URL.canParse(text)) return undefined;
  return OF_URIS.has(format) || (format === 'url' && NAMED_HOST.test(text)) ? true : undefined;
}

/** Verdict on keywords about the content that the text encodes. */
export function hasContent(text: string | LongText): Truth {
  return text === '' ? true : undefined;
}
