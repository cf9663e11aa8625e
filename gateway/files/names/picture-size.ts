import { pictureType } from './picture-type.js';

/** Bytes up to the end of the size, in all types but JPEG. */
const LEAST_HEAD = 30;
/** Bytes from a frame's marker to the end of its size. */
const FRAME_BYTES = 9;
/** The markers of JPEG that begin a frame, which has the picture's size: all from 0xc0 to 0xcf but three. */
const [FIRST_FRAME, LAST_FRAME] = [0xc0, 0xcf];
const NO_FRAME = new Set([0xc4, 0xc8, 0xcc]);

/**
 * The longer edge of a PNG, JPEG, GIF or WebP in pixels, as its head says it.
 * @param head the first bytes of a file, or all of them
 * @returns undefined for everything else, and for a JPEG whose size comes later
 */
export function longestEdge(head: Buffer): number | undefined {
  const edges = head.length < LEAST_HEAD ? undefined : edgesOf(head);
  return edges && Math.max(...edges);
}

/** True for the head of a JPEG that ends before the picture's size: a colour profile or a thumbnail may be long. */
export function hasLateSize(head: Buffer): boolean {
  return pictureType(head)?.ext === 'jpg' && jpegEdges(head) === undefined;
}

function edgesOf(head: Buffer): [number, number] | undefined {
  switch (pictureType(head)?.ext) {
    case 'png':
      return [head.readUInt32BE(16), head.readUInt32BE(20)];
    case 'gif':
      return [head.readUInt16LE(6), head.readUInt16LE(8)];
    case 'jpg':
      return jpegEdges(head);
    case 'webp':
      return webpEdges(head);
    default:
      return undefined;
  }
}

function jpegEdges(head: Buffer): [number, number] | undefined {
  for (let at = 2; at + FRAME_BYTES <= head.length && head[at] === 0xff; ) {
    const marker = head[at + 1] ?? 0;
    if (marker >= FIRST_FRAME && marker <= LAST_FRAME && !NO_FRAME.has(marker))
      return [head.readUInt16BE(at + 7), head.readUInt16BE(at + 5)];
    // a marker may have any number of 0xff before it
    at += marker === 0xff ? 1 : 2 + head.readUInt16BE(at + 2);
  }
  return undefined;
}

/** The three kinds of WebP each have their size elsewhere; two of them write it less one. */
function webpEdges(head: Buffer): [number, number] | undefined {
  switch (head.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return [head.readUInt16LE(26) & 0x3fff, head.readUInt16LE(28) & 0x3fff];
    case 'VP8L': {
      const bits = head.readUInt32LE(21);
      return [1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff)];
    }
    case 'VP8X':
      return [1 + head.readUIntLE(24, 3), 1 + head.readUIntLE(27, 3)];
    default:
      return undefined;
  }
}
