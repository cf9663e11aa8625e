import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  extensionFor,
  extensionOf,
  isMediaType,
  mediaTypeOf,
  SNIFF_BYTES,
  safeMediaType,
  showsInBytes,
  sniff,
} from '../../../../gateway/files/names/media-type.js';
import { anyText } from '../../../helpers/any-text.js';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0', 'latin1');

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

/** The heads of a ZIP's entries, each with some data, in the order in which a program writes them. */
const zip = (...names: string[]) =>
  Buffer.concat(
    names.map((name) => {
      const head = Buffer.alloc(30);
      head.write('PK\x03\x04', 'latin1');
      head.writeUInt16LE(20, 4);
      head.writeUInt16LE(8, 8);
      head.writeUInt32LE(5, 18);
      head.writeUInt32LE(7, 22);
      head.writeUInt16LE(name.length, 26);
      return Buffer.concat([head, Buffer.from(name), Buffer.from([1, 2, 3, 4, 5])]);
    }),
  );

const office = (of: string) => `application/vnd.openxmlformats-officedocument.${of}`;

describe('a document of Word, Excel or PowerPoint that begins with another part than its list of types', () => {
  it.each<[string, string[], mime: string, ext: string]>([
    [
      'openpyxl',
      ['docProps/app.xml', 'docProps/core.xml', 'xl/theme/theme1.xml'],
      office('spreadsheetml.sheet'),
      'xlsx',
    ],
    ['XlsxWriter', ['xl/worksheets/sheet1.xml'], office('spreadsheetml.sheet'), 'xlsx'],
    ['docx of npm', ['word/document.xml', 'word/styles.xml'], office('wordprocessingml.document'), 'docx'],
    [
      'LibreOffice',
      ['_rels/.rels', 'docProps/core.xml', 'ppt/_rels/presentation.xml.rels'],
      office('presentationml.presentation'),
      'pptx',
    ],
  ])('is known: %s', async (_by, names, mime, ext) => {
    expect(await sniff(zip(...names))).toEqual({ mime, ext });
  });

  it.each([
    [['docProps/app.xml']],
    [['xl/theme/theme1.xml', 'notes.txt']],
    [['xl/workbook.bin']],
    [['word/document.xml', 'xl/workbook.xml']],
    [['backup/word/document.xml']],
  ])('is a ZIP where that is not certain: %j', async (names) => {
    expect(await sniff(zip(...names))).toEqual({ mime: 'application/zip', ext: 'zip' });
  });

  it('has its own type where a server writes one that its format does not have', () => {
    expect(mediaTypeOf('application/docx', undefined)).toBe(office('wordprocessingml.document'));
    expect(extensionFor('application/xlsx')).toBe('xlsx');
  });
});

