import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readDataUri } from '../../../gateway/wire/data-uri.js';
import { faultOfDataUri } from '../../../gateway/wire/data-uri-fault.js';
import { runs } from '../../helpers/effort.js';

const F4 = Buffer.from([0x00, 0x01, 0x02, 0xfd, 0xfe, 0xff]);
const MIB = 1024 * 1024;

function read(text: string) {
  const result = readDataUri(text);
  return typeof result === 'string' ? result : { ...result, bytes: result.bytes.toString('latin1') };
}

describe('a whole data: URI', () => {
  it.each([
    ['data:text/plain,hello%20world', { mimeType: 'text/plain', bytes: 'hello world' }],
    ['data:,A', { mimeType: 'text/plain;charset=US-ASCII', bytes: 'A' }],
    ['data:text/plain;base64,SGVsbG8gd29ybGQh', { mimeType: 'text/plain', bytes: 'Hello world!' }],
    ['data:,', { mimeType: 'text/plain;charset=US-ASCII', bytes: '' }],
    ['data:;base64,QQ==', { mimeType: 'text/plain;charset=US-ASCII', bytes: 'A' }],
    ['data:;charset=utf-8,A', { mimeType: 'text/plain', charset: 'utf-8', bytes: 'A' }],
    [
      'data:text/csv;charset="ISO-8859-1";name=a.csv,A',
      { mimeType: 'text/csv', name: 'a.csv', charset: 'iso-8859-1', bytes: 'A' },
    ],
    ['data:text/csv;charset=a/b,A', { mimeType: 'text/csv', bytes: 'A' }],
    [`data:text/csv;charset=${'x'.repeat(41)},A`, { mimeType: 'text/csv', bytes: 'A' }],
    ['data:image/png;base64,', { mimeType: 'image/png', bytes: '' }],
    ['DATA:Image/PNG;Charset=x;BASE64,QQ==', { mimeType: 'image/png', charset: 'x', bytes: 'A' }],
    ['data:text/html,<script>', { mimeType: 'text/html', bytes: '<script>' }],
    ['data:text/plain,a,b;base64,c', { mimeType: 'text/plain', bytes: 'a,b;base64,c' }],
    ['data:text/plain,%C3%bc%00%ff', { mimeType: 'text/plain', bytes: '\u00c3\u00bc\0\u00ff' }],
    ['data:text/plain,\u00fc', { mimeType: 'text/plain', bytes: '\u00c3\u00bc' }],
    ['data:image/svg+xml,%3Csvg/%3E', { mimeType: 'image/svg+xml', bytes: '<svg/>' }],
  ])('%s is read (2356-17)', (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it('base64 of binary bytes is read exactly (2356-16)', () => {
    expect(readDataUri('data:application/octet-stream;base64,AAEC/f7/')).toEqual({
      mimeType: 'application/octet-stream',
      bytes: F4,
    });
  });

  it.each([
    ['padded', 'data:a/b;base64,QUI='],
    ['unpadded', 'data:a/b;base64,QUI'],
    ['with bits that are no part of a byte', 'data:a/b;base64,QUJ='],
    ['with percent-encoded padding', 'data:a/b;base64,QUI%3D'],
    ['percent-encoded throughout', 'data:a/b;base64,%51%55%49%3d'],
  ])('base64 %s is read', (_, text) => {
    expect(read(text)).toEqual({ mimeType: 'a/b', bytes: 'AB' });
  });

  it('+ and / may be percent-encoded', () => {
    expect(read('data:a/b;base64,%2B%2f%2B/')).toEqual({ mimeType: 'a/b', bytes: '\u00fb\u00ff\u00bf' });
  });

  it.each([
    ['a blank in base64', 'data:a/b;base64,QUJD QUJD'],
    ['a line break in base64', 'data:a/b;base64,QUJD\nQUJD'],
    ['a line break at the end', 'data:a/b;base64,QUJD\n'],
    ['a percent-encoded line break in base64', 'data:a/b;base64,QUJD%0D%0AQUJD'],
    ['the url-safe alphabet', 'data:a/b;base64,AAEC_f7_'],
    ['another character', 'data:a/b;base64,QUJ*'],
    ['a character whose low byte is a letter', 'data:a/b;base64,QUJ\u0144'],
    ['a fragment after base64', 'data:a/b;base64,QUJD#x'],
    ['base64 after its padding', 'data:a/b;base64,QQ==QQ=='],
    ['half of its padding', 'data:a/b;base64,QQ='],
    ['too much padding', 'data:a/b;base64,QUI=='],
    ['padding alone', 'data:a/b;base64,===='],
    ['a single character left over', 'data:a/b;base64,QUJDQ'],
    ['no comma', 'data:image/png;base64'],
    ['no comma, a long one', `data:${'x'.repeat(2_000_000)}`],
    ['a head of 2 MB', `data:text/plain;x=${'x'.repeat(2_000_000)},A`],
    ['a type without a subtype', 'data:base64,QUJD'],
    ['a type with a blank in it', 'data:a b/c,A'],
    ['a type with a line break', 'data:a/b\r\nX: y,A'],
    ['a comma in a quoted name', 'data:a/b;name="x,y.pdf";base64,QUJD'],
    ['a bad percent-encoding', 'data:a/b,100%zz'],
    ['an unfinished percent-encoding', 'data:a/b,100%4'],
    ['a percent sign at the end', 'data:a/b,100%'],
    ['a raw blank', 'data:a/b,a b'],
    ['a raw control character', 'data:a/b,a\0b'],
    ['a raw fragment', 'data:image/svg+xml,<svg fill="#fff"/>'],
    ['half of a surrogate pair', 'data:a/b,\ud800'],
  ])('%s makes it malformed (2356o-14)', (_, text) => {
    expect(readDataUri(text)).toBe('malformedUri');
  });

  it.each(['', 'dat', 'data', ' data:,A', 'https://a/b,c', 'mcp-file://wharf/f_1', 'SGVsbG8=', 'metadata:,A'])(
    'is not %j',
    (text) => {
      expect(readDataUri(text)).toBe('not-a-data-uri');
    },
  );
});

describe('what is wrong with a data: URI', () => {
  it.each([
    ['data:image/png;base64', 'it has no comma, behind which its data begins'],
    [`data:${'x'.repeat(5000)},A`, 'the first comma must be among its first 4096 characters'],
    ['data:png;base64,QUJD', 'its media type, of 3 characters, is not of the form type/subtype'],
    ['data:a/b;name="x,y";base64,QUJD', 'a quotation mark in its head is not closed before its first comma'],
    ['data:a/b;base64,QUJ*', 'a character at character 20 is not base64'],
    ['data:a/b;base64,QUJD QUJD', 'a blank at character 21 is not base64'],
    ['data:a/b;base64,QUJD\n', 'a line break at character 21 is not base64'],
    ['data:a/b;base64,AAEC_f7_', 'a character of the alphabet for URLs at character 21 is not base64'],
    ['data:a/b;base64,QUJD%0A', 'a line break at character 5 of its decoded base64 is not base64'],
    ['data:a/b;base64,QUJDQ', 'its base64 has 5 characters, and of four at least two must be there'],
    ['data:a/b;base64,QQ==QQ==', 'the padding at character 19 is not the end of its base64'],
    [
      'data:a/b;base64,QUI==',
      'its base64 has 3 characters before its padding of 2, which together must be a multiple of four, with at most two of padding',
    ],
    ['data:a/b,100%zz', 'the % at character 13 is not followed by two hexadecimal digits'],
    ['data:a/b,a b', 'a blank at character 11 is not percent-encoded'],
    ['data:a/b,<a fill="#f">', 'a blank at character 12 is not percent-encoded'],
    ['data:a/b,a#b', 'a # at character 11 is not percent-encoded'],
  ])('%j', (text, fault) => {
    expect(faultOfDataUri(text)).toBe(fault);
  });

  it('is told of each that is malformed, and of no other', () => {
    const parts = ['data:', 'a/b', ';', 'base64', ',', '%', '%41', '=', '"', ' ', 'Q', 'é', '\n', '-', '/', 'name='];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 12 }), (all) => {
        const text = `data:${all.join('')}`;
        expect(faultOfDataUri(text) === undefined).toBe(readDataUri(text) !== 'malformedUri');
      }),
      { numRuns: runs(500) },
    );
  });
});

