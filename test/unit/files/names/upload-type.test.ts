import { describe, expect, it } from '@jest/globals';
import { sniff } from '../../../../gateway/files/names/media-type.js';
import { type TypeFacts, uploadedType } from '../../../../gateway/files/names/upload-type.js';
import { HELLO, PDF, PNG } from '../uploads/upload-lab.js';

const typeOf = async (bytes: Buffer, facts: Partial<TypeFacts>) => {
  const nothing = { announced: undefined, declared: undefined, name: undefined, accept: undefined };
  return uploadedType({ ...nothing, ...facts, sniffed: bytes.length === 0 ? 'empty' : await sniff(bytes) });
};

/** With a chunk that says how many frames there are. */
const APNG = Buffer.concat([
  Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0....', 'latin1'),
  Buffer.from('\0\0\0\x08acTL\0\0\0\x02\0\0\0\0....', 'latin1'),
]);

const EMPTY = Buffer.alloc(0);
const UNKNOWN = Buffer.from([1, 2, 3, 0, 255]);
const PHOTOSHOP = Buffer.from('8BPS\0\x01\0\0\0\0\0\0\0\x03', 'latin1');

describe('the type of an uploaded file', () => {
  it.each<[string, Buffer, Partial<TypeFacts>, string]>([
    ['stays as announced where the bytes tell nothing', HELLO, { announced: 'text/csv' }, 'text/csv'],
    ['stays as announced where they agree', PNG, { announced: 'image/png' }, 'image/png'],
    [
      'is what was announced, whatever the browser guesses',
      HELLO,
      { announced: 'text/csv', declared: 'application/vnd.ms-excel' },
      'text/csv',
    ],
    ['is what the browser says where nothing was announced', HELLO, { declared: 'text/markdown' }, 'text/markdown'],
    ['is corrected where the browser is wrong', PDF, { declared: 'image/png' }, 'application/pdf'],
    [
      'comes from the bytes where only "some bytes" was announced',
      PDF,
      { announced: 'application/octet-stream' },
      'application/pdf',
    ],
    ['is that of a PNG where it is animated', APNG, { announced: 'image/apng', accept: ['image/png'] }, 'image/png'],
    ['knows old names', PNG, { announced: 'image/x-png', accept: ['image/png'] }, 'image/png'],
    ['fits a kind', PNG, { accept: ['image/*'] }, 'image/png'],
    ['fits anything', HELLO, { accept: ['*/*'] }, 'text/plain'],
    [
      'is told by the name where the bytes tell little',
      HELLO,
      { declared: 'application/octet-stream', name: 'a.CSV', accept: ['image/png', 'text/csv'] },
      'text/csv',
    ],
    ['fits an extension by its bytes, whatever its name', PDF, { name: 'x.bin', accept: ['.pdf'] }, 'application/pdf'],
    [
      'fits an extension by what was said of it, where the bytes tell nothing and it has no name',
      HELLO,
      { declared: 'text/csv', accept: ['.csv'] },
      'text/csv',
    ],
    [
      'fits the extension that its bytes suggest, also of a type that is seldom sent',
      PHOTOSHOP,
      { name: 'x.bin', accept: ['.psd'] },
      'image/vnd.adobe.photoshop',
    ],
    [
      'fits an extension by its name, where the bytes tell nothing',
      HELLO,
      { name: 'A.LOG', accept: ['.log'] },
      'text/plain',
    ],
    [
      'is what was said of bytes that no one knows',
      UNKNOWN,
      { declared: 'image/heic', accept: ['image/*'] },
      'image/heic',
    ],
    [
      'is a picture, where that was said of them',
      UNKNOWN,
      { name: 'x.gif', accept: ['.png', 'image/gif'] },
      'image/gif',
    ],
    ['of an empty file is that of its name', EMPTY, { name: 'x.txt', accept: ['text/*'] }, 'text/plain'],
    ['of an empty file is what was said, where any fits', EMPTY, { name: 'x.csv', accept: ['text/csv'] }, 'text/csv'],
    ['fits one of several', PDF, { accept: ['image/png', '.doc', ' Application/PDF '] }, 'application/pdf'],
  ])('%s', async (_what, bytes, facts, expected) => {
    expect(await typeOf(bytes, facts)).toBe(expected);
  });

  it.each<[string, Buffer, Partial<TypeFacts>]>([
    ['a PDF announced as an image (2631-60)', PDF, { announced: 'image/png' }],
    ['a PDF announced as text', PDF, { announced: 'text/plain' }],
    ['a type that is not accepted', HELLO, { announced: 'text/plain', accept: ['image/png'] }],
    ['a kind that is not accepted', PDF, { accept: ['image/*', 'text/*'] }],
    ['a name that lies about known bytes', PDF, { name: 'x.png', accept: ['.png'] }],
    ['a browser that lies about known bytes', PDF, { declared: 'image/png', accept: ['image/png'] }],
    ['a name that lies about text', HELLO, { name: 'x.png', accept: ['.png'] }],
    ['a name that lies about an accepted type', PNG, { name: 'x.csv', accept: ['text/csv'] }],
    ['text without the name of an accepted type', HELLO, { name: 'x.txt', accept: ['text/csv'] }],
    ['an empty file with the name of a picture', EMPTY, { name: 'x.png', accept: ['image/png', '.png'] }],
    ['an empty file that a browser calls a picture', EMPTY, { declared: 'image/jpeg', accept: ['image/*'] }],
    ['anything, where nothing is accepted', HELLO, { accept: [] }],
  ])('%s is refused', async (_what, bytes, facts) => {
    await expect(typeOf(bytes, facts)).rejects.toMatchObject({
      code: 'upload_type_refused',
      facts: { reason: 'mimeTypeNotAccepted', ...(facts.accept && { limit: 'accept' }) },
    });
  });

  it('says of an empty file that it is one', async () => {
    await expect(typeOf(EMPTY, { name: 'x.png', accept: ['image/png'] })).rejects.toThrow(
      'The file is empty. Choose one with content; accepted: image/png.',
    );
  });
});
