import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { LineReply } from '../../../gateway/stdio/line-reply.js';
import { LineOutput } from '../../../gateway/stdio/output.js';
import { until } from '../../helpers/wait.js';

const EVENTS = { status: 200, body: 'events' } as const;
const VALUES = { status: 200, body: 'values' } as const;

/** Standard output that takes nothing until it is told to. */
class SlowOutput extends Writable {
  text = '';
  #next: (() => void) | undefined;
  takes = true;

  constructor() {
    super({ highWaterMark: 1 });
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.text += chunk.toString('utf8');
    if (this.takes) done();
    else this.#next = done;
  }

  take(): void {
    this.takes = true;
    this.#next?.();
  }
}

function lab() {
  const out = new SlowOutput();
  const output = new LineOutput(out);
  const answered: string[] = [];
  const dropped = { count: 0 };
  const options = { output, answered: (id: string) => answered.push(id), dropped: () => (dropped.count += 1) };
  const reply = () => new LineReply(options);
  return { out, output, answered, dropped, reply };
}

function message(id: number): Buffer {
  return Buffer.from(`{"id":${id}}`);
}

describe('an answer on standard output', () => {
  it('has a line for each message, whatever line breaks stand in it, and none for blanks and comments', async () => {
    const { out, reply, answered } = lab();
    const one = reply();
    one.head(VALUES);
    one.space();
    one.comment();
    await one.message([Buffer.from('{\r\n "id":'), Buffer.from('1\n}')], { answers: ['1'] });
    one.end();
    await one.closed;
    expect(out.text).toBe('{   "id":1 }\n');
    expect(answered).toEqual(['1']);
  });

  it('has a line for nothing that is not a message, and keeps where its stream can be resumed', async () => {
    const { out, reply, dropped } = lab();
    const one = reply();
    one.head(EVENTS);
    for (const text of ['"text"', ' null', '\n5', 'hello', '{}', ' { }', '[\n]'])
      await one.message([Buffer.from(text)]);
    await one.message([Buffer.from('{"id":1')], { broken: [], frame: { id: Buffer.from('7') } });
    for (const text of [' {"id":2}', '[{"id":3}]']) await one.message([Buffer.from(text)]);
    one.end();
    await one.closed;
    expect(out.text).toBe(' {"id":2}\n[{"id":3}]\n');
    expect(dropped.count).toBe(8);
    expect(one.resumption).toMatchObject({ lastEventId: '7' });
  });

  it('keeps the beginning of an error with its own status, in however many pieces it comes', () => {
    const { reply } = lab();
    const one = reply();
    one.head({ status: 400, body: 'events' });
    // the work once grew with the square of their number: minutes for these
    for (let piece = 0; piece < 2_000_000; piece++) void one.message([Buffer.from('x')]);
    expect(one.refusal).toBe('x'.repeat(64 * 1024));
  });

  it('writes nothing into the line of another', async () => {
    const { out, reply } = lab();
    const [one, other] = [reply(), reply()];
    one.head(EVENTS);
    other.head(EVENTS);
    let release: () => void = () => {};
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const long = one.message([Buffer.from('["'), () => piecesAfter(slow), Buffer.from('"]')]);
    const short = other.message([message(2)]);
    await until(() => out.text !== '');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(out.text).toBe('["');
    release();
    await Promise.all([long, short]);
    expect(out.text).toBe('["made"]\n{"id":2}\n');
  });

  it('waits in one promise for all that is written while its client takes nothing', async () => {
    const { out, reply, answered } = lab();
    const one = reply();
    one.head(EVENTS);
    out.takes = false;
    const waits = [1, 2, 3].map((id) => one.message([message(id)], { answers: [String(id)] }));
    expect(one.pressure).toBeDefined();
    await until(() => out.text !== '');
    await new Promise((resolve) => setTimeout(resolve, 20));
    // of the others not a byte has been given away
    expect(out.text).toBe('{"id":1}\n');
    expect(answered).toEqual([]);
    out.take();
    await Promise.all(waits);
    expect(answered).toEqual(['1', '2', '3']);
    await one.pressure;
    expect(one.pressure).toBeUndefined();
  });

  it('that breaks off spoils the line that is half out, and the next one begins cleanly', async () => {
    const { out, reply, answered } = lab();
    const [one, other] = [reply(), reply()];
    one.head(EVENTS);
    other.head(EVENTS);
    const never = new Promise<void>(() => {});
    void one.message([Buffer.from('{"half'), () => piecesAfter(never)], { answers: ['1'] });
    await until(() => out.text !== '');
    one.abort();
    await other.message([message(2)], { answers: ['2'] });
    await one.closed;
    expect(out.text).toBe('{"half\x18\n{"id":2}\n');
    expect(answered).toEqual(['2']);
  });

  it('that fails while a piece is made is broken off', async () => {
    const { out, reply, answered } = lab();
    const one = reply();
    one.head(EVENTS);
    const broken = new Error('the store is gone');
    const wait = one.message([Buffer.from('{"half'), () => piecesAfter(Promise.reject(broken))], { answers: ['1'] });
    await expect(wait).rejects.toBe(broken);
    await one.closed;
    expect(out.text).toBe('{"half\x18\n');
    expect([answered, one.gone]).toEqual([[], true]);
  });

  it('keeps a bounded part of an error that has a status of its own, and writes none of it', async () => {
    const { out, reply } = lab();
    const one = reply();
    one.head({ status: 404, body: 'values' });
    for (let count = 0; count < 100; count++) one.message([Buffer.alloc(10_000, 'x')]);
    one.end();
    await one.closed;
    expect(out.text).toBe('');
    expect(one.refusal).toHaveLength(64 * 1024);
  });

  it('says where its events can be taken up again, once they are written', async () => {
    const { out, reply } = lab();
    const one = reply();
    one.head(EVENTS);
    one.event({ retry: Buffer.from('10'), data: true });
    expect(one.resumption).toBeUndefined();
    const wait = one.message([message(1)], { frame: { id: Buffer.from('e1') } });
    const other = one.message([message(2)], { frame: { id: Buffer.from('e2'), event: Buffer.from('ping') } });
    expect(one.resumption).toBeUndefined();
    await Promise.all([wait, other]);
    expect(one.resumption).toEqual({ lastEventId: 'e2', retryMs: 10 });
    expect(out.text).toBe('{"id":1}\n');
  });

  it.each([
    ['in its bytes', 'naïve ☃', Buffer.from('naïve ☃').toString('latin1')],
    ['not where it is empty', '', undefined],
    ['not where no header can carry it', 'a\x01b', undefined],
    ['not where a header would lose its end', 'a ', undefined],
  ])('says the id of its last event %s', async (_, id, lastEventId) => {
    const one = lab().reply();
    one.head(EVENTS);
    await one.message([message(1)], { frame: { id: Buffer.from('before') } });
    await one.message([message(2)], { frame: { id: Buffer.from(id) } });
    expect(one.resumption?.lastEventId).toBe(lastEventId);
  });
});

async function* piecesAfter(wait: Promise<void>): AsyncGenerator<Buffer> {
  await wait;
  yield Buffer.from('made');
}
