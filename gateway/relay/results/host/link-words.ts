import { isMediaType } from '../../../files/names/media-type.js';
import { isObject } from '../../../json/value.js';
import { sizeText } from '../../../policy/amounts.js';
import { fileLine, handleLine } from '../../../policy/file-words.js';
import { inPlainSight } from '../../../policy/plain-sight.js';
import type { HandleUses } from '../../../ports/dialect.js';
import type { Host, ShownText } from '../../../ports/host.js';
import type { JsonObject, JsonPath, JsonValue } from '../../../ports/json.js';
import { pointer } from '../../../wire/json/pointer.js';
import type { LinkContext } from '../translate-context.js';
import { isAddress, textOfBlock } from './embedded-text.js';
import { linesOf } from './shortened-text.js';

/** Bytes that the words for all links of one result may have. */
const MOST = 32 * 1024;

/** The part of what a host shows of a result that they may take: the rest is for the server's own words. */
const SHARE = 0.5;

/**
 * Characters of a message that are searched for addresses: a server decides how many links and how much text it has, and each
 * link is looked for in all texts of its result. What is not looked for is said twice.
 */
const MOST_SEARCHED = 4 * 1024 * 1024;

/** What a block of text has around its words. */
const ROOM_OF_BLOCK = 100;

/** A block of a result. */
interface Block {
  path: JsonPath;
  block: JsonObject;
}

/** Where the words for a link of the server's stand. */
export type Telling = 'before' | 'instead';

/** Whether words say what links of servers do, because the model is not shown them: some hosts keep only the texts of an error. */
export function tellsLinks(host: Host | undefined, isError: boolean): Telling | undefined {
  const { resourceLinks, errorImages } = host ?? {};
  const hasOnlyTexts = isError && errorImages === 'drop';
  if (resourceLinks === 'as-text') return 'instead';
  // where a link becomes a text in errors too, as in Claude Code 2.1.332, the model would read it twice
  if (hasOnlyTexts && resourceLinks === 'drop') return 'instead';
  return resourceLinks === 'with-text' || hasOnlyTexts ? 'before' : undefined;
}

/** True for a link to a resource. */
export function isLink(block: JsonValue | undefined): block is JsonObject {
  return isObject(block) && block.type === 'resource_link';
}

/** What is said of the links of a message to a model that is not shown them. */
export class LinkWords {
  readonly #context: LinkContext;
  /** By the places of the links. */
  readonly #handles: ReadonlyMap<string, string>;
  #toldCount = 0;
  #searched = 0;

  constructor(context: LinkContext) {
    this.#context = context;
    this.#handles = new Map(
      context.links.map(({ about, result, index }) => [pointer([...result, 'content', index]), String(about.uri)]),
    );
  }

  /**
   * The words for the links of one result. A link that a text of the result names already, or the words for another link, has
   * none. What would make the message too long is left out.
   * @param telling `instead`: a link without words is empty here, and goes; a first block never does, nor one with a handle
   * @param texts all texts of the result
   * @param limit how much text the host shows of it
   */
  of(
    blocks: readonly Block[],
    telling: Telling,
    { texts, limit }: { texts: readonly string[]; limit: ShownText | undefined },
  ): ReadonlyMap<JsonObject, string> {
    const { limits, uses, room } = this.#context;
    const words = new Map<JsonObject, string>();
    const shown = new WordRoom(limit);
    const known = new Set<JsonValue | undefined>();
    /** Links without words, and the first of them. */
    let left: { block: JsonObject; before: JsonObject | undefined; count: number } | undefined;
    for (const [index, { path, block }] of blocks.entries()) {
      if (!isLink(block)) continue;
      const handle = this.#handles.get(pointer(path));
      const mayGo = telling === 'before' || left !== undefined || (handle === undefined && path.at(-1) !== 0);
      const isKnown = mayGo && known.has(block.uri);
      // several long addresses are out of the message, and empty here
      if (block.uri !== '') known.add(block.uri);
      if (left && !isKnown) left.count += 1;
      if (mayGo && (isKnown || left || this.#areIn(texts, marksOf(block)))) {
        if (telling === 'instead') words.set(block, '');
        continue;
      }
      const before = blocks[index - 1]?.block;
      const text = apart(wordsOf(block, handle, uses), before);
      const isTold = this.#toldCount < limits.files && shown.take(text) && room.take(sizeOf(block, text, telling));
      if (!isTold) left = { block, before, count: 1 };
      else {
        words.set(block, text);
        this.#toldCount += 1;
      }
    }
    const more = left && apart(moreText(left.count), left.before);
    if (left && more !== undefined && room.take(sizeOf(left.block, more, telling))) words.set(left.block, more);
    return words;
  }

  #areIn(texts: readonly string[], marks: readonly string[]): boolean {
    const length = marks.length * texts.reduce((sum, text) => sum + text.length, 0);
    if (this.#searched + length > MOST_SEARCHED) return false;
    this.#searched += length;
    return texts.some((text) => marks.some((mark) => text.includes(mark)));
  }
}

