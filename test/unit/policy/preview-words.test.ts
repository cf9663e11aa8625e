import { describe, expect, it } from '@jest/globals';
import { factLines, previewLines } from '../../../adapters/dialects/common/words.js';
import type { OutgoingFile, Preview } from '../../../gateway/ports/dialect.js';

const image = { mimeType: 'image/jpeg', base64: 'AAAA', width: 1568, height: 980 };
const ref = { name: 'report', mimeType: 'application/x', size: 5000 };

describe('what a model reads about the content of a file', () => {
  it.each<[string, Preview | undefined, string[]]>([
    ['nothing without a preview', undefined, ['report · application/x · 5 kB']],
    [
      'both sizes of an image',
      { facts: { pixels: { width: 3200, height: 2000 } }, image },
      ['report · application/x · 5 kB', 'The image below is a preview of 1568 × 980; the original is 3200 × 2000.'],
    ],
    [
      'the pages of a document, and that only the first is shown',
      { facts: { pages: 7 }, image },
      ['report · application/x · 5 kB · 7 pages', 'The image below is a preview of 1568 × 980, the first page.'],
    ],
    [
      'that one page is all',
      { facts: { pages: 1 }, image },
      ['report · application/x · 5 kB · 1 page', 'The image below is a preview of 1568 × 980.'],
    ],
    [
      'the frames of an animation, and that only the first is shown',
      { facts: { frames: 4, pixels: { width: 1568, height: 980 } }, image },
      [
        'report · application/x · 5 kB · 4 frames',
        'The image below is a preview of 1568 × 980, the first frame; the original is 1568 × 980.',
      ],
    ],
    [
      'the images of a scan, and that only the first is shown',
      { facts: { images: 12 }, image },
      ['report · application/x · 5 kB · 12 images', 'The image below is a preview of 1568 × 980, the first image.'],
    ],
    ['how long a recording is', { facts: { seconds: 123.4 } }, ['report · application/x · 5 kB · 2:03 long']],
    ['how many hours it is', { facts: { seconds: 3723 } }, ['report · application/x · 5 kB · 1:02:03 long']],
    ['that a password is needed', { facts: { isLocked: true } }, ['report · application/x · 5 kB · needs a password']],
    [
      'the beginning of a text',
      { facts: {}, text: { of: 'lines', text: 'a,b\n1,2', isWhole: false } },
      ['report · application/x · 5 kB', 'Its first 2 lines, long ones cut:', 'a,b\n1,2'],
    ],
    [
      'some of the names in an archive',
      { facts: { entries: 900 }, text: { of: 'names', text: 'a.txt\nb.txt', isWhole: false } },
      ['report · application/x · 5 kB · 900 entries', '2 of its 900 names, long ones cut:', 'a.txt\nb.txt'],
    ],
    [
      'all of them when there are few',
      { facts: { entries: 1 }, text: { of: 'names', text: 'a.txt', isWhole: true } },
      ['report · application/x · 5 kB · 1 entry', 'All its names:', 'a.txt'],
    ],
  ])('is %s', (_what, preview, lines) => {
    const file = { ref, ...(preview && { preview }) } as OutgoingFile;
    expect([...factLines(file), ...previewLines(file)]).toEqual(lines);
  });

  it('says that there is none where a model would expect one', () => {
    const image = { ref: { ...ref, mimeType: 'image/svg+xml' } } as OutgoingFile;
    expect(previewLines(image)).toEqual(['There is no preview of this image.']);
    const chart = { ...image, preview: { facts: { pixels: { width: 9000, height: 6000 } }, mostPixels: 50_000_000 } };
    expect(previewLines(chart)).toEqual([
      'There is no preview of this image: it has 54 megapixels, and one is made of at most 50. A smaller version of it can be shown.',
    ]);
    const hidden = { ...image, preview: { facts: { pixels: { width: 1, height: 1 } } } } as OutgoingFile;
    expect(previewLines(hidden)).toEqual([]);
  });
});
