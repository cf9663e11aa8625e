import { describe, expect, it } from '@jest/globals';
import { decodeStrictBase64, decodeTolerantBase64 } from '../../../../gateway/wire/base64/decode-text.js';

const BYTES = Buffer.from(Array.from({ length: 200 }, (_, index) => (index * 89 + 250) % 256));
const MIB = 1024 * 1024;

const inLines = (text: string, end: string, width = 76) =>
  text.replaceAll(new RegExp(`.{${width}}(?=.)`, 'g'), `$&${end}`);

describe('raw base64 in an argument (2356-49)', () => {
  it.each([0, 1, 2, 3, 4, 5, 57, 200])('of %i bytes is read in every spelling', (length) => {
    const bytes = BYTES.subarray(0, length);
    const standard = bytes.toString('base64');
    for (const text of [
      standard,
      standard.replaceAll('=', ''),
      bytes.toString('base64url'),
      inLines(standard, '\r\n'),
      inLines(standard, '\n'),
      inLines(standard, '\n    ', 5),
      `\n${inLines(standard, '\r\n')}\r\n`,
    ]) {
      expect([text, decodeTolerantBase64(text)]).toEqual([text, bytes]);
    }
    expect(decodeStrictBase64(standard)).toEqual(bytes);
    expect(decodeStrictBase64(standard.replaceAll('=', ''))).toEqual(bytes);
  });

  it.each([
    'a',
    'QUJDQ',
    'hello world',
    'QUJD QUJD',
    'QUJD*',
    'QUJD====',
    'QQ==QQ==',
    'QUJ\u0144',
    'QUJD\\nQUJD',
    'QUJD\\/QUI',
    'data:,QUJD',
    'mcp-file://wharf/f_1',
    '/etc/passwd.txt',
    '=',
    '\ud800',
  ])('is not %j', (text) => {
    expect(decodeTolerantBase64(text)).toBeUndefined();
    expect(decodeStrictBase64(text)).toBeUndefined();
  });

  it.each(['AAEC_f7_', 'QUJD\n', 'QUJD\r\nQUJD', '-_-_', 'QQ='])('is not strict as %j', (text) => {
    expect(decodeTolerantBase64(text)).toBeInstanceOf(Buffer);
    expect(decodeStrictBase64(text)).toBeUndefined();
  });
});

describe('6 MB of base64', () => {
  const bytes = Buffer.alloc(6 * MIB, 'any bytes, \u00ff too');
  const standard = bytes.toString('base64');

  it.each([
    ['plain', standard],
    ['url-safe', bytes.toString('base64url')],
    ['in lines', inLines(standard, '\r\n')],
    ['with a line break after each character', inLines(standard.slice(0, 2 * MIB), '\n', 1)],
    ['after 6 MB of line breaks', `${'\n'.repeat(6 * MIB)}${standard}`],
  ])('%s is read', (_, text) => {
    const decoded = decodeTolerantBase64(text) as Buffer;
    expect(decoded.equals(bytes.subarray(0, decoded.length))).toBe(true);
    expect(decoded.length).toBeGreaterThanOrEqual(1.5 * MIB);
  });

  it.each([
    ['a character that is not base64 at its end', `${standard}*`],
    ['blanks at its end', `${standard}${' '.repeat(6 * MIB)}`],
    ['nothing but blanks', ' '.repeat(6 * MIB)],
    ['nothing but padding', '='.repeat(6 * MIB)],
  ])('with %s is refused', (_, text) => {
    expect(decodeTolerantBase64(text)).toBeUndefined();
  });
});
