import type { ContentFacts } from '../../../../gateway/ports/previewer.js';
import type { Ranges } from '../content/ranges.js';

/** A frame with the tables of Xing or VBRI. */
const FRAME_BYTES = 1500;
/** Padding between tags and sound is skipped up to here. */
const MOST_PADDING = 4096;
const RATES = [44_100, 48_000, 32_000];

interface Frame {
  /** Samples a second. */
  rate: number;
  samples: number;
  /** Where the table of Xing would be, from the frame's beginning. */
  xing: number;
}

/** The number of frames that an encoder has written into the first one. Without it the duration is not known. */
export async function factsOfMp3(head: Buffer, file: Ranges): Promise<ContentFacts | undefined> {
  const tagged = tagBytes(head);
  const bytes = tagged === 0 ? head : await file.read(tagged, MOST_PADDING + FRAME_BYTES);
  for (let at = 0; at < Math.min(MOST_PADDING, bytes.length - 4); at++) {
    const frame = frameAt(bytes, at);
    if (frame === undefined) continue;
    const frames = framesIn(bytes.subarray(at), frame);
    return frames === undefined ? {} : { seconds: (frames * frame.samples) / frame.rate };
  }
  return undefined;
}

/** ID3v2: ten bytes, of which four hold the length in seven bits each. */
function tagBytes(head: Buffer): number {
  if (head.length < 10 || head.toString('latin1', 0, 3) !== 'ID3') return 0;
  return 10 + [6, 7, 8, 9].reduce((length, at) => length * 128 + (head.readUInt8(at) & 0x7f), 0);
}

/** The header of a frame of layer III. */
function frameAt(bytes: Buffer, at: number): Frame | undefined {
  const header = bytes.readUInt32BE(at);
  // eleven bits of synchronisation, and layer III
  if (header >>> 21 !== 0x7ff || ((header >>> 17) & 3) !== 1) return undefined;
  const [version, bitrate, rate] = [(header >>> 19) & 3, (header >>> 12) & 15, RATES[(header >>> 10) & 3]];
  if (version === 1 || bitrate === 15 || bitrate === 0 || rate === undefined) return undefined;
  const [isFirst, isMono] = [version === 3, ((header >>> 6) & 3) === 3];
  const side = isFirst ? (isMono ? 17 : 32) : isMono ? 9 : 17;
  return { rate: isFirst ? rate : rate / (version === 2 ? 2 : 4), samples: isFirst ? 1152 : 576, xing: 4 + side };
}

function framesIn(bytes: Buffer, { xing }: Frame): number | undefined {
  const name = bytes.toString('latin1', xing, xing + 4);
  if ((name === 'Xing' || name === 'Info') && bytes.length >= xing + 12) {
    const hasFrames = (bytes.readUInt32BE(xing + 4) & 1) === 1;
    return hasFrames ? bytes.readUInt32BE(xing + 8) : undefined;
  }
  const isVbri = bytes.toString('latin1', 36, 40) === 'VBRI' && bytes.length >= 54;
  return isVbri ? bytes.readUInt32BE(50) : undefined;
}
