import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { linesBackwards } from '../../../adapters/audit/file-backwards.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-audit-backwards-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function read(text: string): Promise<string[]> {
  const path = join(folder, `${Math.random()}`);
  await appendFile(path, text);
  const lines: string[] = [];
  for await (const { text: line, at } of linesBackwards(path)) {
    lines.push(line);
    // where each is said to begin
    expect(Buffer.from(text).subarray(at).toString().startsWith(`${line}\n`)).toBe(true);
  }
  return lines;
}

describe('the lines of a file, the last one first', () => {
  it.each<[string, string, string[]]>([
    ['nothing', '', []],
    ['one line', 'a\n', ['a']],
    ['several', 'a\nbb\nccc\n', ['ccc', 'bb', 'a']],
    ['a line that is being written', 'a\nbb\ncc', ['bb', 'a']],
    ['only such a line', 'aaa', []],
    ['letters of several bytes', 'ä\n€\n😀\n', ['😀', '€', 'ä']],
  ])('are found in %s', async (_what, text, lines) => {
    expect(await read(text)).toEqual(lines);
  });

  it('are whole wherever a window of the file ends', async () => {
    for (const length of [1, 7, 100, 65_535, 65_536, 65_537, 70_000]) {
      const lines = Array.from({ length: 5 }, (_, index) => `${index}${'€'.repeat(Math.ceil(length / 3))}`);
      expect(await read(`${lines.join('\n')}\n`)).toEqual(lines.toReversed());
    }
  });

  it('are none where there is no file', async () => {
    const lines: string[] = [];
    for await (const line of linesBackwards(join(folder, 'nosuch'))) lines.push(line.text);
    expect(lines).toEqual([]);
  });

  it('are those before a line, where one is named', async () => {
    const path = join(folder, 'log');
    await appendFile(path, 'a\nbb\nccc\nd\n');
    const lines: string[] = [];
    for await (const { text } of linesBackwards(path, 5)) lines.push(text);
    expect(lines).toEqual(['bb', 'a']);
  });
});
