import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { PREVIEW_LIMITS, type PreviewJob, previewOf, previewType } from '../../../../gateway/files/previews/preview.js';
import type { Previewer, PreviewResult } from '../../../../gateway/ports/previewer.js';
import { silentLog } from '../../../helpers/silent-log.js';

const RENDERED: PreviewResult = {
  kind: 'rendered',
  preview: {
    facts: { pixels: { width: 30, height: 20 } },
    image: { mimeType: 'image/png', data: Buffer.from('pixels'), width: 3, height: 2 },
  },
};

function job(answer: () => Promise<PreviewResult>, given: Partial<PreviewJob> = {}) {
  const counted: string[] = [];
  let opened = 0;
  const asked: unknown[] = [];
  const previewer: Previewer = {
    name: 'fake',
    takes: (mimeType) => mimeType === 'image/png' || mimeType === 'text/csv',
    wholeUpTo: () => 0,
    async render({ open }, limits, signal) {
      asked.push(limits);
      await open(signal);
      return answer();
    },
    check: async () => {},
    close: async () => {},
  };
  const whole: PreviewJob = {
    sniffedMime: 'image/png',
    record: { mimeType: 'image/png', size: 6 },
    async open() {
      opened++;
      return Readable.from([]);
    },
    previewer,
    signal: new AbortController().signal,
    log: silentLog,
    metrics: { count: (_name, labels) => counted.push(labels?.outcome ?? ''), observe() {}, gauge() {} },
    ...given,
  };
  return { whole, counted, asked, opened: () => opened };
}

describe('the preview of a file', () => {
  it('is ready for an image block', async () => {
    const { whole, counted, asked } = job(async () => RENDERED);
    expect(await previewOf(whole)).toEqual({
      facts: { pixels: { width: 30, height: 20 } },
      image: { mimeType: 'image/png', base64: 'cGl4ZWxz', width: 3, height: 2 },
    });
    expect(asked).toEqual([PREVIEW_LIMITS]);
    expect(counted).toEqual(['rendered']);
  });

  it('that is refused for its pixels says how many it has, and how many it may have', async () => {
    const excess = { pixels: { width: 9000, height: 6000 }, allowed: 50_000_000 };
    const { whole, counted } = job(async () => ({ kind: 'refused', reason: 'too-many-pixels', excess }));
    expect(await previewOf(whole)).toEqual({ facts: { pixels: excess.pixels }, mostPixels: 50_000_000 });
    expect(counted).toEqual(['too-many-pixels']);
  });

  it.each([
    undefined,
    'application/pdf',
    'image/svg+xml',
    'text/html',
    'video/mp4',
    'image/x-icon',
    'application/octet-stream',
  ])('does not exist for %s, whose bytes are not even read', async (sniffedMime) => {
    const { whole, opened } = job(async () => RENDERED, { sniffedMime });
    expect(await previewOf(whole)).toBeUndefined();
    expect(opened()).toBe(0);
  });

  it.each([
    ['image/png', 'text/plain', 'image/png'],
    ['text/plain', 'text/csv', 'text/csv'],
    [undefined, 'text/csv', 'text/csv'],
    ['text/plain', 'image/png', 'text/plain'],
    [undefined, 'image/png', undefined],
    ['application/pdf', 'application/json', 'application/pdf'],
  ])('goes by the bytes: %s declared as %s is %s', (sniffedMime, declared, type) => {
    expect(previewType(sniffedMime, declared)).toBe(type);
  });

  it('does not exist when it is refused, and the reason is counted', async () => {
    const { whole, counted } = job(async () => ({ kind: 'refused', reason: 'busy' }));
    expect(await previewOf(whole)).toBeUndefined();
    expect(counted).toEqual(['busy']);
  });

  it('does not exist when rendering or reading fails, and nothing is thrown', async () => {
    const broken = job(async () => Promise.reject(new Error('no')));
    expect(await previewOf(broken.whole)).toBeUndefined();
    const unreadable = job(async () => RENDERED, { open: () => Promise.reject(new Error('store is down')) });
    expect(await previewOf(unreadable.whole)).toBeUndefined();
    expect([...broken.counted, ...unreadable.counted]).toEqual(['failed', 'failed']);
  });

  it('is not begun for a client that has gone', async () => {
    const { whole, opened } = job(async () => RENDERED, { signal: AbortSignal.abort() });
    expect(await previewOf(whole)).toBeUndefined();
    expect(opened()).toBe(0);
  });
});
