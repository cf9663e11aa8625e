import type { Readable } from 'node:stream';
import type { Log } from '../../../gateway/ports/log.js';

/** Bytes kept of one line; the rest of the line is dropped. */
const LINE_BYTES = 8 * 1024;

/** Lines of one process that are logged per second, and of all processes of a server; further ones are counted. */
const LINES_PER_SECOND = 50;
const LINES_OF_ALL = 200;

/** How many lines the processes of one server have had logged in this second. */
export class StderrRoom {
  #lines = 0;
  #isCounting = false;

  /** @returns whether there is room for one more */
  take(): boolean {
    if (this.#lines >= LINES_OF_ALL) return false;
    this.#lines++;
    if (!this.#isCounting) {
      this.#isCounting = true;
      setTimeout(() => {
        this.#lines = 0;
        this.#isCounting = false;
      }, 1000).unref();
    }
    return true;
  }
}

/**
 * Once no more are logged, only the last lines of what came at one time are looked at: a chunk of 32,000 short lines held the
 * event loop for 70 ms, and up to 32 chunks come in one turn.
 */
const LAST_LINES = 100;

/** The last lines, which usually say why a process ended, and how much of each is shown. */
const TAIL_LINES = 10;
const TAIL_LINE_CHARS = 500;

/** A frame of a stack in JavaScript or Java: of those there are many, and what happened stands above them. */
const FRAME = /^\s+at /;

const NEWLINE = 0x0a;

/**
 * Logs a child's stderr lines: MCP leaves stderr free for logging (2025-11-25, stdio). It is always read, because a
 * full pipe would block the child, and bounded in every way, because the child is not trusted.
 */
export class StderrLog {
  readonly #log: Log;
  readonly #room: StderrRoom;
  readonly #tail: string[] = [];
  #line: Buffer[] = [];
  #lineBytes = 0;
  #logged = 0;
  #dropped = 0;
  #window: NodeJS.Timeout | undefined;

  constructor(stderr: Readable, log: Log, room: StderrRoom) {
    this.#log = log;
    this.#room = room;
    stderr.on('data', (chunk: Buffer) => this.#read(chunk));
    stderr.on('end', () => this.#endLine());
    stderr.on('error', () => undefined);
    stderr.on('close', () => {
      // it may be closed without an end
      this.#endLine();
      this.#endWindow(true);
    });
  }

  /** The last lines, for the cause of an error. */
  get tail(): string {
    return this.#tail.join('\n');
  }

  #read(chunk: Buffer): void {
    let start = 0;
    let isPassed = false;
    for (;;) {
      if (!isPassed && this.#logged >= LINES_PER_SECOND) {
        isPassed = true;
        start = this.#passOver(chunk, start);
      }
      const end = chunk.indexOf(NEWLINE, start);
      if (end === -1) break;
      this.#keep(chunk.subarray(start, end));
      this.#endLine();
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  /** Counts the lines that are not among the last. @returns where those begin */
  #passOver(chunk: Buffer, start: number): number {
    let last = chunk.length;
    for (let lines = 0; lines <= LAST_LINES && last > start; lines++) last = chunk.lastIndexOf(NEWLINE, last - 1);
    if (last <= start) return start;
    let hasText = this.#lineBytes > 0;
    for (let at = start; at <= last; at++) {
      if (chunk[at] !== NEWLINE) hasText = true;
      else if (hasText) {
        this.#dropped++;
        hasText = false;
      }
    }
    this.#line = [];
    this.#lineBytes = 0;
    return last + 1;
  }

  #keep(part: Buffer): void {
    const kept = part.subarray(0, LINE_BYTES - this.#lineBytes);
    if (kept.length === 0) return;
    // a copy, so that a few bytes do not keep a whole chunk alive
    this.#line.push(Buffer.from(kept));
    this.#lineBytes += kept.length;
  }

  #endLine(): void {
    if (this.#lineBytes === 0) return;
    const line = Buffer.concat(this.#line).toString('utf8').trimEnd();
    this.#line = [];
    this.#lineBytes = 0;
    if (line === '') return;
    if (!FRAME.test(line)) this.#tail.push(line.slice(0, TAIL_LINE_CHARS));
    if (this.#tail.length > TAIL_LINES) this.#tail.shift();
    this.#window ??= setTimeout(() => this.#endWindow(false), 1000).unref();
    if (this.#logged++ < LINES_PER_SECOND && this.#room.take()) this.#log.info({ line }, 'upstream stderr');
    else this.#dropped++;
  }

  #endWindow(isLast: boolean): void {
    clearTimeout(this.#window);
    this.#window = undefined;
    this.#logged = 0;
    // without room for a line, the next window’s line counts these too
    if (this.#dropped === 0 || !(isLast || this.#room.take())) return;
    this.#log.warn({ lines: this.#dropped }, 'upstream stderr lines dropped');
    this.#dropped = 0;
  }
}
