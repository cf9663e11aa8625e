import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'content-disposition';
import fc from 'fast-check';
import { attachment } from '../../../../gateway/files/names/content-disposition.js';
import { cleanFileName, fileNameFor, MAX_NAME_BYTES } from '../../../../gateway/files/names/file-name.js';
import { anyText } from '../../../helpers/any-text.js';
import { runs } from '../../../helpers/effort.js';

/** The compiled test runs in dist/test/unit/files/names; the corpus is not compiled. */
const CORPUS = new URL('../../../../../test/corpus/names/blns.json', import.meta.url);
const NAUGHTY: string[] = JSON.parse(readFileSync(CORPUS, 'utf8'));

const VECTORS = [
  ...NAUGHTY,
  '%41',
  '%',
  "''",
  '"',
  '\\',
  ';',
  'a\r\nSet-Cookie: x=y',
  'a\0b',
  'a.html%00.png',
  'a.html\0.png',
  'a\u0085b\u009fc',
  'photo\u202egnp.exe',
  'a\u2066b\u2069',
  '\ud800',
  'a\udc00b.txt',
  'é.txt',
  'e\u0301.txt',
  '-rf',
  '--help',
  '.htaccess',
  '..',
  '.',
  '~root',
  'CON',
  'con.txt',
  '.CON',
  'LPT1.',
  'a'.repeat(300),
  `${'é'.repeat(300)}.png`,
  `a.${'b'.repeat(300)}`,
  '\u{1f600}'.repeat(100),
  'x\uffff\ufdd0y',
  ' . . ',
  'a/../b',
  'C:\\Windows\\system32\\cmd.exe',
  'name.txt:stream',
];

/** Every promise that `cleanFileName` makes of its result, by name. */
const PROMISES: Readonly<Record<string, (name: string) => boolean>> = {
  'is not empty': (name) => name !== '',
  'has no control, bidi or lone surrogate': (name) =>
    !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u.test(name),
  'has no reserved character': (name) => !/[/\\<>:"|?*]/.test(name),
  'does not begin or end in what hides it': (name) => !/^[\s.~-]|[\s.]$/.test(name),
  'is no device of Windows': (name) => !/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(name),
  'is short enough': (name) => Buffer.byteLength(name) <= MAX_NAME_BYTES,
  'is NFC': (name) => name.normalize('NFC') === name,
  'stays as it is when cleaned again': (name) => cleanFileName(name) === name,
};

function brokenPromises(given: string): string[] {
  const name = cleanFileName(given);
  return Object.entries(PROMISES).flatMap(([promise, holds]) =>
    holds(name) ? [] : [`${JSON.stringify(given)} → ${JSON.stringify(name)}: ${promise}`],
  );
}

describe('a file name made of what a peer said', () => {
  it('is clean for every naughty string', () => {
    expect(NAUGHTY).toHaveLength(515);
    expect(VECTORS.flatMap(brokenPromises)).toEqual([]);
  });

  it('is clean for any string', () => {
    const nasty = fc.string({
      unit: fc.oneof(
        fc.constantFrom(
          '.',
          '-',
          '/',
          '\\',
          ' ',
          'CON',
          '\u202e',
          '\ud800',
          '\u200d',
          '\u0301',
          'é',
          '\u{1f468}',
          '\0',
        ),
        anyText({ maxLength: 2 }),
      ),
      maxLength: 60,
    });
    fc.assert(
      fc.property(nasty, (name) => expect(brokenPromises(name)).toEqual([])),
      { numRuns: runs(1000) },
    );
  });

  it.each([
    ['report.pdf', 'report.pdf'],
    ['Jahresbericht für Müller.pdf', 'Jahresbericht für Müller.pdf'],
    ['写真.png', '写真.png'],
    ['\u{1f468}\u200d\u{1f469}\u200d\u{1f467}.png', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}.png'],
    // Persian and the languages of India write with joiners, which are no letters but are seen
    ['می\u200cخواهم.pdf', 'می\u200cخواهم.pdf'],
    ['क्\u200dष.pdf', 'क्\u200dष.pdf'],
    ['a\u200cb\u200dc\ufe01.pdf', 'abc.pdf'],
    ['می\u200c', 'می'],
    ['e\u0301.txt', 'é.txt'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\temp\\a.txt', 'a.txt'],
    ['folder/', 'folder'],
    ['photo\u202egnp.exe', 'photognp.exe'],
    ['-rf', 'rf'],
    ['.CON', 'CON_'],
    ['', 'file'],
  ])('%j becomes %j', (given, cleaned) => {
    expect(cleanFileName(given)).toBe(cleaned);
  });

  it('keeps its extension when it is shortened', () => {
    expect(cleanFileName(`${'é'.repeat(300)}.png`)).toMatch(/^é+\.png$/);
    expect(cleanFileName(`${'x'.repeat(5_000_000)}.tar`)).toMatch(/^x+\.tar$/);
  });
});

describe('a file without a name', () => {
  const facts = { owner: 'screenshot', index: 2, ext: 'png' };

  it.each([
    [{}, 'screenshot-2.png'],
    [{ name: '' }, 'screenshot-2.png'],
    [{ name: '../' }, 'screenshot-2.png'],
    [{ name: 'a.txt', uri: 'file:///b.txt' }, 'a.txt'],
    [{ uri: 'file:///tmp/b%20c.txt?x=1#y' }, 'b c.txt'],
    [{ uri: 'file:///tmp/%2e%2e%2fpasswd' }, 'passwd.png'],
    [{ uri: 'https://example.com/' }, 'screenshot-2.png'],
    [{ uri: 'https://example.com/a/%zz' }, '%zz.png'],
    [{ uri: 'test://static/resource/1' }, '1.png'],
    [{ uri: 'data:image/png;base64,AAAA' }, 'screenshot-2.png'],
    [{ uri: 'docs://harbour.png' }, 'harbour.png'],
    [{ uri: 'docs://Caf%C3%A9%20au%20lait.PNG' }, 'Café au lait.PNG'],
    [{ uri: 'docs://%2e%2e%2fpasswd.png/' }, 'passwd.png'],
    [{ uri: 'https://example.com' }, 'screenshot-2.png'],
    [{ uri: 'docs://user@harbour.png' }, 'screenshot-2.png'],
    [{ owner: '../we\u202eird' }, 'weird-2.png'],
  ])('is called as %j suggests: %s', (given, expected) => {
    expect(fileNameFor({ ...facts, ...given })).toBe(expected);
  });
});

describe('Content-Disposition', () => {
  it('is one line of ASCII that says the clean name for every naughty string (G16)', () => {
    const headers = VECTORS.map((vector) => attachment(vector));
    expect(headers.filter((header) => !/^attachment; filename[ -~]+$/.test(header))).toEqual([]);
    expect(headers.map((header) => parse(header).parameters.filename)).toEqual(VECTORS.map((v) => cleanFileName(v)));
  });

  it('is so for any string', () => {
    fc.assert(
      fc.property(anyText(), (name) => {
        expect(parse(attachment(name)).parameters.filename).toBe(cleanFileName(name));
      }),
      { numRuns: runs(1000) },
    );
  });
});
