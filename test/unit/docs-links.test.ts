import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');
const inFolder = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: folder !== '.', encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
const pages = ['.', 'docs', 'gateway', 'adapters', 'deploy'].flatMap(inFolder);

/** As GitHub makes the anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

function anchorsIn(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '');
  return [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading ?? ''));
}

/** The links and pictures of a page that lead into the repository: the file, and the heading where there is one. */
function linksIn(text: string): [string, string | undefined][] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
  const found = prose.matchAll(/(?:\]\(|(?:src|srcset|href)=")(?![a-z]+:)([^)"#\s]*)(?:#([^)"\s]+))?[)"]/g);
  return [...found].map(([, file, heading]) => [file ?? '', heading]);
}

describe('a page', () => {
  it.each(pages)('%s leads only to files and headings that there are', (page) => {
    const missing = linksIn(readFileSync(join(ROOT, page), 'utf8')).filter(([file, heading]) => {
      const target = file === '' ? page : join(dirname(page), file);
      if (!existsSync(join(ROOT, target))) return true;
      return heading !== undefined && !anchorsIn(readFileSync(join(ROOT, target), 'utf8')).includes(heading);
    });
    expect(missing).toEqual([]);
  });

  it.each(inFolder('docs').filter((page) => page !== 'docs/README.md'))('%s is in the list of pages', (page) => {
    const listed = linksIn(readFileSync(join(ROOT, 'docs/README.md'), 'utf8')).map(([file]) => join('docs', file));
    expect(listed).toContain(page);
  });
});
