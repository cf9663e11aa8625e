import { inSight } from '../../../in-sight.js';
import { prettyJson } from '../../../json/pretty.js';
import { isObject, textIn } from '../../../json/value.js';
import { sizeText } from '../../../policy/amounts.js';
import type { JsonObject, JsonValue } from '../../../ports/json.js';
import { INPUT_REQUIRED } from '../../../relay/asking/rounds/wants-input.js';
import { FILES_META_KEY } from '../../../relay/cut/places.js';
import { shown } from '../../browser/shown.js';

/** Most blocks of a result that are shown, and most characters of one and of all of them. */
const MAX_BLOCKS = 50;
const MAX_TEXT = 20_000;
const MAX_TEXTS = 200_000;

/** Most bytes of base64 of one picture that is shown, and of all of them: previews of Wharf's have a tenth. */
const MAX_PICTURE = 1_400_000;
const MAX_PICTURES = 3_000_000;

/** Most files that are listed, and characters of a name or an address. */
const MAX_FILES = 50;
const MAX_NAME = 300;

/** Pictures that a browser shows and that hold no script. */
const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif)$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** A content block of a result, for a page. */
export type ShownBlock =
  | { kind: 'text'; title: string; text: string; isCut: boolean }
  | { kind: 'picture'; title: string; source: string }
  | { kind: 'note'; title: string; text: string };

/** A file that came out of a result. */
export interface ShownFile {
  name: string;
  about: string;
  handle: string;
  /** A link of Wharf's own; absent: what stands there is not one. */
  url: string | undefined;
}

/** A result for a page, cut to a bounded size. */
export interface ShownResult {
  isError: boolean;
  /** It asks for something first, instead of being a result. */
  isQuestion: boolean;
  blocks: readonly ShownBlock[];
  /** Blocks that are left out. */
  more: number;
  structured: { text: string; isCut: boolean } | undefined;
  files: readonly ShownFile[];
}

/** A result as a person looks at it. */
export function shownResult(result: JsonObject): ShownResult {
  const content = Array.isArray(result.content) ? result.content : [];
  const room = { texts: MAX_TEXTS, pictures: MAX_PICTURES };
  const { structuredContent: structured } = result;
  return {
    isError: result.isError === true,
    isQuestion: result.resultType === INPUT_REQUIRED,
    blocks: content.slice(0, MAX_BLOCKS).map((block) => shownBlock(block, room)),
    more: Math.max(0, content.length - MAX_BLOCKS),
    structured: structured === undefined ? undefined : prettyJson(structured, MAX_TEXTS),
    files: filesOf(result),
  };
}

interface Room {
  texts: number;
  pictures: number;
}

function shownBlock(block: JsonValue, room: Room): ShownBlock {
  if (!isObject(block)) return { kind: 'note', title: 'Not a block', text: prettyJson(block, MAX_NAME).text };
  const { type } = block;
  if (type === 'text') return textBlock('Text', textIn(block, 'text') ?? '', room);
  if (type === 'image' || type === 'audio') return media(type === 'image' ? 'Image' : 'Audio', block, room);
  if (type === 'resource_link') {
    const about = [textIn(block, 'mimeType'), sizeOf(block.size), textIn(block, 'uri')];
    return { kind: 'note', title: `Link: ${nameOf(block)}`, text: lineOf(about) };
  }
  if (type === 'resource' && isObject(block.resource)) return resource(block.resource, room);
  const text = prettyJson(block, Math.min(MAX_TEXT, Math.max(0, room.texts)));
  room.texts -= text.text.length;
  return { kind: 'text', title: `Block of type ${shown(String(type), MAX_NAME)}`, ...text };
}

function textBlock(title: string, text: string, room: Room): ShownBlock {
  const most = Math.min(MAX_TEXT, Math.max(0, room.texts));
  const whole = inSight(text.slice(0, most).replaceAll('\r\n', '\n'));
  const part = whole.slice(0, most);
  room.texts -= part.length;
  return { kind: 'text', title, text: part, isCut: text.length > most || whole.length > most };
}

function media(title: string, block: JsonObject, room: Room): ShownBlock {
  const mimeType = textIn(block, 'mimeType') ?? 'unknown type';
  const data = textIn(block, 'data') ?? '';
  const size = sizeText(Math.floor((data.length * 3) / 4));
  const about = `${title}: ${shown(mimeType, MAX_NAME)}, ${size}`;
  const isShown =
    title === 'Image' && data.length <= MAX_PICTURE && data.length <= room.pictures && PICTURE.test(mimeType);
  if (!isShown || !BASE64.test(data)) return { kind: 'note', title: about, text: 'It is not shown here.' };
  room.pictures -= data.length;
  return { kind: 'picture', title: about, source: `data:${mimeType};base64,${data}` };
}

function resource(inner: JsonObject, room: Room): ShownBlock {
  const uri = shown(textIn(inner, 'uri') ?? '', MAX_NAME);
  const text = textIn(inner, 'text');
  if (text !== undefined) return textBlock(`Resource ${uri}`, text, room);
  const size = sizeText(Math.floor(((textIn(inner, 'blob') ?? '').length * 3) / 4));
  return { kind: 'note', title: `Resource ${uri}`, text: lineOf([textIn(inner, 'mimeType'), size]) };
}

function filesOf({ _meta }: JsonObject): ShownFile[] {
  const listed = isObject(_meta) && Array.isArray(_meta[FILES_META_KEY]) ? _meta[FILES_META_KEY] : [];
  return listed
    .filter(isObject)
    .slice(0, MAX_FILES)
    .map((file) => {
      const url = textIn(file, 'url');
      return {
        name: nameOf(file),
        about: lineOf([textIn(file, 'mimeType'), sizeOf(file.size), untilOf(textIn(file, 'expiresAt'))]),
        handle: shown(textIn(file, 'uri') ?? '', MAX_NAME),
        // no other scheme may become a link
        url: url !== undefined && /^https?:\/\//.test(url) ? url : undefined,
      };
    });
}

function nameOf(about: JsonObject): string {
  return shown(textIn(about, 'title') ?? textIn(about, 'name') ?? 'without a name', MAX_NAME);
}

function sizeOf(size: JsonValue | undefined): string | undefined {
  return typeof size === 'number' ? sizeText(size) : undefined;
}

function untilOf(time: string | undefined): string | undefined {
  return time === undefined ? undefined : `link works until ${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}

function lineOf(parts: readonly (string | undefined)[]): string {
  return parts.flatMap((part) => (part === undefined ? [] : [shown(part, MAX_NAME)])).join(', ');
}
