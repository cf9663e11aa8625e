import type { Readable } from 'node:stream';
import type { PreviewRefusal } from '../../../gateway/ports/previewer.js';
import { encodeData, encodeFrame } from './frames.js';
import { MAGIC_BYTES, rasterFormat } from './image/format.js';
import { needsAll, type PreviewKind } from './kinds.js';

type Frame = readonly Buffer[];

/** A file on its way to the process. */
interface Feed {
  source: Readable;
  kind: PreviewKind;
  /** Most bytes of it. */
  maxSource: number;
  /** Called with each of its chunks once that is with the process. */
  release?: ((chunk: Buffer) => void) | undefined;
  /** Called with the reason when the rest is not sent. */
  refuse: (reason: PreviewRefusal) => void;
}

/**
 * The frames of a file, or of a range of it, each in the buffers that it consists of. A source that cannot be used is
 * cancelled: the process stays usable.
 */
export async function* frames(feed: Feed): AsyncGenerator<Frame> {
  let reason: PreviewRefusal | undefined;
  try {
    reason = yield* needsAll(feed.kind) ? checkedFrames(feed) : dataFrames(feed);
  } catch {
    reason = 'aborted';
  }
  if (reason !== undefined) feed.refuse(reason);
  yield [encodeFrame(reason === undefined ? 'end' : 'cancel')];
}

async function* dataFrames({ source, maxSource, release }: Feed): AsyncGenerator<Frame, PreviewRefusal | undefined> {
  let total = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > maxSource) return 'too-large';
    yield* encodeData(chunk);
    release?.(chunk);
  }
  return undefined;
}

/** Nothing of what its first bytes show to be something else is sent. */
async function* checkedFrames({
  source,
  kind,
  maxSource,
  release,
}: Feed): AsyncGenerator<Frame, PreviewRefusal | undefined> {
  let head: Buffer | undefined = Buffer.alloc(0);
  let total = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > maxSource) return 'too-large';
    if (head === undefined) {
      yield* encodeData(chunk);
      release?.(chunk);
      continue;
    }
    head = Buffer.concat([head, chunk]);
    release?.(chunk);
    if (head.length < MAGIC_BYTES) continue;
    if (!isOf(kind, head)) return 'unsupported';
    yield* encodeData(head);
    head = undefined;
  }
  // A file of less than MAGIC_BYTES is neither.
  return head === undefined ? undefined : 'unsupported';
}

function isOf(kind: PreviewKind, head: Buffer): boolean {
  return kind === 'document' ? head.toString('latin1', 0, 5) === '%PDF-' : rasterFormat(head) !== undefined;
}
