import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { loadText } from './load-text.js';

// Compiled, this file stands in dist/test/unit/config.
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

const examples = await readdir(join(ROOT, 'deploy/examples'));
const pages = (await readdir(ROOT)).filter((name) => name.endsWith('.md'));
const blocks = (await Promise.all(pages.map(blocksOf))).flat();

/** The fenced blocks of a page that are a whole config: they name servers. */
async function blocksOf(page: string): Promise<[string, string][]> {
  const text = await readFile(join(ROOT, page), 'utf8');
  const found = [...text.matchAll(/^```(?:yaml|json)\n([\s\S]*?)^```$/gm)].map(([, block]) => block ?? '');
  return found
    .filter((block) => /^(servers|mcpServers):|"mcpServers"/m.test(block))
    .map((block, index) => [`${page} #${index + 1}`, block]);
}

/** A value for every variable that a text names. */
function environmentOf(text: string): Record<string, string> {
  const names = [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => String(name));
  return Object.fromEntries(
    names.map((name) => [name, name.includes('REDIS') ? 'redis://127.0.0.1' : `http://127.0.0.1:1/${'0'.repeat(32)}`]),
  );
}

describe('an example is a config without a problem', () => {
  it.each(examples)('deploy/examples/%s', async (name) => {
    const text = await readFile(join(ROOT, 'deploy/examples', name), 'utf8');
    expect(await loadText(text, environmentOf(text))).toMatchObject({ ok: true });
  });

  it('and so is every one in a page', async () => {
    for (const [name, text] of blocks) {
      expect({ name, ...(await loadText(text, environmentOf(text))) }).toMatchObject({ name, ok: true });
    }
  });
});
