import type sharpModule from 'sharp';
import { namesOf } from './content/archive.js';
import { firstLines } from './content/first-lines.js';
import type { Ranges } from './content/ranges.js';
import { firstPage } from './document/first-page.js';
import { render } from './image/render.js';
import { factsOfRecording } from './media/recording.js';
import type { Job, RenderResult } from './protocol.js';

/** A file in the render process: all of its bytes, or the ranges that are asked for. */
interface HeldFile {
  bytes: Buffer;
  ranges: Ranges;
}

/** The preview of a file of any kind. Never rejects because of what the file contains. */
export async function preview(sharp: typeof sharpModule, job: Job, file: HeldFile): Promise<RenderResult> {
  try {
    switch (job.kind) {
      case 'image':
        return await render(sharp, file.bytes, job);
      case 'document':
        return await firstPage(sharp, file.bytes, job);
      case 'text':
        return await firstLines(file.ranges, job);
      case 'archive':
        return await namesOf(file.ranges, job);
      case 'recording':
        return await factsOfRecording(file.ranges);
    }
  } catch (error) {
    return { kind: 'refused', reason: 'invalid', detail: error instanceof Error ? error.message.slice(0, 500) : '' };
  }
}
