import { describe, expect, it } from '@jest/globals';
import { encodeFile } from '../../../../gateway/files/encode/index.js';
import { readDataUri } from '../../../../gateway/wire/data-uri.js';
import { chunkings } from '../../../helpers/chunked.js';
import { F1, F4, fileOf, joined, jsonOf, piecesOf, sourceOf } from './lab.js';

const EMPTY = Buffer.alloc(0);

describe('9.3.3: what a file becomes in an argument', () => {
  it.each([
    ['base64', '"AAEC/f7/"'],
    ['base64url', '"AAEC_f7_"'],
    ['hex', '"000102fdfeff"'],
    ['dataUri', '"data:application/octet-stream;base64,AAEC/f7/"'],
    ['dataUriNamed', '"data:application/octet-stream;name=x.bin;base64,AAEC/f7/"'],
    ['bytes', '[0,1,2,253,254,255]'],
  ] as const)('%s, in any chunks', async (encoding, expected) => {
    for (const { name, chunks } of chunkings(F4))
      expect([name, await jsonOf(encoding, sourceOf(chunks))]).toEqual([name, expected]);
  });

  it.each([
    ['base64', '""'],
    ['base64url', '""'],
    ['hex', '""'],
    ['dataUri', '"data:text/plain;base64,"'],
    ['dataUriNamed', '"data:text/plain;name=x.bin;base64,"'],
    ['text', '""'],
    ['bytes', '[]'],
  ] as const)('%s of an empty file', async (encoding, expected) => {
    expect(await jsonOf(encoding, fileOf(EMPTY, { mimeType: 'text/plain' }))).toBe(expected);
    expect(await jsonOf(encoding, sourceOf([EMPTY, EMPTY], { mimeType: 'text/plain' }))).toBe(expected);
  });

  it.each([
    ['base64', '"AAEC/f7/"'],
    ['base64url', '"AAEC_f7_"'],
    ['dataUri', '"data:application/octet-stream;base64,AAEC/f7/"'],
  ] as const)('%s of bytes that are in memory, without reading the file', async (encoding, expected) => {
    const read = () => {
      throw new Error('read');
    };
    expect(await jsonOf(encoding, { ...fileOf(F4), read, inMemory: () => F4 })).toBe(expected);
    expect(await jsonOf(encoding, { ...fileOf(F4), inMemory: () => undefined })).toBe(expected);
  });

  it.each([
    ['dataUri', '"data:text/csv;charset=iso-8859-1;base64,/A=="'],
    ['dataUriNamed', '"data:text/csv;charset=iso-8859-1;name=x.bin;base64,/A=="'],
  ] as const)('%s of a text in another charset says it', async (encoding, expected) => {
    const file = fileOf(Buffer.from([0xfc]), { mimeType: 'text/csv', charset: 'iso-8859-1' });
    expect(await jsonOf(encoding, file)).toBe(expected);
  });

  it('base64url has no padding, base64 has', async () => {
    expect(await jsonOf('base64url', fileOf(Buffer.from([0xff])))).toBe('"_w"');
    expect(await jsonOf('base64', fileOf(Buffer.from([0xff])))).toBe('"/w=="');
  });

  it('bytes of every value and length', async () => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    expect(await jsonOf('bytes', fileOf(all))).toBe(JSON.stringify([...all]));
  });

  it.each(['httpsUrl', 'localPath', 'fileUri'] as const)('%s is the string that was made for it', async (encoding) => {
    const value = 'https://wharf.example/d/t?a="b"\\\n\u00fc';
    expect(await jsonOf(encoding, fileOf(F4), { value })).toBe(JSON.stringify(value));
    await expect(jsonOf(encoding, fileOf(F4))).rejects.toThrow('No address or path');
  });
});

describe('text', () => {
  it('is a JSON string', async () => {
    expect(await jsonOf('text', fileOf(F1))).toBe('"Hello world!"');
  });

  it('is escaped as JSON.stringify does it, in any chunks', async () => {
    const controls = Array.from({ length: 0x21 }, (_, code) => String.fromCharCode(code)).join('');
    const text = `${controls}\x7f"\\/\u0080\u2028\ufeff\uffff\u{10000}\u{10ffff}ü文`;
    for (const { name, chunks } of chunkings(Buffer.from(text)))
      expect([name, await jsonOf('text', sourceOf(chunks))]).toEqual([name, JSON.stringify(text)]);
  });

  it('keeps a byte order mark, which is part of the file', async () => {
    expect(JSON.parse(await jsonOf('text', fileOf(Buffer.from('\ufeffa'))))).toBe('\ufeffa');
  });

  it.each([
    ['F4', F4],
    ['a lone continuation', Buffer.from([0x61, 0x80])],
    ['a character that never ends', Buffer.from([0x61, 0xf0, 0x9f, 0x98])],
    ['a character that ends too early', Buffer.from([0xe2, 0x82, 0x61])],
    ['an overlong slash', Buffer.from([0xc0, 0xaf])],
    ['a surrogate', Buffer.from([0xed, 0xa0, 0x80])],
    ['beyond Unicode', Buffer.from([0xf4, 0x90, 0x80, 0x80])],
    ['UTF-16', Buffer.from('\ufeffab', 'utf16le')],
    ['four continuations', Buffer.from([0x80, 0x80, 0x80, 0x80])],
  ])('%s is not text, in any chunks', async (_, bytes) => {
    for (const { chunks } of chunkings(bytes)) {
      await expect(encodeFile('text', sourceOf(chunks), { path: 'pages[2].data' })).rejects.toMatchObject({
        code: 'file_not_text',
        facts: { reason: 'notText', path: 'pages[2].data' },
      });
    }
  });
});

