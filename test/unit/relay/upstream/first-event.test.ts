import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { firstEventOf } from '../../../../gateway/relay/upstream/first-event.js';

/** What it finds in a stream of these chunks, and what the next reader gets. */
async function found(chunks: readonly Buffer[]): Promise<{ type: string | undefined; rest: string }> {
  const body = new PassThrough();
  const type = firstEventOf(body, 's', 60_000);
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
    ['of a name', 'event: endpoint\ndata: /m\n\n', 'endpoint'],
    ['behind a byte order mark', '\ufeffevent:endpoint\r\ndata: /m\r\n\r\n', 'endpoint'],
    ['between lines that end with CR', ': hello\r\rid: 1\revent: endpoint \rdata: /m\r\r', 'endpoint'],
    ['where it has none', 'id: 1\ndata: {}\n\n', undefined],
    ['of one without data', '\ufeffdata\n\n', undefined],
    ['behind a long comment', `:${'a'.repeat(3000)}\nevent: e\ndata: 1\n\n`, 'e'],
    ['behind one that is too long', `:${'a'.repeat(17_000)}\nevent: e\ndata: 1\n\n`, undefined],
  ])('%s is found at once and byte by byte, and nothing is lost', async (_where, text, type) => {
    expect(await found([Buffer.from(text)])).toEqual({ type, rest: text });
    expect(await found(bytesOf(text))).toEqual({ type, rest: text });
  });
});