describe('the name in a data: URI', () => {
  const nameOf = (text: string) => {
    const result = readDataUri(text);
    return typeof result === 'string' ? result : result.name;
  };

  it('is percent-decoded (2356o-08)', () => {
    expect(nameOf('data:application/pdf;name=Report%20%28v2%29%3B%20final.pdf;base64,QUJD')).toBe(
      'Report (v2); final.pdf',
    );
    expect(nameOf('data:a/b;name=%D0%BE%D1%82%D1%87%D1%91%D1%82.pdf,A')).toBe('отчёт.pdf');
    expect(nameOf('data:a/b;name="a.png";base64,QUJD')).toBe('a.png');
    expect(nameOf('data:a/b;name="a;b.pdf";base64,QUJD')).toBe('a;b.pdf');
    expect(nameOf('data:a/b;x="name=c.pdf;base64;";name=a.pdf,QUJD')).toBe('a.pdf');
  });

  it.each([
    'data:image/png;name=a.png;charset=x;base64,QUJD',
    'data:image/png;charset=x;name=a.png;base64,QUJD',
    'data:image/png;charset=x;NAME=a.png;name=b.png;base64,QUJD',
  ])('may stand anywhere before ;base64: %s (2356o-09)', (text) => {
    expect(read(text)).toEqual({ mimeType: 'image/png', name: 'a.png', charset: 'x', bytes: 'ABC' });
  });

  it('does not say by what stands within quotes that the data is base64', () => {
    expect(read('data:text/plain;name="a;base64;b.txt",QUJD')).toEqual({
      mimeType: 'text/plain',
      name: 'a;base64;b.txt',
      bytes: 'QUJD',
    });
  });

  it('is ignored after ;base64 (2356o-10)', () => {
    expect(read('data:image/png;base64;name=a.png,QUJD')).toEqual({ mimeType: 'image/png', bytes: 'ABC' });
  });

  it('does not change the type, and is left as it was sent, to be cleaned later (2356o-11)', () => {
    expect(read('data:text/plain;name=x.png;base64,QUJD')).toMatchObject({ mimeType: 'text/plain' });
    expect(nameOf('data:a/b;name=..%2F..%2Fetc%2Fpasswd;base64,QUJD')).toBe('../../etc/passwd');
    expect(nameOf('data:a/b;name=%zz;base64,QUJD')).toBe('%zz');
    expect(nameOf('data:a/b;name=;base64,QUJD')).toBeUndefined();
  });
});

