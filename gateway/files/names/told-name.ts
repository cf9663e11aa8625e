import { isSameType, isTextual } from '../../policy/accept.js';
import { cleanFileName } from './file-name.js';
import { OCTET_STREAM, typeForExtension } from './media-type.js';

/** The ending of a file name: a dot and the characters common behind one. */
const ENDING = /^(.*[^.])\.([A-Za-z0-9]{1,8})$/su;

/** Other endings of types that have one in Wharf's table. */
const ENDINGS: Readonly<Record<string, string>> = {
  jpeg: 'jpg',
  jpe: 'jpg',
  tiff: 'tif',
  htm: 'html',
  yml: 'yaml',
  oga: 'ogg',
  markdown: 'md',
};

const PLAIN_TEXT = 'text/plain';

/** Endings of texts that have no type of their own. */
const PLAIN = new Set(['txt', 'text', 'log']);

/** Endings of programs, settings and other texts that have no media type in Wharf's table: for JPEG `x.c` is not a file. */
const SOURCES = new Set(
  (
    'bash bat bib c cc cfg cjs clj conf cpp cs cxx dart diff env erl ex exs fish go gradle graphql groovy h hpp hs ini ipynb ' +
    'java jl json5 jsonc jsonl jsx kt kts less lua m mjs ml mts nim nix org patch php pl pm properties proto ps1 py r rb rs ' +
    'rst sass scala scss sh sol sql srt svelte swift tex tf toml ts tsx vb vim vtt vue zig zsh'
  ).split(' '),
);

/** What is known about a file's bytes. */
export interface NamedType {
  mimeType: string;
  /** Without the dot. */
  ext: string;
}

/** True when a text ends like a file name. */
export function hasEnding(text: string): boolean {
  return ENDING.test(text);
}

/** True when a name ends like files of this type. */
export function endsAs(name: string, { mimeType, ext }: NamedType): boolean {
  const written = ENDING.exec(name)?.[2]?.toLowerCase();
  if (written === undefined) return false;
  const ending = ENDINGS[written] ?? written;
  if (ending === ext.toLowerCase()) return true;
  const type = typeForExtension(ending);
  return type !== undefined && isSameType(type, mimeType);
}

/**
 * Turns a name found near a file into one for the file: `report.docx` for a PDF becomes `report.pdf`. If the bytes show
 * no type, the name's ending stays; so does that of a text, such as `data.csv`, in a text of which no more is known.
 * @returns empty for a text that is not a file name: `v1.2`, `div.button`
 */
export function nameAs(told: string, type: NamedType): string {
  const name = cleanFileName(told, '');
  if (name === '' || endsAs(name, type)) return name;
  const [, base = name, ending] = ENDING.exec(name) ?? [];
  if (ending === undefined) return cleanFileName(`${base}.${type.ext}`);
  if (type.mimeType === OCTET_STREAM) return name;
  if (type.mimeType === PLAIN_TEXT && isTextEnding(ending.toLowerCase())) return name;
  return isEnding(ending.toLowerCase()) ? cleanFileName(`${base}.${type.ext}`) : '';
}

function isTextEnding(text: string): boolean {
  return PLAIN.has(text) || SOURCES.has(text) || isTextual(typeForExtension(ENDINGS[text] ?? text) ?? '');
}

/** True for the ending of a file name, without the dot: `jpeg`. */
export function isFileEnding(ending: string): boolean {
  return isEnding(ending.toLowerCase());
}

function isEnding(text: string): boolean {
  return PLAIN.has(text) || typeForExtension(ENDINGS[text] ?? text) !== undefined;
}

/** The name of the second, third, … file that share one name. */
export function numbered(name: string, index: number): string {
  if (index < 2) return name;
  const [, base = name, ending] = ENDING.exec(name) ?? [];
  return cleanFileName(`${base}-${index}${ending === undefined ? '' : `.${ending}`}`);
}