describe('what the first bytes say', () => {
  it.each<[text: string | Buffer, mime: string | undefined, ext: string | undefined]>([
    [PNG, 'image/png', 'png'],
    [Buffer.from([0xff, 0xd8, 0xff, 0xe0]), 'image/jpeg', 'jpg'],
    ['%PDF-1.7\n', 'application/pdf', 'pdf'],
    ['<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml', 'svg'],
    ['\ufeff  <?xml version="1.0"?>\n<!-- a -->\n<!DOCTYPE svg>\n<svg/>', 'image/svg+xml', 'svg'],
    ['<?xml version="1.0"?><s:svg xmlns:s="http://www.w3.org/2000/svg"/>', 'image/svg+xml', 'svg'],
    ['<?xml version="1.0"?><report/>', 'application/xml', 'xml'],
    ['<!-- x --><!DOCTYPE HTML><p>', 'text/html', 'html'],
    ['<!DOCTYPE \t html>\n<p>', 'text/html', 'html'],
    ['<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd" >\n<svg/>', 'image/svg+xml', 'svg'],
    ['<!DOCTYPE svg [ <!ENTITY a "b"> ] >\n<svg>&a;</svg>', 'image/svg+xml', 'svg'],
    ['<!DOCTYPE note><note/>', 'text/plain', 'txt'],
    ['<script>alert(1)</script>', 'text/html', 'html'],
    ['<generic> in TypeScript', 'text/plain', 'txt'],
    ['{"a": [1]}', 'application/json', 'json'],
    ['[1, 2]', 'application/json', 'json'],
    ['[note] not JSON', 'text/plain', 'txt'],
    ['Grüße\n', 'text/plain', 'txt'],
    ['\u001b[31mred\u001b[0m', 'text/plain', 'txt'],
    [Buffer.from([0xfe, 0xed, 0x00, 0x01, 0x80, 0x81]), undefined, undefined],
    ['', undefined, undefined],
    ['BMI,age\n22.1,30\n', 'text/plain', 'txt'],
    ['GIF files are pictures.\n', 'text/plain', 'txt'],
    ['ID3 tags: {', 'text/plain', 'txt'],
    ['FORM,field\n', 'text/plain', 'txt'],
    ['MZ,PLZ,Ort\n', 'text/plain', 'txt'],
    [Buffer.from('BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0', 'latin1'), 'image/bmp', 'bmp'],
    [Buffer.from('GIF89a\x01\0\x01\0\x80\0\0', 'latin1'), 'image/gif', 'gif'],
    [Buffer.from('fLaC\0\0\0\x22', 'latin1'), 'audio/flac', 'flac'],
    [Buffer.from(`II*\0\xff\xff\x01\0${'pixels'.repeat(900)}`, 'latin1'), 'image/tiff', 'tif'],
    [Buffer.from(`MM\0*\0\x01\xff\xff${'pixels'.repeat(900)}`, 'latin1'), 'image/tiff', 'tif'],
    ['{\\rtf1 hi}', 'application/rtf', 'rtf'],
    ['%!PS-Adobe-3.0\n', 'application/postscript', 'ps'],
    ['BEGIN:VCALENDAR\n', 'text/calendar', 'ics'],
    [utf16('id;name\r\n1;Müller\r\n'), 'text/plain', 'txt'],
    [utf16('Привет, мир'), 'text/plain', 'txt'],
    [utf16('日本語\n'.repeat(2000)), 'text/plain', 'txt'],
    [utf16('Привет').swap16(), 'text/plain', 'txt'],
    [utf16('<!DOCTYPE html><p>'), 'text/html', 'html'],
    [utf16('<?xml version="1.0"?><svg/>'), 'image/svg+xml', 'svg'],
  ])('%j is %s', async (content, mime, ext) => {
    expect(await sniff(Buffer.from(content))).toEqual(mime === undefined ? undefined : { mime, ext });
  });

  // the work once grew with the cube of the blanks: 12 s for each of these
  it.each(Array.from({ length: 50 }, (_, n) => n))('are read once, however many blanks there are: %i', async (n) => {
    const text = `<!DOCTYPE${'\t'.repeat(SNIFF_BYTES - 40 * n - 20)}${'['.repeat(40 * n)}`;
    expect(await sniff(Buffer.from(text))).toEqual({ mime: 'text/plain', ext: 'txt' });
  });

  it('are judged alike when a character is cut in two at their end', async () => {
    const text = Buffer.from(`${'a'.repeat(SNIFF_BYTES - 1)}é and more`);
    expect(await sniff(text)).toEqual({ mime: 'text/plain', ext: 'txt' });
  });

  it('never make it throw, and always give a valid type', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300 }),
        fc.constantFrom('', '<?xml ', 'RIFF', 'PK\x03\x04', 'GIF89a', '0&²u'),
        async (bytes, start) => {
          const sniffed = await sniff(Buffer.concat([Buffer.from(start, 'latin1'), bytes]));
          if (sniffed !== undefined) expect(isMediaType(sniffed.mime)).toBe(true);
        },
      ),
    );
  });
});

describe('a declared media type', () => {
  it.each([
    'text/plain',
    'Application/VND.ms-excel',
    'image/svg+xml',
    'text/plain; charset=utf-8',
    'a/b;x="a\\"b"',
    `a/${'b'.repeat(127)}`,
  ])('%s is valid', (type) => {
    expect(isMediaType(type)).toBe(true);
  });

  it.each([
    '',
    'text',
    'text/',
    '/plain',
    'a/b/c',
    'a b/c',
    'text/plain;',
    'text/plain; charset',
    'é/x',
    '-a/b',
    'a/b\r\nX-Y: z',
    'a/b;x="\n"',
    '*/*',
    `a/${'b'.repeat(128)}`,
    `a/b;${'x'.repeat(600)}=1`,
  ])('%j is not', (type) => {
    expect(isMediaType(type)).toBe(false);
  });
});

