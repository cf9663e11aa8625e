import { type Argument, textOf } from './argument.js';
import { likely, never, possible, type Rule } from './clue.js';
import { companionKind, isForText } from './companions.js';
import { speaksOfOutput } from './description-rules.js';
import { isHolder, isMedia, joined, wordsOf } from './words.js';

/** Last words of names that are about a file without being one: `image_id`, `file_format`, `photo_caption`. */
const ABOUT = new Set(
  'id ids type format mime name title caption prompt description desc alt label tag category size length width height count index number page quality style language lang mode encoding charset url uri link href path dir directory folder key query filter pattern extension ext status date time version text color colour position source ref hash prefix suffix container'.split(
    ' ',
  ),
);

/** Words of names for what a tool writes. */
const OUTPUTS = /\b(?:output|out|dest|destination|save)\b/;

/** Words by which a name with `bytes` in it counts them. */
const AMOUNTS = new Set('max min maximum minimum limit total offset start end range per'.split(' '));

const SECRET =
  /^(?:.*(?:token|password|passphrase|secret|credential|cursor|signature|nonce|checksum|digest|sha256|md5|apikey|privatekey|publickey))$/;

/** What a signature is that a hand has drawn. */
const HANDWRITTEN = /\b(?:image|picture|photo|png|jpe?g|svg|scan|scanned|drawn|drawing|handwritten)\b/i;

/** Rules for names, for when the description says nothing. */
export const NAME_RULES: readonly Rule[] = [
  {
    source: 'name',
    name: 'secret',
    test: ({ name, description }) => {
      if (!SECRET.test(joined(name)) || (/signature$/.test(joined(name)) && HANDWRITTEN.test(description)))
        return undefined;
      return never(`its name is ${quoted(name)}`);
    },
  },
  {
    source: 'name',
    name: 'base64',
    test: ({ name }) => (/base64|b64/.test(joined(name)) ? likely('base64', `its name is ${quoted(name)}`) : undefined),
  },
  {
    source: 'name',
    name: 'data URI',
    test: ({ name }) =>
      /data(uri|url)$/.test(joined(name)) ? likely('dataUri', `its name is ${quoted(name)}`) : undefined,
  },
  {
    source: 'name',
    name: 'hex',
    test: ({ name }) => {
      const words = wordsOf(name);
      if (!words.includes('hex') || !words.some((word) => isHolder(word) || isMedia(word))) return undefined;
      return likely('hex', `its name is ${quoted(name)}`);
    },
  },
  {
    source: 'name',
    name: 'media and its holder',
    test: ({ name }) => {
      const words = wordsOf(name);
      const holdsMedia = words.some(isMedia) && words.some((word) => isHolder(word) && word !== 'file');
      return holdsMedia && !isAbout(words) ? likely('base64', `its name is ${quoted(name)}`) : undefined;
    },
  },
  {
    source: 'name',
    name: 'bytes of content',
    test: ({ name, shape }) => {
      const words = wordsOf(name);
      const holdsBytes = words.some(isBytes) && words.some((word) => isHolder(word) && !isBytes(word));
      if (shape !== 'text' || !holdsBytes || isAbout(words) || words.some((word) => AMOUNTS.has(word)))
        return undefined;
      return likely('base64', `its name is ${quoted(name)}`);
    },
  },
  {
    source: 'name',
    name: 'media',
    test: ({ name }) => {
      const words = wordsOf(name);
      return isMedia(words.at(-1)) && !isAbout(words)
        ? possible('base64', `its name is ${quoted(name)}; it may also be a URL or a path`)
        : undefined;
    },
  },
  {
    source: 'name',
    name: 'path of a file',
    test: ({ name, description }) => {
      const words = wordsOf(name);
      const kind = joined(name);
      if (speaksOfOutput(description)) return undefined;
      if (!/(path|filepath)$/.test(kind) || /output|dest|target|save|dir|folder|root|base|work|log|config/.test(kind))
        return undefined;
      return words.some((word) => isMedia(word) || isHolder(word) || word === 'input')
        ? possible('localPath', `its name is ${quoted(name)}`)
        : undefined;
    },
  },
  {
    source: 'name',
    name: 'address of a file',
    test: ({ name }) => {
      const words = wordsOf(name);
      if (!/^ur[il]$/.test(words.at(-1) ?? '') || /output|base|callback|webhook|redirect|data/.test(joined(name)))
        return undefined;
      return words.some((word) => isMedia(word) || word === 'file' || word === 'document')
        ? possible('httpsUrl', `its name is ${quoted(name)}; the server must be able to reach publicUrl`)
        : undefined;
    },
  },
];

