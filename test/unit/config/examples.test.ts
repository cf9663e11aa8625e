import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import { adapters } from '../../../adapters/index.js';
import { EXAMPLES, TOP_LEVEL_EXAMPLE } from '../../../gateway/config/reference/examples.js';
import { configMarkdown } from '../../../gateway/config/reference/markdown.js';
import { configJsonSchema } from '../../../gateway/config/reference/reference.js';
import { loadText } from './load-text.js';

// Compiled, this file stands in dist/test/unit/config.
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

// the others are for the programs around Wharf
const examples = (await readdir(join(ROOT, 'deploy/examples'))).filter((name) => /\.(?:ya?ml|json)$/.test(name));
const pages = [
  ...(await readdir(ROOT)),
  ...(await readdir(join(ROOT, 'docs'), { recursive: true })).map((name) => join('docs', name)),
].filter((name) => name.endsWith('.md'));
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
  const madeUp = (name: string) => {
    if (name.includes('PASSWORD')) return 'made-up';
    if (name.includes('REDIS')) return 'redis://127.0.0.1';
    return name.includes('HASH') ? `sha256:${'0'.repeat(64)}` : `http://127.0.0.1:1/${'0'.repeat(32)}`;
  };
  return Object.fromEntries(names.map((name) => [name, madeUp(name)]));
}

describe('an example is a config without a problem', () => {
  it.each(examples)('deploy/examples/%s', async (name) => {
    const text = await readFile(join(ROOT, 'deploy/examples', name), 'utf8');
    expect(await loadText(text, environmentOf(text))).toMatchObject({ ok: true });
  });

  it('and so is the one of each section in CONFIG.md and the JSON Schema', async () => {
    const sections = Object.entries(configJsonSchema(adapters).properties ?? {});
    const examples = sections.flatMap(([name, { examples = [] }]) => examples.map((value) => ({ [name]: value })));
    expect(examples.length).toBeGreaterThan(12);
    for (const example of [...examples, TOP_LEVEL_EXAMPLE]) {
      const text = stringify({
        servers: EXAMPLES.servers,
        auth: EXAMPLES.auth,
        secret: TOP_LEVEL_EXAMPLE.secret,
        adminListen: TOP_LEVEL_EXAMPLE.adminListen,
        ...example,
      });
      expect({ example, ...(await loadText(text, environmentOf(text))) }).toMatchObject({ example, ok: true });
    }
  });

  it('and so is every one in a page', async () => {
    expect(blocks.length).toBeGreaterThan(0);
    for (const [name, text] of blocks) {
      expect({ name, ...(await loadText(text, environmentOf(text))) }).toMatchObject({ name, ok: true });
    }
  });
});

describe('CONFIG.md', () => {
  const page = configMarkdown(configJsonSchema(adapters));

  it('explains every key', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('| ') && !/^\| (?:key|---) /.test(line));
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.filter((row) => /\|\s*\|$/.test(row) && !row.startsWith('| `use` |'))).toEqual([]);
  });

  it.each([
    'keys[].name',
    'keys[].hash',
    'results.text',
    'results.files',
    'match.name',
    'match.principal',
    'uploadTool.request',
    'allowPublic',
    'passthrough.serverUrl',
  ])('has %s in a table', (key) => {
    expect(page).toMatch(new RegExp(`^\\| \`${key.replace(/[.[\]]/g, '\\$&')}\` \\| `, 'm'));
  });

  it('says in which forms a secret, a port and a tool that is switched off are written', () => {
    expect(page).toMatch(/^\| `secret` \| string, or list of strings \|/m);
    expect(page).toMatch(/^\| \[`uploadTool`\]\(#uploadtool\) \| `off`, or map \|/m);
    expect(page).toMatch(/`HOST:PORT` for any other port/);
    expect(page).not.toMatch(/\| (?:list of )?texts? \|/);
  });

  it('says of each table what it is for, and of a list what it holds by default', () => {
    const titles = [...page.matchAll(/^##+ .*/gm)].map(([title]) => title);
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
    expect(titles).toContain('### `auth: { use: [apiKeys, jwt] }`');
    expect(page).toMatch(/^\| `order` \| [^|]+ \| `\[binary, form, url\]` \|/m);
    expect(page).toMatch(/^\| `jwt\.scopes` \| map of lists of strings \|/m);
  });

  it('names what each dialect is and has an example for each section', () => {
    for (const { name } of adapters.dialects) expect(page).toContain(`\`${name}\`: `);
    for (const [section] of page.matchAll(/^## `[^\0]*?(?=^## |(?![^\0]))/gm)) expect(section).toContain('```yaml');
  });
});
