import { crc32 } from 'node:zlib';

/** Files made by hand, so that they can lie. */

interface ZipFacts {
  /** What the directory's end claims; the number of names unless given. */
  entries?: number;
  /** Writes the large form, which has no limit of 65,535 entries. */
  large?: boolean;
  flags?: number;
  comment?: string;
}

/** A ZIP of empty files: only its directory, at the place that its end says. */
export function zip(
  names: readonly (string | Buffer)[],
  { entries, large, flags = 0x0800, comment = '' }: ZipFacts = {},
) {
  const files = names.map((name) => {
    const bytes = Buffer.from(name as string);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(flags, 8);
    entry.writeUInt32LE(crc32(Buffer.alloc(0)), 16);
    entry.writeUInt16LE(bytes.length, 28);
    return Buffer.concat([entry, bytes]);
  });
  const start = Buffer.from('PK\x03\x04 and what else stands before the directory', 'latin1');
  const directory = Buffer.concat(files);
  const count = entries ?? names.length;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(large ? 0xffff : count, 10);
  end.writeUInt32LE(large ? 0xffffffff : directory.length, 12);
  end.writeUInt32LE(large ? 0xffffffff : start.length, 16);
  end.writeUInt16LE(Buffer.byteLength(comment), 20);
  const parts = [start, directory];
  if (large) {
    const end64 = Buffer.alloc(56 + 20);
    end64.writeUInt32LE(0x06064b50, 0);
    end64.writeBigUInt64LE(BigInt(count), 32);
    end64.writeBigUInt64LE(BigInt(directory.length), 40);
    end64.writeBigUInt64LE(BigInt(start.length), 48);
    end64.writeUInt32LE(0x07064b50, 56);
    end64.writeBigUInt64LE(BigInt(start.length + directory.length), 64);
    parts.push(end64);
  }
  return Buffer.concat([...parts, end, Buffer.from(comment)]);
}

/** A sound of `seconds` at 8,000 bytes a second; the chunk claims `claimed` bytes. */
export function wave(seconds: number, claimed = seconds * 8000): Buffer {
  const head = Buffer.from(
    'RIFF....WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data....',
    'latin1',
  );
  head.writeUInt32LE(36 + seconds * 8000, 4);
  head.writeUInt32LE(claimed, 40);
  return Buffer.concat([head, Buffer.alloc(seconds * 8000, 128)]);
}

export function flac(rate: number, samples: number): Buffer {
  const head = Buffer.alloc(42);
  head.write('fLaC\0\0\0\x22', 'latin1');
  head.writeUIntBE(rate << 4, 18, 3);
  head.writeUInt8(Math.floor(samples / 2 ** 32) | 0xf0, 21);
  head.writeUInt32BE(samples >>> 0, 22);
  return head;
}

/** Two pages: the first packet, and an empty last page at `position`. */
export function ogg(packet: Buffer, position: bigint): Buffer {
  const page = (at: bigint, content: Buffer) => {
    const head = Buffer.alloc(28);
    head.write('OggS', 'latin1');
    head.writeBigInt64LE(at, 6);
    head.writeUInt8(1, 26);
    head.writeUInt8(content.length, 27);
    return Buffer.concat([head, content]);
  };
  return Buffer.concat([page(0n, packet), page(position, Buffer.alloc(9))]);
}

export function opusHead(preSkip: number): Buffer {
  const packet = Buffer.from('OpusHead\x01\x02..\x80\xbb\0\0\0\0\0', 'latin1');
  packet.writeUInt16LE(preSkip, 10);
  return packet;
}

export function vorbisHead(rate: number): Buffer {
  const packet = Buffer.alloc(30);
  packet.write('\x01vorbis', 'latin1');
  packet.writeUInt32LE(rate, 12);
  return packet;
}

/** An MPEG-1 layer III frame of 44.1 kHz with a table of Xing, after a tag of `tagged` bytes. */
export function mp3(frames: number, tagged = 0): Buffer {
  const frame = Buffer.alloc(417);
  frame.writeUInt32BE(0xfffb9000, 0);
  frame.write('Xing\0\0\0\x01', 36, 'latin1');
  frame.writeUInt32BE(frames, 44);
  if (tagged === 0) return frame;
  const tag = Buffer.alloc(10 + tagged);
  tag.write('ID3\x04\0\0', 'latin1');
  for (let at = 0; at < 4; at++) tag.writeUInt8((tagged >> (7 * (3 - at))) & 0x7f, 6 + at);
  return Buffer.concat([tag, frame]);
}

function box(name: string, ...content: Buffer[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.reduce((sum, { length }) => sum + length, 0), 0);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, ...content]);
}

/** A movie whose `moov` comes last, as cameras write it. */
export function mp4(seconds: number, { width, height }: { width: number; height: number }): Buffer {
  const movie = Buffer.alloc(100);
  movie.writeUInt32BE(1000, 12);
  movie.writeUInt32BE(seconds * 1000, 16);
  const track = Buffer.alloc(84);
  track.writeUInt32BE(width * 65_536, 76);
  track.writeUInt32BE(height * 65_536, 80);
  const sound = box('trak', box('tkhd', Buffer.alloc(84)));
  const moov = box('moov', box('mvhd', movie), sound, box('trak', box('tkhd', track)));
  return Buffer.concat([box('ftyp', Buffer.from('isom\0\0\x02\0')), box('mdat', Buffer.alloc(300_000)), moov]);
}

/** WebM: the segment has no known length, as a browser records it. */
export function webm(seconds: number): Buffer {
  const duration = Buffer.alloc(11);
  duration.write('\x44\x89\x88', 'latin1');
  duration.writeDoubleBE(seconds * 1000, 3);
  const scale = Buffer.from('\x2a\xd7\xb1\x83\x0f\x42\x40', 'latin1');
  const info = Buffer.concat([
    Buffer.from([0x15, 0x49, 0xa9, 0x66, 0x80 | (scale.length + duration.length)]),
    scale,
    duration,
  ]);
  const head = Buffer.from('\x1a\x45\xdf\xa3\x84\x42\x82\x81w', 'latin1');
  return Buffer.concat([head, Buffer.from('\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff', 'latin1'), info]);
}
