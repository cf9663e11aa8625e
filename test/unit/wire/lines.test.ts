import { describe, expect, it } from '@jest/globals';
import { MAX_NOISE } from '../../../gateway/wire/lines.js';
import { chunked } from '../../helpers/chunked.js';
import { read, readChunks, readOne } from './record.js';

const TREE = { keys: { id: { capture: 'id' }, data: { slot: 'data' } } };
const DATA = 'QUJDREVGR0hJSktM';

describe('lines', () => {
  it('are one message each', () => {
    const { messages } = read('lines', TREE, `{"id":1,"data":"${DATA}"}\n[{"id":2}]\n{"id":3}\n`);
    expect(messages.map(({ captures, whole }) => [captures.id, whole])).toEqual([
      ['1', `{"id":1,"data":"${DATA}"}`],
      ['2', '[{"id":2}]'],
      ['3', '{"id":3}'],
    ]);
  });

  it('may end in CRLF, begin with blanks and be blank', () => {
    const { messages, events } = read('lines', TREE, '\n  \r\n \t{"id":1}\r\n\r\n{"id":2} \n');
    expect(messages.map(({ whole, malformed }) => [whole, malformed])).toEqual([
      ['{"id":1}\r', undefined],
      ['{"id":2} ', undefined],
    ]);
    expect(events).toEqual(['message', 'message']);
  });

  it('that do not begin like a message are noise', () => {
    const { events } = read('lines', TREE, 'Server listening\r\n{"id":1}\n 12\n"x"\ntrue\n{"id":2}\nbye');
    expect(events).toEqual([
      'noise Server listening\r',
      'message',
      'noise 12',
      'noise "x"',
      'noise true',
      'message',
      'noise bye',
    ]);
  });

  it('of noise are kept to a bounded length, however long they are', () => {
    const noise = 'x'.repeat(3 * MAX_NOISE);
    for (const size of [1000, 100_000]) {
      const { events } = readChunks('lines', TREE, chunked(Buffer.from(`${noise}\n{"id":1}\n`), size));
      expect(events).toEqual([`noise ${noise.slice(0, MAX_NOISE)}`, 'message']);
    }
  });

  it('that are malformed do not touch the next one', () => {
    const { messages } = read('lines', TREE, `{"id":1\n{"id":2]\n{"id":3}}\n{"id":4} x\n{"data":"${DATA}\n{"id":5}\n`);
    expect(messages.map(({ whole, malformed }) => [whole, malformed])).toEqual([
      ['{"id":1', 7],
      ['{"id":2]', 7],
      ['{"id":3}}', 8],
      ['{"id":4} x', 9],
      [`{"data":"${DATA}`, 9 + DATA.length],
      ['{"id":5}', undefined],
    ]);
    expect(messages[4]?.slots).toMatchObject([{ text: DATA, ended: false }]);
  });

  it('need no line feed at the end', () => {
    expect(readOne('lines', TREE, '{"id":1}')).toMatchObject({ captures: { id: '1' }, malformed: undefined });
  });

  it('cut short by the end are truncated', () => {
    expect(read('lines', TREE, '{"id":1}\n{"id":2')).toMatchObject({ error: 'truncated', inMessage: true });
    expect(read('lines', TREE, '{"id":1}\n{"id":2,]')).toMatchObject({ error: undefined });
  });
});
