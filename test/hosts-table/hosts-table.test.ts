import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Cell, cells, GIVEN, PROFILES } from './cells.js';
import { inPage, isRight, linksIn, PAGE, table } from './table.js';

let made: Cell[] = [];
const statuses = new Map<string, number>();
beforeAll(async () => {
  made = await cells(async ({ after }) => {
    for (const link of linksIn(after.model)) statuses.set(link, (await fetch(link)).status);
  });
}, 120_000);

describe.each(PROFILES.map(({ title, name }) => [title, name]))('the model in %s', (_title, name) => {
  it.each(GIVEN)('can name each file of an answer with one, use it and hand it on: %s', (given) => {
    const cell = made.find((one) => one.host.name === name && one.given === given) as Cell;
    const { text, isCut } = cell.after.model;
    expect(isCut).toBe(false);
    expect([text.slice(0, 2000), isRight(cell, cell.after.model)]).toEqual([text.slice(0, 2000), true]);
    for (const link of linksIn(cell.after.model)) expect([link, statuses.get(link)]).toEqual([link, 200]);
  });
});

it('docs/hosts.md shows what they see', async () => {
  const page = await readFile(PAGE, 'utf8');
  expect(page).toBe(inPage(page, table(made)));
});
