import { createHash, randomBytes } from 'node:crypto';

/**
 * A chain of lines, each with the hash of the one before it, so that a line that was changed, moved or taken out is
 * seen. A line is one JSON object: `seq` counts up by one, `chain` names the chain, `prev` is the hash of the line
 * before, and `hash`, its last member, is the SHA-256 of all bytes of the line before `,"hash"`, base64url.
 */
export interface ChainEnd {
  readonly chain: string;
  /** Of the last line; 0 of a chain without lines. */
  readonly seq: number;
  /** Of the last line. */
  readonly hash: string;
}

/** What a line says about its place. */
export interface Link extends ChainEnd {
  readonly prev: string;
  /** ISO 8601. */
  readonly time: string;
}

/** `prev` of the first line of a chain. */
const NO_HASH = 'A'.repeat(43);

/** `s`, because a peer's text may hold U+2028, at which a dot stops otherwise. */
const LINE =
  /^\{"seq":(\d{1,15}),"chain":"([\w-]{1,40})","time":"([^"]{1,40})",.*,"prev":"([\w-]{43})","hash":"([\w-]{43})"\}$/s;

const HASH_AT = ',"hash":"';

/** The longest line that is written, with room to spare: longer ones are not lines of a chain. Bytes. */
export const MOST_LINE = 65_536;

/** The end of a chain that has no line yet, with a random name. */
export function newChain(): ChainEnd {
  return { chain: `c_${randomBytes(12).toString('base64url')}`, seq: 0, hash: NO_HASH };
}

/**
 * The next line, without its line end.
 * @param members of the JSON object, of which the first is `time`: `"time":"…","what":"call"`
 */
export function nextLine(end: ChainEnd, members: string): { line: string; end: ChainEnd } {
  const seq = end.seq + 1;
  const text = `${lineBegin({ seq, chain: end.chain })}${members},"prev":"${end.hash}"`;
  const hash = hashOf(text);
  return { line: `${text}${HASH_AT}${hash}"}`, end: { chain: end.chain, seq, hash } };
}

/** The begin of a line, which no other line has. */
export function lineBegin({ seq, chain }: { seq: number; chain: string }): string {
  return `{"seq":${seq},"chain":"${chain}",`;
}

/** What a line says about its place; undefined if it is not a line of a chain, or not as it was written. */
export function readLine(line: string): Link | undefined {
  const [, seq, chain = '', time = '', prev = '', hash = ''] = LINE.exec(line) ?? [];
  if (seq === undefined || hashOf(line.slice(0, line.lastIndexOf(HASH_AT))) !== hash) return undefined;
  return { seq: Number(seq), chain, time, prev, hash };
}

/** Whether a line is the next one. */
export function follows(end: ChainEnd, link: Link): boolean {
  return link.chain === end.chain && link.seq === end.seq + 1 && link.prev === end.hash;
}

/** Whether a line is the first of its chain. */
export function isFirst({ seq, prev }: Link): boolean {
  return seq === 1 && prev === NO_HASH;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
