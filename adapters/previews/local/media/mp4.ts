import type { ContentFacts } from '../../../../gateway/ports/previewer.js';
import type { Ranges } from '../content/ranges.js';

/** Boxes at the top level that are looked at; a fragmented file has thousands after its first ones. */
const MOST_BOXES = 16;
/** The beginning of `moov`, which holds the headers of the movie and its first tracks. */
const MOVIE_BYTES = 512 * 1024;
const HEADER_BYTES = 16;

interface Box {
  name: string;
  /** Where the content begins and ends. */
  start: number;
  end: number;
}

/** ISO/IEC 14496-12: the box `moov`, which may be the last of the file. */
export async function factsOfMp4(file: Ranges): Promise<ContentFacts> {
  let at = 0;
  for (let count = 0; count < MOST_BOXES && at + 8 <= file.size; count++) {
    const box = boxAt(await file.read(at, HEADER_BYTES), 0, file.size - at);
    if (box === undefined) return {};
    if (box.name === 'moov')
      return factsOfMovie(await file.read(at + box.start, Math.min(box.end - box.start, MOVIE_BYTES)));
    at += box.end;
  }
  return {};
}

function factsOfMovie(movie: Buffer): ContentFacts {
  const facts: ContentFacts = {};
  for (const box of boxesIn(movie)) {
    const content = movie.subarray(box.start, box.end);
    if (box.name === 'mvhd') Object.assign(facts, durationIn(content));
    if (box.name !== 'trak') continue;
    const [header] = [...boxesIn(content)].filter(({ name }) => name === 'tkhd');
    const pixels = header && pixelsIn(content.subarray(header.start, header.end));
    if (pixels && !facts.pixels) facts.pixels = pixels;
  }
  return facts;
}

function* boxesIn(bytes: Buffer): Generator<Box> {
  for (let at = 0; at + 8 <= bytes.length; ) {
    const box = boxAt(bytes, at, bytes.length - at);
    if (box === undefined) return;
    yield { ...box, start: at + box.start, end: Math.min(at + box.end, bytes.length) };
    at += box.end;
  }
}

/** The box at `at`, its places counted from there. @param rest bytes to the end of what holds it */
function boxAt(bytes: Buffer, at: number, rest: number): Box | undefined {
  if (at + 8 > bytes.length) return undefined;
  const [short, name] = [bytes.readUInt32BE(at), bytes.toString('latin1', at + 4, at + 8)];
  if (short === 0) return { name, start: 8, end: rest };
  if (short !== 1) return short < 8 ? undefined : { name, start: 8, end: short };
  if (at + HEADER_BYTES > bytes.length) return undefined;
  const long = bytes.readBigUInt64BE(at + 8);
  return long < 16n || long > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : { name, start: 16, end: Number(long) };
}

/** `mvhd`, of version 0 or 1. */
function durationIn(header: Buffer): ContentFacts {
  const isLong = header.length > 0 && header.readUInt8(0) === 1;
  if (header.length < (isLong ? 32 : 20)) return {};
  const scale = header.readUInt32BE(isLong ? 20 : 12);
  const duration = isLong ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16);
  return scale > 0 ? { seconds: duration / scale } : {};
}

/** `tkhd`: the size is in its last eight bytes, as fixed-point numbers; a track of sound has none. */
function pixelsIn(header: Buffer): ContentFacts['pixels'] {
  if (header.length < 84) return undefined;
  const [width, height] = [
    header.readUInt32BE(header.length - 8) >>> 16,
    header.readUInt32BE(header.length - 4) >>> 16,
  ];
  return width > 0 && height > 0 ? { width, height } : undefined;
}
