import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { Outlet } from '../../../../gateway/relay/client/outlet.js';
import type { ClientResponse } from '../../../../gateway/relay/exchange.js';

const WRITES = 50_000;
const BLANK = Buffer.from(' ');

/** A client's response that takes nothing until it is told to. */
class SlowResponse extends EventEmitter implements ClientResponse {
  headersSent = true;
  writableEnded = false;
  destroyed = false;
  takes = false;
  written: Buffer[] = [];
  timeouts: number[] = [];

  writeHead(): void {}
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

describe('what is written to a client that takes nothing', () => {
  it.each([
    ['blanks', 'json', (outlet: Outlet) => outlet.space(BLANK)],
    ['comments', 'sse', (outlet: Outlet) => outlet.comment(BLANK)],
    ['messages', 'sse', (outlet: Outlet) => outlet.send([Buffer.from('{}')], undefined)],
    ['empty frames', 'sse', (outlet: Outlet) => outlet.sendEmpty({ id: BLANK })],
  ] as const)('%s: all of it waits in one wait, however much it is (H2)', async (_, format, write) => {
    const response = new SlowResponse();
    const outlet = new Outlet(response, format, 1000);
    const waits = new Set<unknown>();
    for (let count = 0; count < WRITES; count++) waits.add(write(outlet));
    expect(waits.size).toBe(1);
    expect(waits.has(outlet.pressure)).toBe(true);
    expect(response.listening).toBe(2);
    expect(response.timeouts).toEqual([1000]);
    response.takes = true;
    response.emit('drain');
    await [...waits][0];
    expect(outlet.pressure).toBeUndefined();
    expect(response.listening).toBe(0);
    expect(response.timeouts).toEqual([1000, 0]);
    expect(write(outlet)).toBeUndefined();
    outlet.end();
  });

  it('is not waited for any more once the client has gone (H1)', async () => {
    const response = new SlowResponse();
    const outlet = new Outlet(response, 'json', 1000);
    const wait = outlet.space(BLANK);
    response.destroy();
    await wait;
    expect(response.listening).toBe(0);
  });
});

it('a long message goes to its client without a copy of the whole', () => {
  const response = new SlowResponse();
  const outlet = new Outlet(response, 'sse', 1000);
  const piece = Buffer.alloc(300_000, 'a');
  void outlet.send([...Array.from({ length: 20 }, () => piece), ...Array.from({ length: 20 }, () => BLANK)], undefined);
  expect(response.size).toBe(20 * 300_000 + 20 + 'data: \n\n'.length);
  expect(response.written.filter((bytes) => bytes === piece)).toHaveLength(20);
  expect(response.written.length).toBeLessThan(25);
  outlet.end();
});
