import { describe, expect, it } from '@jest/globals';
import {
  comment,
  DataWriter,
  FRAME_END,
  frameHead,
  MAX_DATA_LINES,
  writeData,
} from '../../../../gateway/wire/sse/write.js';
import { chunkings } from '../../../helpers/chunked.js';
import { read, readOne } from '../record.js';

function frame(payload: string, fields: Parameters<typeof frameHead>[0] = {}): Buffer {
  return Buffer.concat([frameHead(fields), ...writeData([Buffer.from(payload)]), FRAME_END]);
}

describe('a written frame', () => {
  it('has its fields, its data and a blank line', () => {
    const fields = { retry: Buffer.from('10'), id: Buffer.from('7'), event: Buffer.from('message') };
    expect(frame('{"id":1}', fields).toString()).toBe('event: message\nid: 7\nretry: 10\ndata: {"id":1}\n\n');
  });

  it('is read as it was written', () => {
    const fields = { id: Buffer.from(' 7'), event: Buffer.from('') };
    expect(readOne('sse', {}, frame('{"a":\n[1]}', fields))).toMatchObject({
      whole: '{"a":\n[1]}',
      frame: { id: ' 7', event: '', data: true },
    });
  });

  it('may have no data', () => {
    expect(Buffer.concat([...writeData([]), FRAME_END]).toString()).toBe('data: \n\n');
  });

  it.each(['\n', '\r', '\r\n', '\r\r\n\n', '{\n}\r\n', '{\r\n\r\n"a":1}', '\n\r'])(
    'begins a line for each line break in %j',
    (payload) => {
      const expected = `data: ${payload.replaceAll(/\r\n|\r|\n/g, '\ndata: ')}\n`;
      for (const { name, chunks } of chunkings(Buffer.from(payload))) {
        expect([name, Buffer.concat(writeData(chunks)).toString()]).toEqual([name, expected]);
      }
    },
  );

  it('of a million line breaks has a thousand data lines, and blanks for the other breaks', () => {
    const payload = Buffer.from(`[${'\n\r'.repeat(500_000)}1]\r\n`);
    const written = Buffer.concat(writeData([payload]));
    expect(written.length).toBeLessThan(payload.length + MAX_DATA_LINES * 10);
    const lines = written.toString().split('\n');
    expect(lines).toHaveLength(MAX_DATA_LINES + 2);
    expect(JSON.parse(lines.map((line) => line.slice('data: '.length)).join('\n'))).toEqual([1]);
  });

  it('hands pieces without line breaks on as they are', () => {
    const piece = Buffer.from('x'.repeat(1000));
    const writer = new DataWriter();
    expect(writer.write(piece)[1]).toBe(piece);
    expect(writer.write(piece)[0]).toBe(piece);
    expect(Buffer.concat(writer.end()).toString()).toBe('\n');
  });
});

describe('a written comment', () => {
  it('is read as one, and is not an event', () => {
    const seen = read('sse', {}, Buffer.concat([comment(' keep\r\nalive'), comment('')]));
    expect(seen).toMatchObject({ messages: [], events: ['comment  keep alive', 'comment '] });
  });
});