describe('the type a file is recorded under', () => {
  it.each<[declared: string | undefined, sniffed: string | undefined, recorded: string]>([
    [undefined, undefined, 'application/octet-stream'],
    [undefined, 'image/png', 'image/png'],
    ['application/octet-stream', 'application/pdf', 'application/pdf'],
    ['not a type', 'text/plain', 'text/plain'],
    ['image/png', undefined, 'image/png'],
    ['image/jpg', 'image/jpeg', 'image/jpeg'],
    ['image/apng', 'image/png', 'image/png'],
    ['image/png', 'image/jpeg', 'image/jpeg'],
    ['image/png', 'text/html', 'text/html'],
    ['image/png', 'image/svg+xml', 'image/svg+xml'],
    ['audio/mp4', 'video/mp4', 'audio/mp4'],
    ['audio/mpeg', 'text/plain', 'text/plain'],
    ['text/csv', 'text/plain', 'text/csv'],
    ['text/plain', 'application/pdf', 'application/pdf'],
    ['application/vnd.custom', 'application/zip', 'application/vnd.custom'],
    ['TEXT/CSV; charset=utf-8', undefined, 'text/csv'],
  ])('declared %s, seen %s: %s', (declared, sniffed, recorded) => {
    expect(mediaTypeOf(declared, sniffed === undefined ? undefined : { mime: sniffed, ext: 'x' })).toBe(recorded);
  });
});

describe('the type a file is served with', () => {
  it.each([
    'text/html',
    'TEXT/HTML; charset=utf-8',
    'text/xml',
    'application/xml',
    'application/xhtml+xml',
    'application/rss+xml',
    'application/mathml+xml',
    'image/svg+xml',
    'text/javascript',
    'application/javascript',
    'application/x-javascript',
    'application/ecmascript',
    'text/css',
    'text/xsl',
    'application/wasm',
    'multipart/x-mixed-replace',
    'message/rfc822',
    'application/x-shockwave-flash',
    'application/hta',
    'application/vnd.custom+html',
    'text/vbscript',
  ])('is never %s', (declared) => {
    expect(safeMediaType(declared)).toMatch(/^(text\/plain|application\/octet-stream)(; charset=utf-8)?$/);
  });

  it.each([
    'image/png',
    'audio/mpeg',
    'video/mp4',
    'font/woff2',
    'application/pdf',
    'application/json',
    'application/zip',
    'text/csv',
    'text/markdown',
  ])('may be %s', (declared) => {
    expect(safeMediaType(declared)).toBe(declared);
  });

  it('keeps a charset in which ASCII is ASCII, and no other', () => {
    expect(safeMediaType('text/plain; charset="UTF-8"')).toBe('text/plain; charset=utf-8');
    expect(safeMediaType('text/plain; charset=utf-7')).toBe('text/plain');
    expect(safeMediaType('text/plain; charset=iso-2022-jp')).toBe('text/plain');
  });

  it('follows the bytes where they contradicted a harmless declaration when the type was recorded', () => {
    expect(safeMediaType(mediaTypeOf('image/png', { mime: 'image/svg+xml', ext: 'svg' }))).toBe(
      'application/octet-stream',
    );
    expect(safeMediaType(mediaTypeOf('image/png', { mime: 'text/html', ext: 'html' }))).toBe('text/plain');
  });

  it('is a valid type whatever is declared', () => {
    fc.assert(
      fc.property(anyText(), (declared) => {
        expect(isMediaType(safeMediaType(declared))).toBe(true);
      }),
    );
  });
});

describe('the extension of a type', () => {
  it.each([
    ['image/jpeg', 'jpg'],
    ['image/jpg', 'jpg'],
    ['text/x-anything', 'txt'],
    ['application/ld+json', 'json'],
    ['application/vnd.unknown', 'bin'],
    ['not a type', 'bin'],
  ])('%s is %s', (mime, ext) => {
    expect(extensionFor(mime)).toBe(ext);
  });

  it('comes from the bytes when the declaration says nothing of it', () => {
    expect(extensionOf(undefined, { mime: 'image/png', ext: 'png' })).toBe('png');
    expect(extensionOf('application/vnd.custom', { mime: 'application/zip', ext: 'zip' })).toBe('zip');
    expect(extensionOf('text/csv', { mime: 'text/plain', ext: 'txt' })).toBe('csv');
    expect(extensionOf(undefined, undefined)).toBe('bin');
  });
});

describe('a type whose files show it in their first bytes', () => {
  it.each(['image/png', 'audio/mpeg', 'video/mp4', 'application/pdf'])('is %s', (mime) => {
    expect(showsInBytes(mime)).toBe(true);
  });

  it.each(['text/csv', 'application/json', 'image/svg+xml', 'application/octet-stream', 'application/zip'])(
    'is not %s',
    (mime) => {
      expect(showsInBytes(mime)).toBe(false);
    },
  );
});
