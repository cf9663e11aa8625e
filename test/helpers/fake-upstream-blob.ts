import { createHash } from 'node:crypto';

/** A generated file: the same spec always gives the same bytes, so its digest is known without keeping it. */
export interface BlobSpec {
  /** Decoded bytes. */
  size: number;
  /** Default 1. */
  seed?: number;
  /** Default image/png. For PNG, JPEG and PDF the bytes start as such a file does, so that sniffing agrees. */
  mimeType?: string;
}

/** The bytes repeat after this many. A multiple of 3, so that the base64 text repeats as well. */
const PERIOD = 768 * 1024;

const PNG_HEAD = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  // 1024 × 1024, 8 bits, RGB; the checksum and what follows are noise after a chunk head that sniffers accept
  Buffer.from('00000400000004000802000000f07fbcd400100000', 'hex'),
  Buffer.from('IDAT', 'latin1'),
]);

const MAGIC: Readonly<Record<string, Buffer>> = {
  'image/png': PNG_HEAD,
  'image/jpeg': Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
  'application/pdf': Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1'),
};

const blocks = new Map<string, { bytes: Buffer; text: Buffer }>();

function block(seed: number, magic: Buffer | undefined, name: string): { bytes: Buffer; text: Buffer } {
  const key = `${seed} ${name}`;
  let found = blocks.get(key);
  if (found === undefined) {
    const words = new Uint32Array(PERIOD / 4);
    let x = (seed * 2654435761 + 1) >>> 0 || 1;
    for (let at = 0; at < words.length; at++) {
      x ^= x << 13;
      x ^= x >>> 17;
      x ^= x << 5;
      words[at] = x;
    }
    const bytes = Buffer.from(words.buffer);
    magic?.copy(bytes);
    found = { bytes, text: Buffer.from(bytes.toString('base64'), 'latin1') };
    // A test uses a handful of seeds; a property test that uses thousands must not fill the memory.
    if (blocks.size >= 8) blocks.clear();
    blocks.set(key, found);
  }
  return found;
}

function pick(spec: BlobSpec, first: boolean): { bytes: Buffer; text: Buffer } {
  const mimeType = spec.mimeType ?? 'image/png';
  const magic = first ? MAGIC[mimeType] : undefined;
  return block(spec.seed ?? 1, magic, magic === undefined ? '' : mimeType);
}

/** The decoded bytes, in pieces of up to 768 KiB that must not be written to. */
function* blobChunks(spec: BlobSpec): Generator<Buffer> {
  for (let at = 0; at < spec.size; at += PERIOD) {
    const { bytes } = pick(spec, at === 0);
    yield spec.size - at >= PERIOD ? bytes : bytes.subarray(0, spec.size - at);
  }
}

/** The base64 text, in pieces of up to 1 MiB that must not be written to. */
export function* base64Chunks(spec: BlobSpec): Generator<Buffer> {
  for (let at = 0; at < spec.size; at += PERIOD) {
    const { bytes, text } = pick(spec, at === 0);
    yield spec.size - at >= PERIOD ? text : Buffer.from(bytes.toString('base64', 0, spec.size - at), 'latin1');
  }
}

/** Lower-case hex sha-256 of the decoded bytes; about 0.5 s per GiB. */
export function blobDigest(spec: BlobSpec): string {
  const hash = createHash('sha256');
  for (const chunk of blobChunks(spec)) hash.update(chunk);
  return hash.digest('hex');
}

/** The decoded bytes in one buffer, for small blobs. */
export function blobBytes(spec: BlobSpec): Buffer {
  return Buffer.concat([...blobChunks(spec)]);
}

/** Characters of the base64 text. */
export function base64Length(spec: BlobSpec): number {
  return Math.ceil(spec.size / 3) * 4;
}
