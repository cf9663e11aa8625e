import { describe, expect, it } from '@jest/globals';
import { MAX_LINE } from '../../../../gateway/wire/sse/parse.js';
import { chunked } from '../../../helpers/chunked.js';
import { read, readChunks, readOne } from '../record.js';

const TREE = { keys: { id: { capture: 'id' }, data: { slot: 'data' } } };
const DATA = 'QUJDREVGR0hJSktM';
const MESSAGE = `{"id":1,"data":"${DATA}"}`;

describe('an event stream', () => {
  it.each(['\n', '\r', '\r\n'])('may end its lines with %j', (eol) => {
    const stream = ['event: message', 'id: 7', `data: ${MESSAGE}`, '', 'data: {"id":2}', '', ''].join(eol);
    const { messages } = read('sse', TREE, stream);
    expect(messages.map(({ whole, captures, frame, slots }) => [whole, captures.id, frame, slots.length])).toEqual([
      [MESSAGE, '1', { event: 'message', id: '7', data: true }, 1],
      ['{"id":2}', '2', { data: true }, 0],
    ]);
  });

  it('may mix its line ends', () => {
    const { messages } = read('sse', TREE, 'id: 1\rdata: {"id":1}\r\n\ndata: {"id":2}\n\r\ndata: {"id":3}\r\r\n\r');
    expect(messages.map(({ whole, frame }) => [whole, frame?.id])).toEqual([
      ['{"id":1}', '1'],
      ['{"id":2}', undefined],
      ['{"id":3}', undefined],
    ]);
  });

  it('gives a message at its blank line, not when the next byte has come', () => {
    for (const end of ['\n\n', '\r\r', '\r\n\r']) {
      expect(readChunks('sse', TREE, [Buffer.from(`data: {"id":1}${end}`)]).events).toEqual(['message']);
    }
  });

  it('takes off one space after the colon and no more', () => {
    const { messages } = read('sse', TREE, 'data:{"id":1}\n\ndata: {"id":2}\n\ndata:  {"id":3}\nid:  x\nevent:y \n\n');
    expect(messages.map(({ whole }) => whole)).toEqual(['{"id":1}', '{"id":2}', ' {"id":3}']);
    expect(messages[2]?.frame).toEqual({ data: true, id: ' x', event: 'y ' });
  });

  it('joins data lines with line feeds', () => {
    const message = readOne('sse', TREE, 'data: {"id":\ndata: 1,\r\ndata\ndata:"x":[\rdata: ]}\n\n');
    expect(message).toMatchObject({ whole: '{"id":\n1,\n\n"x":[\n]}', captures: { id: '1' }, malformed: undefined });
  });

  it('that breaks a data line inside a cut string is not JSON: a line feed must be escaped there', () => {
    const message = readOne('sse', TREE, `data: {"data":"${DATA}\ndata: ${DATA}","id":3}\n\n`);
    expect(message.slots).toMatchObject([{ text: DATA, ended: false }]);
    expect(message.malformed).toBe(`{"data":"${DATA}`.length);
    expect(message.whole).toBe(`{"data":"${DATA}\n${DATA}","id":3}`);
  });

  it('may break it just where a string becomes a cut', () => {
    for (let length = 6; length < 11; length++) {
      const text = 'A'.repeat(length);
      const message = readOne('sse', TREE, `data: {"data":"${text}\ndata: ${text}"}\n\n`);
      expect(message.whole).toBe(`{"data":"${text}\n${text}"}`);
    }
  });

  it('is malformed where a line break stands in any other string, and its bytes are kept', () => {
    const message = readOne('sse', TREE, 'data: {"x":"one\ndata: two"}\n\n');
    expect(message).toMatchObject({ whole: '{"x":"one\ntwo"}', malformed: 9 });
  });

  it('tells comments at once, also inside a frame', () => {
    const { events } = read('sse', TREE, ': ping\n\n:\r\ndata: {"id":\n:two\ndata: 1}\n\n');
    expect(events).toEqual(['comment  ping', 'comment ', 'comment two', 'message']);
  });

  it('keeps the last id, event and retry of a frame', () => {
    const { frame } = readOne('sse', TREE, 'id: 1\nid: 2\nevent: a\nevent\nretry: 10\nretry: 20\ndata: 1\n\n');
    expect(frame).toEqual({ id: '2', event: '', retry: '20', data: true });
  });

  it('ignores an id with a NUL, a retry that is not a number, and unknown fields', () => {
    const stream =
      'id: ok\nid: a\0b\nretry: 1s\nretry: \nretry:-1\nfoo: bar\nDATA: x\n data: y\ndata : z\nbar\ndata: 1\n\n';
    expect(readOne('sse', TREE, stream)).toMatchObject({ whole: '1', frame: { id: 'ok', data: true } });
  });

  it('passes on frames without data', () => {
    const { messages } = read('sse', TREE, 'id: 5\ndata:\n\nid: 6\n\nretry: 1000\n\nevent: ping\n\ndata: \ndata\n\n');
    expect(messages.map(({ empty, whole, frame }) => [empty, whole, frame])).toEqual([
      [true, '', { id: '5', data: true }],
      [true, '', { id: '6' }],
      [true, '', { retry: '1000' }],
      [true, '', { event: 'ping' }],
      [true, '\n', { data: true }],
    ]);
  });

  it('makes nothing of blank lines, comments and unknown fields alone', () => {
    expect(read('sse', TREE, '\n\n:x\n\nfoo: bar\n\n\r\n').messages).toEqual([]);
  });

  it('reads other event types like messages', () => {
    const { messages } = read('sse', TREE, 'event: endpoint\ndata: /messages?id=1\n\nevent: x\ndata: {"id":4}\n\n');
    expect(messages.map(({ frame, whole, malformed }) => [frame?.event, whole, malformed])).toEqual([
      ['endpoint', '/messages?id=1', 0],
      ['x', '{"id":4}', undefined],
    ]);
  });

  it('goes on after a malformed frame', () => {
    const { messages } = read('sse', TREE, 'data: {"id":\n\ndata: {}x\n\ndata: {"id":2}\n\n');
    expect(messages.map(({ whole, malformed }) => [whole, malformed])).toEqual([
      ['{"id":', 6],
      ['{}x', 2],
      ['{"id":2}', undefined],
    ]);
  });

  it('drops an unfinished frame at its end, and says so', () => {
    for (const stream of [`data: ${MESSAGE}`, `data: ${MESSAGE}\n`, 'id: 1\n', 'dat', `data: {"data":"${DATA}`]) {
      expect(read('sse', TREE, stream)).toMatchObject({ messages: [], error: undefined, inMessage: true });
    }
    for (const stream of ['', ': half a comm', '\n', `data: 1\n\n`, 'data: 1\r\n\r']) {
      expect(read('sse', TREE, stream)).toMatchObject({ error: undefined, inMessage: false });
    }
  });

  it('may begin with a byte order mark, and only with one', () => {
    expect(readOne('sse', TREE, '\ufeffdata: {"id":1}\n\n')).toMatchObject({ captures: { id: '1' } });
    expect(read('sse', TREE, '\ufeff\ufeffdata: 1\n\n').messages).toEqual([]);
    expect(read('sse', TREE, Buffer.from('\xef\xbbdata: 1\n\ndata: 2\n\n', 'latin1')).messages).toMatchObject([
      { whole: '2' },
    ]);
    expect(readOne('sse', TREE, 'data: 1\n\n\ufeffdata: 2\n\n')).toMatchObject({ whole: '1' });
  });

  it('bounds every line that is not data', () => {
    const long = 'x'.repeat(MAX_LINE + 1);
    for (const stream of [`:${long}\n`, `id: ${long}\n`, `foo: ${long}\n`, long]) {
      for (const size of [1000, 100_000]) {
        expect(readChunks('sse', TREE, chunked(Buffer.from(stream), size)).error).toBe('held');
      }
    }
    expect(read('sse', TREE, `:${'x'.repeat(100)}\n`.repeat(200), {}).error).toBeUndefined();
  });

  it('streams data lines of any length', () => {
    const stream = Buffer.from(`data: {"data":"${DATA.repeat(10_000)}","id":1}\n\n`);
    const { messages, error } = readChunks('sse', TREE, chunked(stream, 4096), { maxHeld: 600 });
    expect(error).toBeUndefined();
    expect(messages[0]?.slots[0]?.text).toBe(DATA.repeat(10_000));
  });
});