describe('a data: URI of 6 MB', () => {
  const bytes = Buffer.alloc(6 * MIB, 'any bytes, \u00ff too');

  it('is read as base64', () => {
    const result = readDataUri(`data:image/png;base64,${bytes.toString('base64')}`);
    expect(typeof result === 'object' && result.bytes.equals(bytes)).toBe(true);
  });

  it('is read as percent-encoding, which may be of every byte (2356-12)', () => {
    const encoded = bytes.toString('hex').replaceAll(/../g, '%$&');
    const result = readDataUri(`data:image/png,${encoded}`);
    expect(typeof result === 'object' && result.bytes.equals(bytes)).toBe(true);
  });

  it.each([
    ['a late blank', `data:a/b;base64,${'QUJD'.repeat(1.5 * MIB)} `],
    ['nothing but percent signs', `data:a/b,${'%'.repeat(6 * MIB)}`],
    ['nothing but padding', `data:a/b;base64,${'='.repeat(6 * MIB)}`],
    ['a head of semicolons', `data:${';'.repeat(6 * MIB)},`],
    ['a head of names', `data:${';name="'.repeat(MIB)},`],
  ])('is refused: %s', (_, text) => {
    expect(readDataUri(text)).toBe('malformedUri');
    expect(faultOfDataUri(text)).toMatch(/^.{20,130}$/);
  });
});