/** Bytes that the words for a link add to the message. */
function sizeOf(block: JsonObject, text: string, telling: Telling): number {
  const { annotations } = block;
  const about = annotations === undefined ? '' : JSON.stringify(annotations);
  const size = ROOM_OF_BLOCK + Buffer.byteLength(JSON.stringify(text)) + Buffer.byteLength(about);
  return telling === 'before' ? size : size - Buffer.byteLength(JSON.stringify(block));
}

/** On lines of its own: Copilot CLI puts nothing between two texts, and each may end with an address. */
function apart(text: string, before: JsonObject | undefined): string {
  const last = before && textOfBlock(before);
  return `${last === undefined || last.endsWith('\n') ? '' : '\n'}${text}\n`;
}

/** What a text that names the link has in it. */
function marksOf(block: JsonObject): string[] {
  return [block.uri, anotherLine(block)].filter((mark) => typeof mark === 'string' && mark !== '') as string[];
}

/** What another Wharf says of its link, whose address may be another one in its text. */
function anotherLine({ name, mimeType, size }: JsonObject): string | undefined {
  if (typeof name !== 'string' || typeof mimeType !== 'string' || typeof size !== 'number') return undefined;
  return fileLine({ name, mimeType, size });
}

/** What the words of one result may take. */
class WordRoom {
  #bytes = MOST;
  #lines = Number.POSITIVE_INFINITY;

  constructor(limit: ShownText | undefined) {
    if (limit?.per !== 'result') return;
    this.#bytes = Math.min(MOST, Math.floor(limit.most * SHARE));
    if (limit.lines !== undefined) this.#lines = Math.floor(limit.lines * SHARE);
  }

  take(text: string): boolean {
    this.#bytes -= Buffer.byteLength(text);
    this.#lines -= linesOf(text);
    return this.#bytes >= 0 && this.#lines >= 0;
  }
}

/** One fact a line, and the address alone on its line, so that it can be copied whole. */
function wordsOf(
  { name, title, description, mimeType, size, uri }: JsonObject,
  handle: string | undefined,
  uses: HandleUses | undefined,
): string {
  const [called, named, about] = [title, name, description].map((text) =>
    typeof text === 'string' ? inPlainSight(text) : '',
  );
  const facts = [
    called,
    named === called ? '' : named,
    typeof mimeType === 'string' && isMediaType(mimeType) ? inPlainSight(mimeType) : '',
    Number.isSafeInteger(size) && Number(size) >= 0 ? sizeText(Number(size)) : '',
  ].filter((fact) => fact !== '');
  return [
    ['Link to a resource', facts.join(' · ')].filter((part) => part !== '').join(': '),
    ...(about === '' ? [] : [about]),
    addressLine(uri),
    ...(handle === undefined ? [] : [handleLine(handle, usesOf(uses))]),
  ].join('\n');
}

function addressLine(uri: JsonValue | undefined): string {
  return isAddress(uri)
    ? uri
    : 'Its address is not shown here: it is too long, or has its content or hidden characters in it.';
}

function usesOf({ isTaken, linkTool }: HandleUses = { isTaken: false }): string[] {
  return [
    ...(isTaken ? ['pass it to a tool that takes a file'] : []),
    ...(linkTool === undefined ? [] : [`${linkTool} gives a link to its content`]),
  ];
}

function moreText(count: number): string {
  return `${count === 1 ? 'One more link' : `${count} more links`} of this result ${count === 1 ? 'has' : 'have'} no room here.`;
}
