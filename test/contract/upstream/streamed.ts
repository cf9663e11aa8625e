import { createHash } from 'node:crypto';
import type { StreamedMessage } from '../../../gateway/ports/upstream.js';

interface Source extends StreamedMessage {
  /** Lower-case hex sha-256 of the whole message. */
  readonly digest: string;
  /** Bytes handed out, over all readings. */
  readonly pulled: number;
  readonly reads: number;
  /** Readings that were ended, however. */
  readonly ended: number;
}

interface SourceOptions {
  id?: number;
  /** Bytes of each piece; the first and the last are shorter. */
  piece?: number;
  /** Added to what the source says its length is. */
  lie?: number;
  /** Fails after this many pieces. */
  failAfter?: number;
  failure?: unknown;
  /** Milliseconds before each piece. */
  gapMs?: number;
  /** Called with the number of each piece before it is given. */
  before?: (piece: number) => Promise<void> | undefined;
}

const TEXT = Buffer.from(Buffer.alloc(48 * 1024, 'wharf stores files and gives links. ').toString('base64'));

/** A `tools/call` with one argument of `size` bytes of base64 text, given piece by piece. */
export function source(size: number, options: SourceOptions = {}): Source {
  const { id = 1, piece = 100_000, lie = 0, failAfter, failure, gapMs, before } = options;
  const head = Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"x","arguments":{"f":"`);
  const tail = Buffer.from('"}}}');
  const fill = Buffer.alloc(piece);
  for (let at = 0; at < piece; at += TEXT.length) TEXT.copy(fill, at);
  function* pieces(): Generator<Buffer> {
    yield head;
    for (let at = 0; at < size; at += piece) yield fill.subarray(0, Math.min(piece, size - at));
    // nothing is a piece as well
    yield Buffer.alloc(0);
    yield tail;
  }
  const hash = createHash('sha256');
  for (const part of pieces()) hash.update(part);
  const seen = { pulled: 0, reads: 0, ended: 0 };
  return {
    length: head.length + size + tail.length + lie,
    digest: hash.digest('hex'),
    get pulled() {
      return seen.pulled;
    },
    get reads() {
      return seen.reads;
    },
    get ended() {
      return seen.ended;
    },
    async *read() {
      seen.reads += 1;
      let number = 0;
      try {
        for (const part of pieces()) {
          if (number === failAfter) throw failure;
          if (gapMs !== undefined) await new Promise((resolve) => setTimeout(resolve, gapMs));
          await before?.(number);
          number += 1;
          seen.pulled += part.length;
          yield part;
        }
        if (number === failAfter) throw failure;
      } finally {
        seen.ended += 1;
      }
    },
  };
}
