import { describe, expect, it } from '@jest/globals';
import { Frames } from '../../../adapters/state/redis-frames.js';
import { chunkings } from '../../helpers/chunked.js';

const HELLO = '%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nmodules\r\n*0\r\n';
const TALLY = '*3\r\n:1\r\n$2\r\n12\r\n:-1\r\n';
const ANSWERS = [
  ['a text', '+OK\r\n'],
  ['an error', '-ERR no such key\r\n'],
  ['a number', ':-12\r\n'],
  ['bytes', '$6\r\na\r\nb\r\n\r\n'],
  ['no bytes', '$0\r\n\r\n'],
  ['nothing, by RESP2', '$-1\r\n'],
  ['nothing, by RESP3', '_\r\n'],
  ['no list', '*-1\r\n'],
  ['a verbatim text', '=9\r\ntxt:a:1\r\n\r\n'],
  ['a long error', '!7\r\nERR a b\r\n'],
  ['truth', '#t\r\n'],
  ['a double', ',nan\r\n'],
  ['a list', TALLY],
  ['a map', HELLO],
  ['lists in a list', '*2\r\n*1\r\n$1\r\na\r\n*2\r\n:1\r\n*0\r\n'],
] as const;
const PUSH = '>3\r\n$7\r\nmessage\r\n*1\r\n+c\r\n$2\r\nhi\r\n';

function read(chunks: readonly Buffer[]): { ended: number; passed: string } {
  const frames = new Frames();
  let ended = 0;
  let passed = '';
  for (const chunk of chunks) {
    const found = frames.read(chunk);
    ended += found.ended;
    passed += found.parts.map((part) => part.toString('latin1')).join('');
  }
  return { ended, passed };
}

describe('what Redis sends', () => {
  it.each(ANSWERS)('is one answer, however it is cut: %s', (_what, text) => {
    for (const { name, chunks } of chunkings(Buffer.from(text)))
      expect([name, read(chunks)]).toEqual([name, { ended: 1, passed: text }]);
  });

  it('is as many answers as there are, without what was not asked for', () => {
    const texts = ANSWERS.map(([, text]) => text);
    const mixed = PUSH + texts.join(PUSH) + PUSH;
    for (const { name, chunks } of chunkings(Buffer.from(mixed)))
      expect([name, read(chunks)]).toEqual([name, { ended: texts.length, passed: texts.join('') }]);
  });

  it('counts an answer where it ends', () => {
    const frames = new Frames();
    expect(frames.read(Buffer.from('*2\r\n:1\r\n')).ended).toBe(0);
    expect(frames.read(Buffer.from('$5\r\nab')).ended).toBe(0);
    expect(frames.read(Buffer.from('cde\r')).ended).toBe(0);
    expect(frames.read(Buffer.from('\n+OK\r\n+O')).ended).toBe(2);
  });

  it.each([
    ['another protocol', 'HTTP/1.1 400 Bad Request\r\n'],
    ['a negative length', '$-5\r\n'],
    ['a length that is not a number', '$x\r\n'],
    ['a length that nothing has', '$10000000000\r\n'],
    ['a list that nothing has', '*4294967296\r\n'],
    ['lists in lists without end', '*1\r\n'.repeat(100)],
    ['a line that ends as in Unix', '+OK\n'],
    ['a line without an end', `+${'a'.repeat(70_000)}`],
    ['an attribute, which was not asked for', '|1\r\n+a\r\n+b\r\n'],
  ])('is refused where it is not an answer: %s', (_what, text) => {
    expect(() => new Frames().read(Buffer.from(text))).toThrow('Redis has sent what is not an answer.');
  });

  it.each([
    ['a text of 512 MB, before its first byte', '$536870912\r\n', 1],
    ['texts that are too long together', `$1000000\r\n${'a'.repeat(1_000_000)}\r\n`, 17],
    ['numbers without an end', ':1234567890123456789\r\n'.repeat(50_000), 17],
  ])('is refused where it is longer than any answer to Wharf: %s', (_what, text, times) => {
    const frames = new Frames();
    frames.read(Buffer.from('*999999\r\n'));
    const bytes = Buffer.from(text);
    const readAll = () => {
      for (let at = 0; at < times; at++) frames.read(bytes);
    };
    expect(readAll).toThrow('Redis has sent an answer of more than 16777216 bytes.');
  });

  it('is as long as it may be for each answer anew', () => {
    const frames = new Frames();
    const answer = Buffer.from(`$9000000\r\n${'a'.repeat(9_000_000)}\r\n`);
    for (let at = 0; at < 3; at++) expect(frames.read(answer).ended).toBe(1);
  });
});
