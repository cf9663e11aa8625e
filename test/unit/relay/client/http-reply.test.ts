import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { Heartbeats } from '../../../../gateway/relay/client/heartbeats.js';
import { HttpReply, type HttpResponse } from '../../../../gateway/relay/client/http-reply.js';

const WRITES = 50_000;
const BLANK = Buffer.from(' ');

/** A client's response that takes nothing until it is told to. */
class SlowResponse extends EventEmitter implements HttpResponse {
  headersSent = false;
  writableEnded = false;
  destroyed = false;
  takes = false;
  written: Buffer[] = [];
  timeouts: number[] = [];

  writeHead(): void {
    this.headersSent = true;
  }
  flushHeaders(): void {}
  write(bytes: Buffer): boolean {
    this.written.push(bytes);
    return this.takes;
  }
  end(): void {
    this.writableEnded = true;
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
  setTimeout(ms: number): void {
    this.timeouts.push(ms);
  }
  get listening(): number {
    return this.listenerCount('drain') + this.listenerCount('close');
  }
  get size(): number {
    return this.written.reduce((sum, bytes) => sum + bytes.length, 0);
  }
}

function begun(response: HttpResponse, body: 'events' | 'values'): HttpReply {
  const reply = new HttpReply(response, 1000, new Heartbeats());
  reply.head({ status: 200, body });
  return reply;
}

describe('what is written to a client that takes nothing', () => {
  it.each([
    ['blanks', 'values', (reply: HttpReply) => reply.space(BLANK)],
    ['comments', 'events', (reply: HttpReply) => reply.comment(BLANK)],
    ['messages', 'events', (reply: HttpReply) => reply.message([Buffer.from('{}')])],
    ['empty frames', 'events', (reply: HttpReply) => reply.event({ id: BLANK })],
  ] as const)('%s: all of it waits in one wait, however much it is', async (_, body, write) => {
    const response = new SlowResponse();
    const reply = begun(response, body);
    const waits = new Set<unknown>();
    for (let count = 0; count < WRITES; count++) waits.add(write(reply));
    expect(waits.size).toBe(1);
    expect(waits.has(reply.pressure)).toBe(true);
    expect(response.listening).toBe(2);
    expect(response.timeouts).toEqual([1000]);
    response.takes = true;
    response.emit('drain');
    await [...waits][0];
    expect(reply.pressure).toBeUndefined();
    expect(response.listening).toBe(0);
    expect(response.timeouts).toEqual([1000, 0]);
    expect(write(reply)).toBeUndefined();
    reply.end();
  });

  it('is waited for no longer once the client has gone', async () => {
    const response = new SlowResponse();
    const wait = begun(response, 'values').space(BLANK);
    response.destroy();
    await wait;
    expect(response.listening).toBe(0);
  });
});

it('a long message goes to its client without a copy of the whole', () => {
  const response = new SlowResponse();
  const reply = begun(response, 'events');
  const piece = Buffer.alloc(300_000, 'a');
  void reply.message([...Array.from({ length: 20 }, () => piece), ...Array.from({ length: 20 }, () => BLANK)]);
  expect(response.size).toBe(20 * 300_000 + 20 + 'data: \n\n'.length);
  expect(response.written.filter((bytes) => bytes === piece)).toHaveLength(20);
  expect(response.written.length).toBeLessThan(25);
  reply.end();
});
