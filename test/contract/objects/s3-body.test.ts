import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { S3Body } from '../../../adapters/objects/s3/body.js';

const NEVER = new AbortController().signal;
/** Nothing here may wait for it. */
const SILENCE_MS = 10 * 60_000;

describe('the body of an object in S3', () => {
  it('is what the store sends', async () => {
    const source = Readable.from([Buffer.from('0123'), Buffer.from('456')]);
    expect((await buffer(new S3Body(source, 7, SILENCE_MS, NEVER))).toString()).toBe('0123456');
  });

  it.each([
    ['longer', 6],
    ['shorter', 8],
  ])('fails when it is %s than it was announced', async (_, length) => {
    const source = Readable.from([Buffer.from('0123'), Buffer.from('456')]);
    const body = new S3Body(source, length, SILENCE_MS, NEVER);
    await expect(buffer(body)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(source.destroyed).toBe(true);
  });

  it.each([
    ['with an error', new Error('a broken chunk')],
    ['without one', undefined],
  ])('fails at once when the connection was lost before anything listened, %s', async (_, error) => {
    const source = new Readable({ read() {} });
    source.on('error', () => undefined);
    const closed = once(source, 'close').catch(() => undefined);
    source.destroy(error);
    await closed;
    await expect(buffer(new S3Body(source, 7, SILENCE_MS, NEVER))).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('fails when the store sends a byte now and then', async () => {
    const source = new Readable({ read() {} });
    const drip = setInterval(() => source.push('x'), 10);
    const body = new S3Body(source, 1_000_000, 300, NEVER);
    await expect(buffer(body)).rejects.toMatchObject({ code: 'store_timeout' });
    clearInterval(drip);
    expect(source.destroyed).toBe(true);
  });

  it('fails with the reason of a signal that was aborted before', async () => {
    const body = new S3Body(
      new Readable({ read() {} }),
      7,
      SILENCE_MS,
      AbortSignal.abort(new Error('no longer wanted')),
    );
    await expect(buffer(body)).rejects.toThrow('no longer wanted');
  });
});
