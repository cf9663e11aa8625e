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

/**
 * Why a file argument also takes something that a model can write by itself: an address, or a path on the server. As a
 * configured file argument it would no longer accept that.
 */
export function otherWays({ name, description, schema }: Argument): string | undefined {
  const said = description.replace(NO_ADDRESS, ' ').replace(DENIED, ' ');
  const hit = ADDRESS.exec(said) ?? FILE_PATH.exec(said);
  if (hit) return `its description says ${JSON.stringify(hit[0].trim())}`;
  const values = [schema.default, schema.example, ...(Array.isArray(schema.examples) ? schema.examples : [])];
  if (values.some((value) => /^(?:https?|file|s3|gs):\/\//i.test(textOf(value)))) return 'its example is an address';
  if (/^\^?\(?https?/.test(textOf(schema.pattern))) return 'its pattern is that of an address';
  return /(?<!data)(?:ur[il]|link|href)$/.test(joined(name))
    ? `its name is ${JSON.stringify(name.slice(0, 60))}`
    : undefined;
}
