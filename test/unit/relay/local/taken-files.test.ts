import { expect, it } from '@jest/globals';
import { type TakingSlot, takenFiles, takingTools } from '../../../../gateway/relay/local/taken-files.js';

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

it('names few tools of many, those with the nearest names first, and says how many more there are', () => {
  const named = (...tools: string[]) => tools.map((tool) => ({ ...slotAt(['file']), tool }));
  expect(takingTools([], 'x')).toBe('none');
  expect(takingTools(named('b', 'a', 'b'), 'x')).toBe('a, b');
  const many = named(...Array.from({ length: 300 }, (_, at) => `tool_number_${at}`), 'read_pdfs');
  expect(takingTools(many, 'read_pdf')).toMatch(/^read_pdfs, (?:tool_number_\d+, ){9}and 291 more$/);
});
