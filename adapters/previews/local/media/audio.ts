import type { ContentFacts } from '../../../../gateway/ports/previewer.js';
import type { Ranges } from '../content/ranges.js';

/** Headers have fewer chunks before the sound. */
const MOST_CHUNKS = 64;
/** A page of Ogg is at most 65,307 bytes, so its last one begins within them. */
const OGG_PAGE_BYTES = 65_307;
/** RFC 7845 §4: positions in Opus are always counted at this rate. */
const OPUS_RATE = 48_000;

/** RIFF: the chunk `fmt ` says how many bytes a second take, the chunk `data` how many there are. */
export function factsOfWave(head: Buffer, size: number): ContentFacts {
  let perSecond = 0;
  let at = 12;
  for (let chunk = 0; chunk < MOST_CHUNKS && at + 8 <= head.length; chunk++) {
    const [name, length] = [head.toString('latin1', at, at + 4), head.readUInt32LE(at + 4)];
    const start = at + 8;
    if (name === 'fmt ' && start + 12 <= head.length) perSecond = head.readUInt32LE(start + 8);
    if (name === 'data') {
      // a recorder that wrote to a pipe could not know the length
      const sound = Math.min(length === 0 ? size : length, size - start);
      return perSecond > 0 ? { seconds: sound / perSecond } : {};
    }
    at = start + length + (length % 2);
  }
  return {};
}

/** RFC 9639 §8.2: 20 bits of sample rate, 8 of other things, 36 of the number of samples. */
export function factsOfFlac(head: Buffer): ContentFacts {
  if (head.length < 26) return {};
  const rate = head.readUIntBE(18, 3) >> 4;
  const samples = (head.readUInt8(21) & 0x0f) * 2 ** 32 + head.readUInt32BE(22);
  return rate > 0 && samples > 0 ? { seconds: samples / rate } : {};
}

/** RFC 3533 §6: the position of the last page; the first one says at which rate it is counted. */
export async function factsOfOgg(head: Buffer, file: Ranges): Promise<ContentFacts> {
  if (head.length < 28) return {};
  const packet = head.subarray(27 + head.readUInt8(26));
  const isOpus = packet.toString('latin1', 0, 8) === 'OpusHead' && packet.length >= 12;
  const isVorbis = packet.toString('latin1', 0, 7) === '\x01vorbis' && packet.length >= 16;
  if (!isOpus && !isVorbis) return {};
  const rate = isOpus ? OPUS_RATE : packet.readUInt32LE(12);
  const skipped = isOpus ? packet.readUInt16LE(10) : 0;
  const start = Math.max(0, file.size - OGG_PAGE_BYTES);
  const tail = await file.read(start, file.size - start);
  const page = tail.lastIndexOf('OggS');
  if (page < 0 || page + 14 > tail.length || rate === 0) return {};
  const samples = Number(tail.readBigInt64LE(page + 6)) - skipped;
  return samples > 0 ? { seconds: samples / rate } : {};
}
