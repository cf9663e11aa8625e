import { describe, expect, it } from '@jest/globals';
import { Base64Encoder, encodedLength, encodedUrlLength } from '../../../../gateway/wire/base64/encode.js';
import { chunkings } from '../../../helpers/chunked.js';

describe('encoding', () => {
  it.each([0, 1, 2, 3, 4, 5, 57, 200])('%i bytes gives standard base64 in any chunks', (length) => {
    const bytes = Buffer.from(Array.from({ length }, (_, index) => (index * 89 + 250) % 256));
    for (const { name, chunks } of chunkings(bytes)) {
      const encoder = new Base64Encoder();
      const parts = chunks.map((chunk) => encoder.push(chunk));
      expect([name, Buffer.concat([...parts, encoder.finish()]).toString()]).toEqual([name, bytes.toString('base64')]);
    }
    expect(encodedLength(length)).toBe(bytes.toString('base64').length);
  });

  it.each([0, 1, 2, 3, 4, 5, 57, 200])('%i bytes gives url-safe base64 in any chunks', (length) => {
    const bytes = Buffer.from(Array.from({ length }, (_, index) => (index * 89 + 250) % 256));
    for (const { name, chunks } of chunkings(bytes)) {
      const encoder = new Base64Encoder('base64url');
      const parts = chunks.map((chunk) => encoder.push(chunk));
      expect([name, Buffer.concat([...parts, encoder.finish()]).toString()]).toEqual([
        name,
        bytes.toString('base64url'),
      ]);
    }
    expect(encodedUrlLength(length)).toBe(bytes.toString('base64url').length);
  });

  it('takes chunks of any size', () => {
    const bytes = Buffer.alloc(300_001, 'some bytes');
    const encoder = new Base64Encoder();
    const encoded = Buffer.concat([
      encoder.push(bytes.subarray(0, 1)),
      encoder.push(bytes.subarray(1)),
      encoder.finish(),
    ]);
    expect(encoded.equals(Buffer.from(bytes.toString('base64')))).toBe(true);
  });

  it('keeps nothing of a chunk that its owner may write to again', () => {
    const encoder = new Base64Encoder();
    const chunk = Buffer.from('ABCDE');
    const first = encoder.push(chunk);
    chunk.fill(0);
    expect(Buffer.concat([first, encoder.finish()]).toString()).toBe('QUJDREU=');
  });
});
