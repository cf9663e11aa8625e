import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ChainEnd, newChain, nextLine } from '../../../gateway/audit/chain.js';
import { verifyFiles } from '../../../gateway/audit/verify.js';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-verify-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function chainOf(count: number): string[] {
  let end: ChainEnd = newChain();
  return Array.from({ length: count }, (_, index) => {
    const made = nextLine(end, `"time":"2026-11-22T00:00:0${index % 10}.000Z","what":"call","tool":"t${index + 1}"`);
    end = made.end;
    return made.line;
  });
}

async function faultsOf(...files: string[][]): Promise<string[]> {
  const paths = await Promise.all(
    files.map(async (lines, index) => {
      const path = join(folder, `${index}.jsonl`);
      await writeFile(path, lines.map((line) => `${line}\n`).join(''));
      return path;
    }),
  );
  const { faults } = await verifyFiles(paths);
  return faults.map((fault) => fault.replaceAll(`${folder}/`, ''));
}

describe('the verification of an audit log', () => {
  it('finds nothing wrong with a chain, over several files in any order', async () => {
    const lines = chainOf(30);
    expect(await faultsOf(lines)).toEqual([]);
    expect(await faultsOf(lines.slice(20), lines.slice(0, 10), lines.slice(10, 20))).toEqual([]);
  });

  it('finds nothing wrong with a line in which a client has put separators of lines and paragraphs', async () => {
    const client = JSON.stringify('desk\u2028\u2029\u0085\r\n');
    const { line, end } = nextLine(newChain(), `"time":"2026-11-22T00:00:00.000Z","what":"login","client":${client}`);
    const after = nextLine(end, '"time":"2026-11-22T00:00:01.000Z","what":"call","tool":"t"');
    expect(await faultsOf([line, after.line])).toEqual([]);
  });

  it('finds nothing wrong with chains of several processes that a collector has mixed', async () => {
    const [a, b] = [chainOf(5), chainOf(5)];
    expect(await faultsOf(a.flatMap((line, index) => [line, b[index] as string]))).toEqual([]);
  });

  it.each<[string, (lines: string[]) => string[], string]>([
    ['one character', (lines) => lines.with(4, (lines[4] as string).replace('"t5"', '"t6"')), '0.jsonl:5 is not'],
    ['the hash', (lines) => lines.with(4, (lines[4] as string).replace(/.{4}"\}$/, 'AAAA"}')), '0.jsonl:5 is not'],
    ['a line that is not one', (lines) => lines.toSpliced(4, 0, 'x'.repeat(100_000)), '0.jsonl:5 is not'],
    ['a line taken out', (lines) => lines.toSpliced(4, 1), 'line 5 is missing'],
    ['lines taken out', (lines) => lines.toSpliced(4, 3), 'lines 5 to 7 are missing'],
    ['a line twice', (lines) => lines.toSpliced(4, 0, lines[3] as string), 'stands twice'],
    [
      'two lines exchanged',
      (lines) => lines.with(4, lines[5] as string).with(5, lines[4] as string),
      'line 5 is missing',
    ],
  ])('finds %s', async (_what, change, told) => {
    const faults = await faultsOf(change(chainOf(10)));
    expect(faults[0]).toContain(told);
  });

  it('finds every single changed byte', async () => {
    const lines = chainOf(3);
    const text = lines.join('\n');
    for (let at = 0; at < text.length; at += 7) {
      const changed = `${text.slice(0, at)}${text[at] === '0' ? '1' : '0'}${text.slice(at + 1)}`;
      expect([at, (await faultsOf(changed.split('\n'))).length > 0]).toEqual([at, true]);
    }
  });

  it('finds a line that was written anew with a hash of its own, by the next one', async () => {
    const lines = chainOf(3);
    const [, chain = ''] = /"chain":"([^"]+)"/.exec(lines[0] as string) ?? [];
    const forged = nextLine(
      { chain, seq: 1, hash: /"hash":"([^"]+)"/.exec(lines[0] as string)?.[1] ?? '' },
      '"time":"x","what":"call"',
    );
    expect(await faultsOf(lines.with(1, forged.line))).toEqual([
      '0.jsonl:3 does not name the hash of line 2 before it: one of the two was replaced.',
    ]);
  });

  it('finds lines missing at the end when it is told of a later one', async () => {
    const lines = chainOf(5);
    const path = join(folder, 'cut.jsonl');
    await writeFile(path, `${lines.slice(0, 3).join('\n')}\n`);
    const hash = /"hash":"([^"]+)"/.exec(lines[4] as string)?.[1] ?? '';
    expect((await verifyFiles([path])).faults).toEqual([]);
    expect((await verifyFiles([path], [{ seq: 5, hash }])).faults).toEqual([
      `No line has the number 5 and the hash ${hash}.`,
    ]);
  });
});
