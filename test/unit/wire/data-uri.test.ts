import { describe, expect, it } from '@jest/globals';
import { MAX_DATA_URI_HEAD, parseDataUriHead } from '../../../gateway/wire/data-uri.js';

const parse = (text: string) => parseDataUriHead(Buffer.from(text));

describe('the head of a data: URI', () => {
  it.each([
    ['data:image/png;base64,AAAA', { mimeType: 'image/png', base64: true }],
    ['DATA:Image/PNG;BASE64,AAAA', { mimeType: 'image/png', base64: true }],
    ['data:;base64,AAAA', { mimeType: 'text/plain', base64: true }],
    ['data:,hello', { mimeType: 'text/plain', base64: false }],
    ['data:text/html,<script>', { mimeType: 'text/html', base64: false }],
    ['data:text/plain;charset=utf-8;base64,AAAA', { mimeType: 'text/plain', base64: true }],
    ['data:image/svg+xml; base64 ,AAAA', { mimeType: 'image/svg+xml', base64: true }],
    ['data:application/pdf;name=a%20b.pdf;base64,AAAA', { mimeType: 'application/pdf', name: 'a b.pdf', base64: true }],
    ['data:application/pdf;name="a.pdf";base64,AAAA', { mimeType: 'application/pdf', name: 'a.pdf', base64: true }],
    ['data:a/b;name=\\"a;b.pdf\\";base64,AAAA', { mimeType: 'a/b', name: 'a;b.pdf', base64: true }],
    // a quotation mark that is not closed is a letter like any other
    ['data:a/b;name="a;base64,AAAA', { mimeType: 'a/b', name: '"a', base64: true }],
    ['data:a/b;name=%zz;base64,AAAA', { mimeType: 'a/b', name: '%zz', base64: true }],
    ['data:a/b;name=gr\u00f6\u00dfe;base64,AAAA', { mimeType: 'a/b', name: 'gr\u00f6\u00dfe', base64: true }],
    ['data:a/b;name=;base64,AAAA', { mimeType: 'a/b', base64: true }],
    ['data:image\\/png;base64,AAAA', { mimeType: 'image/png', base64: true }],
    ['\\u0064ata:image\\u002Fpng;base64\\u002cAAAA', { mimeType: 'image/png', base64: true }],
  ])('%s', (text, expected) => {
    const bytes = Buffer.from(text);
    const dataStart = bytes.includes('AAAA') ? bytes.indexOf('AAAA') : bytes.indexOf(',') + 1;
    expect(parse(text)).toEqual({ ...expected, dataStart });
  });

  it('is incomplete as long as it may still be one', () => {
    const text = 'data:image\\/png;base64\\u002cAAAA';
    const end = text.indexOf('AAAA');
    for (let length = 0; length < end; length++)
      expect([length, parse(text.slice(0, length))]).toEqual([length, 'incomplete']);
    expect(parse(text.slice(0, end))).toMatchObject({ dataStart: end });
  });

  it.each([
    'x',
    'dat a',
    'http://a/b,c',
    ' data:,',
    'data;',
    '\\ndata:,',
    'data:a\\nb,',
    'data:\\u0000,',
    'data:\\u00zz,',
    '\\x',
  ])('is not %s', (text) => {
    expect(parse(text)).toBe('not-a-data-uri');
  });

  it('is at most 4 KiB long', () => {
    const of = (length: number) => `data:${'x'.repeat(length - 'data:,'.length)},`;
    expect(parse(of(MAX_DATA_URI_HEAD))).toMatchObject({ dataStart: MAX_DATA_URI_HEAD });
    expect(parse(of(MAX_DATA_URI_HEAD + 1))).toBe('not-a-data-uri');
    expect(parse(`data:${'x'.repeat(2_000_000)}`)).toBe('not-a-data-uri');
  });
});
