import { likely, never, possible, type Rule } from './clue.js';

/** What base64 may be besides a file. A picture of a signature, or a PDF of key figures, is one. */
const NO_FILE =
  /base-?64(?:url)?[- ]?(?:encoded )?(?:(?!(?:image|picture|photo|png|jpe?g|svg|scan|pdf|file|document)s?\b)\w+ ){0,2}(?:cursor|credential|token|key|signature|nonce|hash|digest|checksum|salt|iv)s?\b/i;
/** The server does the encoding: the argument itself is plain. */
const ENCODES =
  /\b(?:to|will|should) be (?:base-?64|hex)[- ]?encoded\b|\bto (?:base-?64|hex)[- ]?encode\b|\bencode\w*\b[^.]{0,30}\b(?:to|into|as|in) (?:base-?64|hex)|\b(?:convert\w*|turn\w*)\b[^.]{0,30}\b(?:to|into) (?:base-?64|hex)/i;
/** Base64 inside a text of another kind: the argument as a whole is not base64. */
const INSIDE_JSON = /\bJSON (?:arrays?|lists?|objects?|maps?|strings?)\b[^.]{0,60}\bbase-?64/i;
const NOT_BASE64 =
  /\b(?:no|not|non|never|without|instead of|rather than)\b[- ](?:\w+ ){0,2}base-?64(?! (?:prefix|header|marker))/i;

const DATA_URI =
  /\bdata:?[- ]?ur[il]s?\b|\bdata:(?:[a-z*<{[][\w*/+.<>{}[\]-]*)?[;,]|\bdata:(?:image|audio|video|text|application)\/|\bdata: ?(?:scheme|prefix)/i;
/** "without the data URI prefix", "no data: URL", "strip the data URI header". */
const NO_DATA_URI =
  /\b(?:without|no|not|omit\w*|exclud\w*|strip\w*|remov\w*|except)\b[^.;]{0,40}\bdata(?::|[- :]?(?:ur[il]|prefix|scheme|header))/i;
/** "with or without", "optional data URI prefix". */
const OPTIONAL_DATA_URI = /\b(?:with or without|optional\w*|may (?:include|have|start))\b[^.;]{0,40}\bdata[- :]/i;
const BASE64 = /\bbase-?64|\bb64\b/i;
const EITHER =
  /base-?64[^.;]{0,40}\bor\b[^.;]{0,30}\bdata[- :]?ur[il]|\bdata[- :]?ur[il][^.;]{0,30}\bor\b[^.;]{0,40}base-?64/i;

const PATH =
  /\b(?:file|local|absolute|relative|full|filesystem|disk)[- ]?(?:system )?paths?\b|\bpaths? (?:to|of|for)\b[^.;]{0,40}\b(?:files?|images?|photos?|pictures?|pdfs?|documents?|audio|videos?|recordings?|spreadsheets?)\b/i;
const OUTPUT = /\b(?:output|destination|target|save|saved|write|written|export|create|directory|directories|folder)\b/i;
/** True when a description says that the tool writes there. */
export function speaksOfOutput(description: string): boolean {
  // a path relative to it is an input as often
  return OUTPUT.test(description.replace(/\bworking (?:directory|folder)\b/gi, ' '));
}

const REMOTE =
  /\burls? (?:of|to|for|pointing to)\b[^.;]{0,30}\b(?:images?|photos?|pictures?|files?|pdfs?|documents?|audio|videos?)\b|\b(?:image|file|pdf|document|audio|video) urls?\b/i;

/**
 * Rules for an argument's description, in the wording that server authors use. The first rule that matches decides the
 * encoding.
 */
export const DESCRIPTION_RULES: readonly Rule[] = [
  {
    source: 'description',
    name: 'not a file',
    test: ({ description }) => {
      const hit = [NO_FILE, ENCODES, INSIDE_JSON, NOT_BASE64]
        .map((rule) => rule.exec(description))
        .find((found) => found !== null);
      return hit ? never(`its description says ${quoted(hit[0])}`) : undefined;
    },
  },
  {
    source: 'description',
    name: 'data URI',
    test: ({ description }) => {
      const hit = DATA_URI.exec(description);
      const leavesItOut = NO_DATA_URI.test(description) || OPTIONAL_DATA_URI.test(description);
      if (!hit || leavesItOut || EITHER.test(description)) return undefined;
      return likely('dataUri', `its description says ${quoted(hit[0])}`);
    },
  },
  {
    source: 'description',
    name: 'base64url',
    test: ({ description }) => {
      const hit = /\bbase-?64-?url\b|\burl-?safe base-?64/i.exec(description);
      return hit ? likely('base64url', `its description says ${quoted(hit[0])}`) : undefined;
    },
  },
  {
    source: 'description',
    name: 'base64',
    test: ({ description }) => {
      const hit = BASE64.exec(description);
      return hit ? likely('base64', `its description says ${quoted(hit[0])}`) : undefined;
    },
  },
  {
    source: 'description',
    name: 'hex',
    test: ({ description }) => {
      const hit = /\bhex(?:adecimal)?[- ]?(?:encoded|string|encoding|dump|bytes|data)\b/i.exec(description);
      if (!hit || /\bcolou?r|\bhash|\bdigest|\bchecksum|\bid\b|\bkey\b|\b\d+[- ]?(?:char|digit)/i.test(description))
        return undefined;
      return likely('hex', `its description says ${quoted(hit[0])}`);
    },
  },
  {
    source: 'description',
    name: 'raw bytes',
    test: ({ description, shape }) => {
      const hit = /\b(?:raw|binary) (?:bytes|data|content|contents|file)\b|\bbytes of (?:the|a|an)\b/i.exec(
        description,
      );
      return hit && shape === 'text' ? possible('base64', `its description says ${quoted(hit[0])}`) : undefined;
    },
  },
  {
    source: 'description',
    name: 'path',
    test: ({ description }) => {
      const hit = PATH.exec(description);
      if (!hit || speaksOfOutput(description)) return undefined;
      return possible('localPath', `its description says ${quoted(hit[0])}`);
    },
  },
  {
    source: 'description',
    name: 'address',
    test: ({ description }) => {
      const hit = REMOTE.exec(description);
      return hit && !speaksOfOutput(description)
        ? possible('httpsUrl', `its description says ${quoted(hit[0])}`)
        : undefined;
    },
  },
];

function quoted(text: string): string {
  return JSON.stringify(text.trim().slice(0, 60));
}
