import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { PreviewLimits, PreviewResult, Thumbnailer } from '../../../gateway/ports/thumbnailer.js';

export const LIMITS: PreviewLimits = { maxEdge: 1568, maxEncodedBytes: 100 * 1024, maxPixels: 50_000_000 };

export function renderBytes(
  thumbnailer: Thumbnailer,
  bytes: Buffer,
  limits: PreviewLimits = LIMITS,
  signal: AbortSignal = new AbortController().signal,
): Promise<PreviewResult> {
  return thumbnailer.render(async () => Readable.from([bytes]), limits, signal);
}

/** What every thumbnailer does, whether or not it makes previews. */
export function describeThumbnailer(name: string, make: () => Thumbnailer): void {
  describe(`thumbnailer ${name}`, () => {
    const thumbnailer = make();
    afterAll(() => thumbnailer.close());

    it('is ready', async () => {
      await expect(thumbnailer.check()).resolves.toBeUndefined();
    });

    it.each([
      ['nothing', Buffer.alloc(0)],
      ['one byte', Buffer.from('G')],
      ['text', Buffer.from('Not an image, but long enough to be looked at.')],
      ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
    ])('refuses %s', async (_what, bytes) => {
      expect(await renderBytes(thumbnailer, bytes)).toMatchObject({ kind: 'refused' });
    });

    it('refuses instead of throwing when the source fails', async () => {
      const broken = new Readable({
        read() {
          this.destroy(new Error('The store went away.'));
        },
      });
      const result = await thumbnailer.render(async () => broken, LIMITS, new AbortController().signal);
      expect(result.kind).toBe('refused');
    });

    it('refuses instead of throwing when the source cannot be opened', async () => {
      const open = async (): Promise<Readable> => Promise.reject(new Error('The store is down.'));
      expect(await thumbnailer.render(open, LIMITS, new AbortController().signal)).toMatchObject({ kind: 'refused' });
    });

    it('refuses what was aborted before it began', async () => {
      expect(await renderBytes(thumbnailer, Buffer.alloc(100), LIMITS, AbortSignal.abort())).toMatchObject({
        kind: 'refused',
      });
    });

    it('refuses after it was closed, and can be closed twice', async () => {
      const closed = make();
      await closed.close();
      await closed.close();
      expect(await renderBytes(closed, Buffer.alloc(100))).toMatchObject({ kind: 'refused' });
    });
  });
}
