import { join } from 'node:path';
import type { Seen } from '../helpers/host-model.js';
import { type Cell, GIVEN, type Given, PROFILES } from './cells.js';

export const PAGE = join(import.meta.dirname, '..', '..', '..', 'docs', 'hosts.md');

const BEGIN = '<!-- what hosts show: `npm run hosts -- --write` -->';
const END = '<!-- end -->';

/** No text has that many of these letters in a row. */
const BASE64 = /[A-Za-z0-9+/]{200}/;
/** Bytes that were no text. */
const NOISE = /\ufffd/;
/** Alone on its line, or in JSON, where a line break is two characters. */
const LINK = /(?<=^|\\n|")(http[^\s"\\]{1,95})(?=$|\\n|")/gm;

/** Files of a result, and how many links its reader should get. */
const FILES: Readonly<Record<Given, number>> = {
  image: 1,
  PDF: 1,
  'long text': 1,
  'error with an image': 1,
  'image and PDF, structured': 2,
};

export function linksIn({ text }: Seen): string[] {
  return [...new Set([...text.matchAll(LINK)].map(([, link]) => String(link)))];
}

/** True when the model can name each file, use it and hand it on, and no base64 is in its way. */
export function isRight({ given }: Cell, seen: Seen): boolean {
  if (BASE64.test(seen.text) || NOISE.test(seen.text)) return false;
  if (given === 'long text' && !seen.isCut && seen.text.includes('line 10000')) return true;
  const facts = seen.text.match(/ · [\w/.+-]+ · [\d.]+ [kM]?B/g) ?? [];
  return linksIn(seen).length >= FILES[given] && facts.length >= FILES[given];
}

function described(cell: Cell, seen: Seen): string {
  const links = linksIn(seen).length;
  const isText = cell.given === 'long text';
  const parts = [
    ...(seen.images > 0 ? ['image'] : []),
    ...(seen.files > 0 ? ['file'] : []),
    ...(BASE64.test(seen.text) ? ['**base64 as text**'] : []),
    ...(NOISE.test(seen.text) ? ['**bytes as text**'] : []),
    ...(isText && seen.isCut ? ['**cut off**'] : []),
    ...(isText && !seen.isCut && seen.text.includes('line 10000') ? ['all of it'] : []),
    ...(isText && !seen.isCut && seen.text.includes('characters are left out here') ? ['beginning, end'] : []),
    ...(links > 0 ? [links === 1 ? 'link' : `${links} links`] : []),
  ];
  return parts.length === 0 ? '**nothing of it**' : parts.join(', ');
}

export function table(cells: readonly Cell[]): string {
  const rows = PROFILES.flatMap(({ title }) =>
    GIVEN.map((given, index) => {
      const cell = cells.find((one) => one.host.title === title && one.given === given) as Cell;
      const { before, after } = cell;
      const shown = [before.model, after.model, before.user, after.user].map((seen) => described(cell, seen));
      return `| ${index === 0 ? title : ''} | ${given} | ${shown.join(' | ')} |`;
    }),
  );
  const right = (side: 'before' | 'after') => cells.filter((cell) => isRight(cell, cell[side].model)).length;
  return [
    `The model can name each file, use it and hand it on, without base64 in its way, in ${right('before')} of ${cells.length} cases`,
    `without Wharf, and in ${right('after')} with it.`,
    '',
    '| host | result | model, before | model, with Wharf | user, before | user, with Wharf |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** The page with the table in its place. */
export function inPage(page: string, text: string): string {
  const [head = '', rest = ''] = page.split(BEGIN);
  const tail = rest.split(END)[1] ?? '';
  return `${head}${BEGIN}\n\n${text}\n\n${END}${tail}`;
}
