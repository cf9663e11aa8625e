import type { FinishedWrite, ObjectWriter, ResumableWriter } from '../../../ports/object-store.js';

/**
 * A continued write in the form of an ingest's writer: one object that it begins, fills and commits. Its creator
 * decides what the commit means: the end of the file, or a place to continue from.
 */
export class OneWrite implements ObjectWriter {
  readonly #writer: ResumableWriter;
  /** Bytes of the stored parts. */
  written = 0;
  /** True when the last part ends the file; set before `writeLast`. */
  isEnd = false;
  /** The place saved last. */
  place: string | undefined;
  /** For a completed file. */
  finished: FinishedWrite = { isCertain: false };

  constructor(writer: ResumableWriter) {
    this.#writer = writer;
  }

  async write(part: Buffer): Promise<void> {
    await this.#writer.write(part);
    this.written += part.length;
  }

  async writeLast(part: Buffer): Promise<void> {
    if (this.isEnd) this.finished = await this.#writer.finish(part);
    else this.place = await this.#writer.save(part);
  }

  async commit(): Promise<string | undefined> {
    return this.finished.mark;
  }

  /** Stored bytes stay: the client may continue with them. */
  async abort(): Promise<void> {}
}