describe('a data URI', () => {
  const named = (name: string, mimeType = 'application/pdf') => jsonOf('dataUriNamed', fileOf(F1, { name, mimeType }));

  it('carries the name as RFC 3986 spells it (2356o-08)', async () => {
    expect(await named('Report (v2); final.pdf')).toBe(
      '"data:application/pdf;name=Report%20%28v2%29%3B%20final.pdf;base64,SGVsbG8gd29ybGQh"',
    );
    expect(await named("it's!.pdf")).toContain(';name=it%27s%21.pdf;base64,');
  });

  it('carries a name of any script so that it is read again', async () => {
    const name = 'отчёт 文档.pdf';
    expect(readDataUri(JSON.parse(await named(name)))).toEqual({ mimeType: 'application/pdf', name, bytes: F1 });
  });

  it('has no parameter for a file without a name', async () => {
    expect(await named('')).toBe('"data:application/pdf;base64,SGVsbG8gd29ybGQh"');
  });

  it('never carries a path, nor half of a surrogate pair (2356o-11)', async () => {
    expect(await named('../../etc/passwd')).toContain(';name=passwd;base64,');
    expect(await named('a\ud800b.pdf')).toContain(';name=ab.pdf;base64,');
  });

  it.each(['', 'png', 'image/png,x', 'image/png;base64,QUJD', 'a/b"c', 'a/b\r\n'.repeat(3), 'image/png; x'])(
    'is application/octet-stream for the type %j (2356-15)',
    async (mimeType) => {
      expect(await jsonOf('dataUri', fileOf(F4, { mimeType }))).toBe('"data:application/octet-stream;base64,AAEC/f7/"');
    },
  );

  it('has the type without parameters, which servers do not expect there', async () => {
    expect(await jsonOf('dataUri', fileOf(F1, { mimeType: 'Text/Plain;charset=US-ASCII' }))).toBe(
      '"data:text/plain;base64,SGVsbG8gd29ybGQh"',
    );
  });
});

describe('the file is not what its record says', () => {
  it.each(['base64', 'base64url', 'hex', 'dataUri', 'bytes', 'text'] as const)('%s', async (encoding) => {
    for (const size of [F1.length - 1, F1.length + 1]) {
      const read = async () => joined(await encodeFile(encoding, fileOf(F1, { size }), { path: 'image' }));
      await expect(read()).rejects.toMatchObject({ code: 'file_gone' });
    }
  });

  it('never gives more than was promised', async () => {
    const value = await encodeFile('hex', fileOf(F1, { size: 7 }), { path: 'image' });
    let sent = 0;
    const send = async () => {
      for await (const part of piecesOf(value)) sent += part.length;
    };
    await expect(send()).rejects.toMatchObject({ code: 'file_gone' });
    expect(sent).toBeLessThan(value.length);
  });
});

describe('reading', () => {
  it('passes on what the store throws', async () => {
    const failure = new Error('store');
    const file = fileOf(F1, {
      async *read() {
        yield F1.subarray(0, 3);
        throw failure;
      },
    });
    for (const encoding of ['base64', 'text', 'bytes'] as const) {
      await expect((async () => joined(await encodeFile(encoding, file, { path: 'a' })))()).rejects.toBe(failure);
    }
  });

  it('lets the store go when the receiver stops', async () => {
    let closed = 0;
    const file = fileOf(F1, {
      size: 1_000_000,
      async *read() {
        try {
          for (;;) yield Buffer.alloc(300);
        } finally {
          closed++;
        }
      },
    });
    for await (const part of piecesOf(await encodeFile('base64', file, { path: 'a' }))) {
      if (part.length === 400) break;
    }
    expect(closed).toBe(1);
  });

  it('can be done again, with the same result', async () => {
    for (const encoding of ['base64', 'text', 'bytes', 'hex'] as const) {
      const value = await encodeFile(encoding, fileOf(F1), { path: 'a' });
      expect(await joined(value)).toEqual(await joined(value));
    }
  });

  it('gives small pieces of a chunk of any size', async () => {
    const bytes = Buffer.alloc(3_000_000, 'abc');
    const sizes: number[] = [];
    for await (const part of piecesOf(await encodeFile('bytes', sourceOf([bytes]), { path: 'a' })))
      sizes.push(part.length);
    expect(Math.max(...sizes)).toBeLessThan(1_300_000);
  });
});
