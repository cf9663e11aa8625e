import { describe, expect, it } from '@jest/globals';
import { WireError } from '../../../../gateway/wire/errors.js';
import { CHUNKED, parseHead, UNTIL_CLOSE } from '../../../../gateway/wire/http/head.js';

const head = (...lines: string[]) => parseHead(['HTTP/1.1 200 OK', ...lines].join('\r\n'));

describe('the head of an answer', () => {
  it('has a status and headers with lower-case names, blanks around their values dropped', () => {
    expect(head('Content-Type:\t application/json \t', 'X-Empty:', 'ETag: "a:b"')).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/json', 'x-empty': '', etag: '"a:b"' },
    });
  });

  it.each([
    ['a reason', 'HTTP/1.1 404 Not Found', 404],
    ['an empty reason', 'HTTP/1.1 404 ', 404],
    ['no reason', 'HTTP/1.1 404', 404],
    ['a reason in latin1', 'HTTP/1.0 503 g\xe9n\xe9', 503],
    ['a status that no one has registered', 'HTTP/1.1 799 ?', 799],
  ])('may begin with %s', (_what, line, status) => {
    expect(parseHead(line).status).toBe(status);
  });

  it.each([
    '',
    'HTTP/2 200 OK',
    'HTTP/1.2 200 OK',
    'HTTP/1.1  200 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 099 OK',
    'http/1.1 200 OK',
    ' HTTP/1.1 200 OK',
    'HTTP/1.1 200 O\0K',
    'SSH-2.0-OpenSSH_9.2',
  ])('does not begin with %j', (line) => {
    expect(() => parseHead(line)).toThrow(WireError);
  });

  it.each([
    ['without a colon', 'X'],
    ['without a name', ': x'],
    ['with a blank before its colon', 'Content-Length : 3'],
    ['that goes on in the next line', ' folded'],
    ['with a line feed in it', 'X: a\nContent-Length: 3'],
    ['with a carriage return in it', 'X: a\rb'],
    ['with a NUL in it', 'X: a\0b'],
    ['with a name outside ASCII', '\xe9: x'],
  ])('has no field %s', (_what, line) => {
    expect(() => head('X: y', line)).toThrow(WireError);
  });

  it.each([
    ['x:a', 'a'],
    ['x:  a b\t', 'a b'],
    ['x: \t ', ''],
    ['x:', ''],
    ['x: caf\xc3\xa0', 'caf\xc3\xa0'],
  ])('takes blanks from both ends of a value, and nothing else: %j', (line, value) => {
    expect(head(line).headers.x).toBe(value);
  });

  // the work once grew with the square of the blanks: half an hour for this one
  it('reads a value once, however many blanks it has', () => {
    const blanks = ' '.repeat(2 * 1024 * 1024);
    expect(head(`x: a${blanks}b${blanks}`).headers.x).toBe(`a${blanks}b`);
    expect(() => head(`x: ${blanks}\x01`)).toThrow(WireError);
  });

  it('joins repeats as node:http does: all with commas, some by the first alone, cookies in a list', () => {
    const { headers } = head(
      'A: 1',
      'a: 2',
      'Content-Type: x/y',
      'content-type: z/z',
      'Set-Cookie: a',
      'Set-Cookie: b',
    );
    expect(headers).toMatchObject({ a: '1, 2', 'content-type': 'x/y', 'set-cookie': ['a', 'b'] });
  });

  it('takes names that objects have of themselves as those of headers', () => {
    const { headers } = head('__proto__: a', 'constructor: b', 'toString: c');
    expect(Object.entries(headers)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['tostring', 'c'],
    ]);
  });

  it.each([
    ['bytes', ['Content-Length: 17'], 17],
    ['no byte', ['Content-Length: 0'], 0],
    ['chunks', ['Transfer-Encoding: Chunked'], CHUNKED],
    ['all that comes', [], UNTIL_CLOSE],
  ])('says of a body that it is %s', (_what, lines, length) => {
    expect(head(...lines).length).toBe(length);
  });

  it.each([100, 103, 204, 304])('has no body with status %i', (status) => {
    expect(parseHead(`HTTP/1.1 ${status} x\r\nContent-Length: 5`).length).toBe(0);
  });

  it.each(['Content-Length: 5', 'Transfer-Encoding: chunked', 'ETag: "1"'])(
    'has no body as an answer to HEAD, with %s',
    (line) => {
      expect(parseHead(`HTTP/1.1 200 OK\r\n${line}`, true).length).toBe(0);
    },
  );

  it.each([
    [['Content-Length: 3', 'Content-Length: 3']],
    [['Content-Length: 3, 3']],
    [['Content-Length: +3']],
    [['Content-Length: -3']],
    [['Content-Length: 0x3']],
    [['Content-Length: ']],
    [['Content-Length: 3e1']],
    [['Content-Length: 9007199254740993']],
    [['Content-Length: 3', 'Transfer-Encoding: chunked']],
    [['Transfer-Encoding: gzip']],
    [['Transfer-Encoding: gzip, chunked']],
    [['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
    [['Transfer-Encoding: chunked, identity']],
    [['Transfer-Encoding:']],
  ])('is refused where readers could see different bodies: %j', (lines) => {
    expect(() => head(...lines)).toThrow(WireError);
  });

  it.each([
    ['HTTP/1.1', [], true],
    ['HTTP/1.1', ['Connection: close'], false],
    ['HTTP/1.1', ['Connection: Upgrade, CLOSE'], false],
    ['HTTP/1.1', ['Connection: closed'], true],
    ['HTTP/1.0', [], false],
    ['HTTP/1.0', ['Connection: Keep-Alive'], true],
  ])('of %s with %j keeps its connection: %s', (version, lines, keepsAlive) => {
    expect(parseHead([`${version} 200 OK`, ...lines].join('\r\n')).keepsAlive).toBe(keepsAlive);
  });
});
