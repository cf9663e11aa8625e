import { beforeEach, describe, expect, it } from '@jest/globals';
import { storeFile } from '../../../gateway/files/store-file.js';
import { sha256Url } from '../../helpers/bytes.js';
import { inPieces } from '../../helpers/chunked.js';
import { createLab, HELLO, HELLO_DIGEST, type Lab, NEVER } from './uploads/upload-lab.js';

let lab: Lab;

beforeEach(() => {
  lab = createLab();
});

const store = (
  bytes: Buffer,
  more: { expect?: { size?: number; digest?: string }; bytes?: number; mimeType?: string } = {},
) =>
  storeFile(
    {
      bytes: inPieces(bytes, 5),
      claims: more.mimeType === undefined ? {} : { mimeType: more.mimeType },
      principal: 'ann',
      server: 'docs',
      subject: 'file',
      limit: { name: 'limits.file', bytes: more.bytes ?? 1000, path: 'the server' },
      ...(more.expect && { expect: more.expect }),
    },
    { ingest: lab.ingest, library: lab.library },
    NEVER,
  );

/** As long as HELLO, and other bytes. */
const OTHER = Buffer.from('Hello earth!');

describe('a file that is fetched', () => {
  it('is kept when it is what was said of it', async () => {
    const record = await store(HELLO, { expect: { size: HELLO.length, digest: HELLO_DIGEST } });
    expect(record).toMatchObject({ size: HELLO.length, digest: HELLO_DIGEST, server: 'docs' });
    expect(await lab.bytesOf(record.key)).toEqual(HELLO);
  });

  it('of other bytes than its digest says is refused, and nothing of it stays', async () => {
    await expect(store(OTHER, { expect: { size: HELLO.length, digest: HELLO_DIGEST } })).rejects.toMatchObject({
      code: 'upload_digest_differs',
      facts: { reason: 'digestMismatch' },
    });
    await expect(store(HELLO, { expect: { digest: sha256Url(OTHER) } })).rejects.toMatchObject({
      code: 'upload_digest_differs',
    });
    expect(await lab.keys()).toEqual([]);
    expect(lab.budget.used).toBe(0);
  });

  it.each([-1, 1])('of another size than was said (by %i) is refused, and nothing of it stays', async (more) => {
    await expect(store(HELLO, { expect: { size: HELLO.length + more } })).rejects.toMatchObject({
      code: 'upload_size_differs',
      facts: { allowed: HELLO.length + more, actual: HELLO.length },
    });
    expect(await lab.keys()).toEqual([]);
  });

  it.each([
    ['in the words of an old system', Buffer.from('Grüße'.repeat(50), 'latin1'), 'text/plain', true],
    ['in UTF-8', Buffer.from('Grüße'.repeat(50)), 'text/plain', undefined],
    ['that is no text', Buffer.from('Grüße'.repeat(50), 'latin1'), 'application/x-thing', undefined],
  ])('%s is recorded as it is written', async (_what, bytes, mimeType, notUtf8) => {
    const record = await store(bytes, { mimeType });
    expect([record.mimeType, record.notUtf8]).toEqual([mimeType, notUtf8]);
    expect(await lab.library.find(record.id)).toEqual(record);
  });

  it('may be as large as the limit, and not a byte larger', async () => {
    expect(await store(HELLO, { bytes: HELLO.length })).toMatchObject({ size: HELLO.length });
    await expect(store(HELLO, { bytes: HELLO.length - 1 })).rejects.toMatchObject({
      code: 'file_too_large',
      facts: { limit: 'limits.file', allowed: HELLO.length - 1, actual: HELLO.length },
    });
    expect(await lab.keys()).toHaveLength(1);
  });
});
