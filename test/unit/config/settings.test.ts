import { describe, expect, it } from '@jest/globals';
import { settingsOf } from '../../../gateway/config/settings.js';
import { loadText } from './load-text.js';

const SERVER = 'servers: { a: { url: "http://127.0.0.1:3001/mcp" } }\n';

async function shownOf(text: string): Promise<Record<string, string>> {
  const loaded = await loadText(SERVER + text);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return Object.fromEntries(settingsOf(loaded.config).map(({ path, value }) => [path, value]));
}

describe('the settings in force', () => {
  it('have their sizes and times as they are written in a config', async () => {
    expect(await shownOf('audit: { use: file, path: /nowhere/audit.jsonl, maxSize: 5MiB }')).toMatchObject({
      'audit.maxSize': '5MiB',
      'audit.maxAge': '1d',
      'audit.wait': '5s',
      'audit.queue': '10000',
      'limits.message': '4MiB',
    });
  });

  it('say how long links live, and have no key that cannot be written', async () => {
    const shown = await shownOf('');
    expect(shown['links.ttl']).toBe('as long as their files; presigned ones 15m');
    expect(await shownOf('links: { ttl: 20m }')).toMatchObject({ 'links.ttl': '20m' });
    expect(Object.keys(shown).filter((path) => /^links\.(?!style|ttl)/.test(path))).toEqual([]);
  });
});
