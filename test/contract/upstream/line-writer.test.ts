import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { LineWriter } from '../../../adapters/upstream/stdio/line-writer.js';

/** A pipe that keeps each write that reaches it. */
class Pipe extends Writable {
  readonly writes: string[] = [];
  /** Each write waits until this is called. */
  take: ((error?: Error) => void) | undefined;
  readonly #isSlow: boolean;

  constructor({ isSlow = false } = {}) {
    super({ highWaterMark: 1024 * 1024 });
    this.#isSlow = isSlow;
    this.on('error', () => undefined);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.#took(chunk, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error) => void): void {
    this.#took(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  #took(bytes: Buffer, done: (error?: Error) => void): void {
    this.writes.push(bytes.toString());
    if (this.#isSlow) this.take = done;
    else done();
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const NEVER = { takeMs: 60_000, stalled: () => new Error('stalled') };
const line = (text: string) => Buffer.from(text);

/** Writes a line; resolves when it has been taken. */
const write = (writer: LineWriter, rest: Buffer | undefined) =>
  new Promise<void>((resolve, reject) => writer.end(rest, (error) => (error ? reject(error) : resolve())));

describe('short lines to a process', () => {
  it('are written at once when they come alone', async () => {
    const pipe = new Pipe();
    const writer = new LineWriter(pipe, NEVER);
    const first = write(writer, line('1'));
    expect(pipe.writes).toEqual(['1\n']);
    await first;
    await turn();
    const second = write(writer, line('2'));
    expect(pipe.writes).toEqual(['1\n', '2\n']);
    await second;
  });

  it('go together, in their order, when they come in one turn', async () => {
    const pipe = new Pipe();
    const writer = new LineWriter(pipe, NEVER);
    await Promise.all(['1', '2', '3', '4'].map((text) => write(writer, line(text))));
    expect(pipe.writes).toEqual(['1\n', '2\n3\n4\n']);
  });

  it('are joined up to 64 KiB, and a longer one goes alone', async () => {
    const pipe = new Pipe();
    const writer = new LineWriter(pipe, NEVER);
    const [middle, long] = ['m'.repeat(40_000), 'l'.repeat(70_000)];
    const lines = ['1', middle, '2', middle, '3', long, '4'];
    await Promise.all(lines.map((text) => write(writer, line(text))));
    expect(pipe.writes).toEqual([`1\n`, `${middle}\n2\n`, `${middle}\n3\n`, `${long}\n`, `4\n`]);
  });

  it('end a line whose bytes were written before', async () => {
    const pipe = new Pipe();
    const writer = new LineWriter(pipe, NEVER);
    pipe.write('long');
    await write(writer, undefined);
    expect(pipe.writes.join('')).toBe('long\n');
  });

  it('can be written before the turn ends, so that nothing overtakes them', async () => {
    const pipe = new Pipe();
    const writer = new LineWriter(pipe, NEVER);
    const writing = ['1', '2', '3'].map((text) => write(writer, line(text)));
    writer.flush();
    pipe.write('4\n');
    await Promise.all(writing);
    await turn();
    expect(pipe.writes.join('')).toBe('1\n2\n3\n4\n');
  });

  it('count as taken when the write with them has been taken, not before', async () => {
    const pipe = new Pipe({ isSlow: true });
    const writer = new LineWriter(pipe, NEVER);
    const taken: string[] = [];
    const writing = ['1', '2', '3'].map((text) => write(writer, line(text)).then(() => taken.push(text)));
    await turn();
    expect(taken).toEqual([]);
    pipe.take?.();
    await writing[0];
    expect(taken).toEqual(['1']);
    pipe.take?.();
    await Promise.all(writing);
    expect(taken).toEqual(['1', '2', '3']);
  });

  it('all fail when the write with them is not taken in time, and only once', async () => {
    const pipe = new Pipe({ isSlow: true });
    let stalled = 0;
    const writer = new LineWriter(pipe, { takeMs: 1, stalled: () => new Error(`stalled ${++stalled}`) });
    const failed = await Promise.allSettled(['1', '2', '3'].map((text) => write(writer, line(text))));
    expect(failed).toEqual([
      { status: 'rejected', reason: new Error('stalled 1') },
      { status: 'rejected', reason: new Error('stalled 2') },
      { status: 'rejected', reason: new Error('stalled 2') },
    ]);
    pipe.take?.();
    pipe.take?.();
  });

  it('all fail when the write with them fails', async () => {
    const pipe = new Pipe({ isSlow: true });
    const writer = new LineWriter(pipe, NEVER);
    const writing = ['1', '2', '3'].map((text) => write(writer, line(text)));
    await turn();
    pipe.take?.(new Error('the process has gone'));
    const failed = await Promise.allSettled(writing);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });
});
