import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { firstEventOf } from '../../../../gateway/relay/upstream/first-event.js';

/** What it finds in a stream of these chunks, and what the next reader gets. */
async function found(chunks: readonly Buffer[]): Promise<{ type: string | undefined; rest: string }> {
  const body = new PassThrough();
  const type = firstEventOf(body, 's', 5000);
  for (const chunk of chunks) {
    body.write(chunk);
    await new Promise(setImmediate);
  }
  body.end();
  return { type: await type, rest: (await buffer(body)).toString() };
}

const bytesOf = (text: string) => Array.from(Buffer.from(text), (byte) => Buffer.from([byte]));

describe('the type of the first event', () => {
  it.each([
    ['event: endpoint\ndata: /m\n\n', 'endpoint'],
    ['\ufeffevent:endpoint\r\ndata: /m\r\n\r\n', 'endpoint'],
    [': hello\r\rid: 1\revent: endpoint \rdata: /m\r\r', 'endpoint'],
    ['id: 1\ndata: {}\n\n', undefined],
    ['\ufeffdata\n\n', undefined],
    [`:${'a'.repeat(3000)}\nevent: e\ndata: 1\n\n`, 'e'],
    [`:${'a'.repeat(17_000)}\nevent: e\ndata: 1\n\n`, undefined],
  ])('of %j is found at once and byte by byte, and nothing is lost', async (text, type) => {
    expect(await found([Buffer.from(text)])).toEqual({ type, rest: text });
    expect(await found(bytesOf(text))).toEqual({ type, rest: text });
  });
});
