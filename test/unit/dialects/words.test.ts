import { describe, expect, it } from '@jest/globals';
import { factLines, handleLines, linkLines, previewLines } from '../../../adapters/dialects/common/words.js';
import type { OutgoingFile } from '../../../gateway/ports/dialect.js';

const ADDRESS = `https://mcp.example.com/d/${'A'.repeat(43)}`;

function fileOf(lasts: boolean, ttlSeconds: number): OutgoingFile {
  const uri = 'mcp-file://wharf/f_1234567890';
  const expiresAt = '2026-11-22T12:00:00.000Z';
  const link = { url: ADDRESS, expiresAt, ttlSeconds, lasts };
  return {
    ref: { uri, url: `https://s3.example.com/?X-Amz-Signature=${'a'.repeat(400)}`, link, name: 'chart.png' } as never,
    preview: {
      facts: { pixels: { width: 3200, height: 2000 } },
      image: { mimeType: 'image/png', base64: '', width: 1568, height: 980 },
    },
    uses: { isTaken: true, linkTool: 'get_file_link' },
  };
}

function linesOf(file: OutgoingFile): string[] {
  Object.assign(file.ref, { mimeType: 'image/png', size: 3_375_874 });
  return [...factLines(file), ...linkLines(file, {}), ...handleLines(file), ...previewLines(file)];
}

describe('the text about a file', () => {
  it('has one fact a line, and the short link alone on its own', () => {
    expect(linesOf(fileOf(false, 900))).toEqual([
      'chart.png · image/png · 3.4 MB',
      ADDRESS,
      'Complete file, nothing truncated.',
      'The user can open the link for 15 minutes.',
      'Handle: mcp-file://wharf/f_1234567890 (pass it to a tool that takes a file; get_file_link renews the link)',
      'The image below is a preview of 1568 × 980; the original is 3200 × 2000.',
    ]);
  });

  it.each([
    [false, 90, 'The link works for 90 seconds, until 2026-11-22T12:00:00.000Z.'],
    [false, 900, 'The link works for 15 minutes, until 2026-11-22T12:00:00.000Z.'],
    [
      true,
      86_400,
      'The link works as long as the file is kept: until 2026-11-22T12:00:00.000Z, and longer each time it is used.',
    ],
  ])('has no more characters than with a label before each fact, of a link that lasts: %s', (lasts, seconds, life) => {
    const labelled = [
      'File: chart.png (image/png, 3.4 MB)',
      `Download: ${ADDRESS}`,
      life,
      'Handle: mcp-file://wharf/f_1234567890 (pass it to a tool that takes a file; get_file_link gives new links for it)',
      'The image below is a preview of 1568 × 980 pixels; the original is 3200 × 2000.',
    ];
    expect(linesOf(fileOf(lasts, seconds)).join('\n').length).toBeLessThanOrEqual(labelled.join('\n').length);
  });
});
