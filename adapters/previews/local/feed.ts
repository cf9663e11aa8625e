import type { Readable } from 'node:stream';
import type { PreviewRefusal } from '../../../gateway/ports/previewer.js';
import { encodeData, encodeFrame } from './frames.js';
import { MAGIC_BYTES, rasterFormat } from './image/format.js';
import type { Job } from './protocol.js';

/**
 * The frames of one job. A source that cannot be rendered is cancelled, which leaves the process usable.
 * @param refuse called with the reason in that case
 */
export async function* frames(
  source: Readable,
  job: Job,
  maxSource: number,
  refuse: (reason: PreviewRefusal) => void,
): AsyncGenerator<Buffer> {
  yield encodeFrame('job', Buffer.from(JSON.stringify(job)));
  let reason: PreviewRefusal | undefined;
  try {
    reason = yield* dataFrames(source, maxSource);
  } catch {
    reason = 'aborted';
  }
  if (reason !== undefined) refuse(reason);
  yield encodeFrame(reason === undefined ? 'end' : 'cancel');
}

async function* dataFrames(source: Readable, maxSource: number): AsyncGenerator<Buffer, PreviewRefusal | undefined> {
  let head: Buffer | undefined = Buffer.alloc(0);
  let total = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > maxSource) return 'too-large';
    if (head === undefined) {
      yield* encodeData(chunk);
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < MAGIC_BYTES) continue;
    if (rasterFormat(head) === undefined) return 'unsupported';
    yield* encodeData(head);
    head = undefined;
  }
  // An image of less than MAGIC_BYTES cannot be one.
  return head === undefined ? undefined : 'unsupported';
}