/** Rules for the context of an argument whose own name says little: `data`, `content`, `file`. */
export const CONTEXT_RULES: readonly Rule[] = [
  {
    source: 'context',
    name: 'encoding beside it',
    test: (argument) => {
      if (!isContent(argument)) return undefined;
      for (const [name, schema] of Object.entries(argument.siblings)) {
        const values = [schema.const, ...(Array.isArray(schema.enum) ? schema.enum : [])];
        if (!values.includes('base64')) continue;
        if (values.filter((value) => value !== undefined).length === 1)
          return likely('base64', `${quoted(name)} beside it is always "base64"`);
        return possible('base64', `${quoted(name)} beside it may be "base64", and must be for a file`);
      }
      return undefined;
    },
  },
  {
    source: 'context',
    name: 'media type beside it',
    test: (argument) => {
      if (!isContent(argument)) return undefined;
      const type = Object.entries(argument.siblings).find(
        ([name, schema]) => companionKind(name, argument.name, schema) === 'mimeType' && !isForText(schema),
      );
      if (!type) return undefined;
      const reason = `${quoted(type[0])} beside it is a media type`;
      return mayBeWritten(argument) ? possible('base64', `${reason}; it may also be text`) : likely('base64', reason);
    },
  },
  {
    source: 'context',
    name: 'base64 in the description of the tool',
    test: (argument) => {
      const hit = /\bbase-?64/i.exec(argument.tool.description);
      if (!hit || !isContent(argument)) return undefined;
      const before = argument.tool.description.slice(Math.max(0, hit.index - 60), hit.index);
      // the tool's output says nothing about its input
      if (/\b(?:return|output|result|respon|answer|produc|generat|convert|encode)\w*/i.test(before)) return undefined;
      if (/\b(?:no|not|non|never|without|instead of|rather than)[- ](?:\w+ ){0,2}$/i.test(before)) return undefined;
      return likely('base64', `the description of the tool says ${quoted(hit[0])}`);
    },
  },
  {
    source: 'context',
    name: 'a tool for media',
    test: (argument) => {
      if (!isContent(argument)) return undefined;
      const hit = mediaOf(argument.tool);
      return hit === undefined
        ? undefined
        : possible('base64', `its name is ${quoted(argument.name)} and the tool speaks of ${quoted(hit)}`);
    },
  },
];

/** A name for content of any kind, which alone does not suggest a file. */
function isContent({ name, shape, schema }: Argument): boolean {
  const words = wordsOf(name);
  if (
    shape !== 'text' ||
    isAbout(words) ||
    OUTPUTS.test(words.join(' ')) ||
    /^uri(-reference)?$|^iri$/.test(textOf(schema.format))
  )
    return false;
  return words.some((word) => isMedia(word) || isHolder(word));
}

/** The word by which a tool says that it takes files of some kind. */
function mediaOf({ name, description }: Argument['tool']): string | undefined {
  const said = /\b(?:upload|attach)\w*\b[^.]{0,40}\b(?:files?|images?|documents?|pdfs?|photos?)\b/i.exec(description);
  return wordsOf(name).find((word) => isMedia(word) || /^(upload|attach|ocr|transcribe)$/.test(word)) ?? said?.[0];
}

/** `content` of `create_file`: a text that a model writes itself as often as base64. */
function mayBeWritten({ name, path, tool }: Argument): boolean {
  const isPlain = wordsOf(name).every((word) => /^(?:content|body|string|payload)$/.test(word));
  return isPlain && mediaOf(tool) === undefined && !path.flatMap(wordsOf).some(isMedia);
}

/** A word for content that no text is. */
function isBytes(word: string): boolean {
  return /^(?:bytes?|buffer|binary)$/.test(word);
}

function isAbout(words: readonly string[]): boolean {
  return ABOUT.has(words.at(-1) ?? '');
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
