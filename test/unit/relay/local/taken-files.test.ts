import { expect, it } from '@jest/globals';
import { type TakingSlot, takenFiles } from '../../../../gateway/relay/local/taken-files.js';

const slotAt = (path: string[]): TakingSlot => ({
  tool: 'read_pdf',
  slot: { path, deliveries: [], companions: {}, declaredBy: 'config' },
  maxSize: 100,
  maxSizeBy: { limit: 'limits.file' },
});

it.each([
  [['pdf'], 'pdf'],
  [['sources', '[]', 'path'], 'sources[].path'],
  [['page', 'scans', '[]', 'data'], 'page.scans[].data'],
  [['paths', '[]'], 'paths'],
])('names the only argument %j of a tool as %s', (path, argument) => {
  expect(takenFiles([slotAt(path)], 'read_pdf', 1000)?.purpose).toEqual({ tool: 'read_pdf', argument });
});

it('names no argument of a tool that has two', () => {
  const slots = [slotAt(['front']), slotAt(['back'])];
  expect(takenFiles(slots, 'read_pdf', 1000)?.purpose).toEqual({ tool: 'read_pdf' });
});
