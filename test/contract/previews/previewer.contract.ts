import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from '@jest/globals';
import type {
  OpenFile,
  Previewer,
  PreviewLimits,
  PreviewResult,
  PreviewSource,
} from '../../../gateway/ports/previewer.js';

export const LIMITS: PreviewLimits = {
  maxEdge: 1568,
  maxEncodedBytes: 100 * 1024,
  maxPixels: 50_000_000,
  maxText: 2000,
  maxLines: 20,
};

/** A source whose type was taken for an image's. */
export const imageOf = (open: OpenFile): PreviewSource => ({ mimeType: 'image/png', size: 1000, open });

export function renderBytes(
  previewer: Previewer,
  bytes: Buffer,
  limits: PreviewLimits = LIMITS,
  signal: AbortSignal = new AbortController().signal,
): Promise<PreviewResult> {
  return previewer.render(
    imageOf(async () => Readable.from([bytes])),
    limits,
    signal,
  );
}

/** What every previewer does, whether or not it makes previews. */
export function describePreviewer(name: string, make: () => Previewer): void {
  describe(`previewer ${name}`, () => {
    const previewer = make();
    afterAll(() => previewer.close());

    it('is ready', async () => {
      await expect(previewer.check()).resolves.toBeUndefined();
    });

    it.each([
      ['nothing', Buffer.alloc(0)],
      ['one byte', Buffer.from('G')],
      ['text', Buffer.from('Not an image, but long enough to be looked at.')],
      ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
    ])('refuses %s', async (_what, bytes) => {
      expect(await renderBytes(previewer, bytes)).toMatchObject({ kind: 'refused' });
    });

    it('refuses instead of throwing when the source fails', async () => {
      const broken = new Readable({
        read() {
          this.destroy(new Error('The store went away.'));
        },
      });
      const result = await previewer.render(
        imageOf(async () => broken),
        LIMITS,
        new AbortController().signal,
      );
      expect(result.kind).toBe('refused');
    });

    it('refuses instead of throwing when the source cannot be opened', async () => {
      const open = async (): Promise<Readable> => Promise.reject(new Error('The store is down.'));
      expect(await previewer.render(imageOf(open), LIMITS, new AbortController().signal)).toMatchObject({
        kind: 'refused',
      });
    });

    it('refuses what was aborted before it began', async () => {
      expect(await renderBytes(previewer, Buffer.alloc(100), LIMITS, AbortSignal.abort())).toMatchObject({
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
