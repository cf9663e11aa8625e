import { type Argument, textOf } from './argument.js';
import { joined } from './words.js';

/** Data URIs and the url-safe alphabet are not addresses, and a negated word does not count. */
const NO_ADDRESS = /\bdata:?[- ]?ur[il]s?\b|\bdata:\S*|\burl-?safe\b|\bbase-?64-?url\b/gi;
const DENIED =
  /\b(?:not?|never|without|instead of|rather than|except|excluding)\b[^.;,]{0,40}|[^.;,]{0,40}\b(?:are|is) not\b[^.;,]{0,40}/gi;
const ADDRESS =
  /\b(?:https?|web)[ -]?(?:ur[il]|link|address)s?\b|\bur[il]s?\b|\bhttps?:\/\/|\bs3:\/\/|\bweb address(?:es)?\b/i;
const FILE_PATH =
  /\b(?:file|local|absolute|relative|full)[- ]?(?:system )?paths?\b|\bpaths? (?:to|of)\b|\bpath\b(?= or\b)|\bor (?:a |the )?(?:file ?)?path\b/i;

/** "Raw XML, or base64-encoded SVG", "plain text or base64", "base64 for binary files". */
const OR_TEXT =
  /\b(?:raw|plain|utf-?8|text|xml|html|json|markdown|csv|svg)\b[^.;]{0,40}\bor (?:an? |as |in )?base-?64|\bbase-?64\b[^.;]{0,40}\bor (?:as |in )?(?:raw|plain|utf-?8|text)\b|\bbase-?64(?:[- ]encoded)? (?:if|for|when) (?:\w+ ){0,3}binary\b/i;

/** Encodings of text, as the other choices beside base64. */
const TEXT = /^(?:utf-?8|utf-?16(?:le)?|text|plain|plaintext|ascii|latin-?1|raw|none|identity)$/i;
const OUTPUT = /output|response|return|result/;

/**
 * Why a file argument also takes something that a model can write by itself: an address, a path on the server, or text. As
 * a configured file argument it would no longer accept that.
 */
export function otherWays({ name, description, schema, siblings }: Argument): string | undefined {
  const choice = Object.entries(siblings).find(([other, { enum: values }]) => {
    if (!Array.isArray(values) || OUTPUT.test(joined(other))) return false;
    return values.includes('base64') && values.some((value) => TEXT.test(textOf(value)));
  });
  if (choice) return `${JSON.stringify(choice[0].slice(0, 60))} beside it says whether it is base64`;
  const said = description.replace(NO_ADDRESS, ' ').replace(DENIED, ' ');
  const hit = ADDRESS.exec(said) ?? FILE_PATH.exec(said) ?? OR_TEXT.exec(said);
  if (hit) return `its description says ${JSON.stringify(hit[0].trim())}`;
  const values = [schema.default, schema.example, ...(Array.isArray(schema.examples) ? schema.examples : [])];
  if (values.some((value) => /^(?:https?|file|s3|gs):\/\//i.test(textOf(value)))) return 'its example is an address';
  if (/^\^?\(?https?/.test(textOf(schema.pattern))) return 'its pattern is that of an address';
  return /(?<!data)(?:ur[il]|link|href)$/.test(joined(name))
    ? `its name is ${JSON.stringify(name.slice(0, 60))}`
    : undefined;
}
