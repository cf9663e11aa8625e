import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROWS } from './requirements.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const TESTS = join(ROOT, 'test');

/** A row's id. */
const ID = /(?:BASE|BIN|OAI|HO|FB|ST|BR|SEC|VER|1306|2532|2356o?|2631o?)-\d+|[GKPQR]\d{1,2}/;

/** Ids at the end of a text: `answers a form with 201 (2631-30, 2631-35)`. */
const NAMED = new RegExp(`\\(((?:${ID.source})(?:, (?:${ID.source}))*)\\)['"\`]`, 'g');

/** What reads like an id at the end of a name: `(G12)`, `(X-7)`, `(safety 3)`, `(12.4)`. */
const LIKE_ID =
  /(?<= \((?:[^()\n]*, )?)(?:[A-Z]{1,4}-?\d{1,3}(?: \w+)?|[a-z]+ [A-Z]?\d+|\d+\.\d+)(?=(?:, [^()\n]*)?\)['"`])/g;

/** A test or a row of a table that begins with an id: its name is not a sentence. */
const ID_FIRST = new RegExp(`^.*['"\`](?:${ID.source})[:, ].*$`, 'gm');

function testFiles(): string[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter(
    (name) =>
      /\.(?:test|contract)\.ts$/.test(name) &&
      !name.endsWith('requirements.test.ts') &&
      !/^corpus|node_modules/.test(name),
  );
}

/** A row by the tests that name it. */
function testsByRow(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const name of testFiles()) {
    for (const [, ids] of readFileSync(join(TESTS, name), 'utf8').matchAll(NAMED)) {
      for (const id of ids?.match(new RegExp(ID, 'g')) ?? []) found.set(id, [...(found.get(id) ?? []), name]);
    }
  }
  return found;
}

const tests = testsByRow();
const rows = Object.entries(ROWS);
const idsOf = (found: typeof rows) => found.map(([id]) => id);

/** `Wharf refuses a body.`: of three words at least, and a full stop. */
const SENTENCE = /^Wharf( [^ ]+){2,}\.$/;

function leadsSomewhere(link: string): boolean {
  if (link.startsWith('https://')) return URL.canParse(link);
  return /^[\w-]+(\/[\w-]+)*\.md$/.test(link) && existsSync(join(ROOT, link));
}

describe('the rows that Wharf is held to', () => {
  it('each has a test that names it', () => {
    const untested = rows.filter(([id, row]) => !row.excuse && !tests.has(id));
    expect(idsOf(untested)).toEqual([]);
  });

  it('have no excuse where a test names them', () => {
    const tested = rows.filter(([id, row]) => row.excuse && tests.has(id));
    expect(idsOf(tested)).toEqual([]);
  });

  it('each say in a sentence what Wharf does', () => {
    expect(idsOf(rows.filter(([, row]) => !SENTENCE.test(row.sentence)))).toEqual([]);
  });

  it('each link to a public text, or to a page of this repository', () => {
    expect(idsOf(rows.filter(([, row]) => !leadsSomewhere(row.link)))).toEqual([]);
  });

  it('no test names a row that there is not', () => {
    const unknown = [...tests].filter(([id]) => !Object.hasOwn(ROWS, id));
    expect(unknown).toEqual([]);
  });

  it('no name ends with what reads like a row and is not one', () => {
    const found = testFiles().flatMap((name) => readFileSync(join(TESTS, name), 'utf8').match(LIKE_ID) ?? []);
    expect(found.filter((id) => !Object.hasOwn(ROWS, id))).toEqual([]);
  });

  it('stand at the end of a name, which is a sentence', () => {
    const found = testFiles().flatMap((name) => readFileSync(join(TESTS, name), 'utf8').match(ID_FIRST) ?? []);
    expect(found).toEqual([]);
  });
});
