import { describe, expect, it } from '@jest/globals';
import { sharingOf } from '../../../gateway/ledgers.js';
import { configOf } from './load-text.js';

const withKeys = (...names: string[]) => {
  const keys = names.map((name, index) => `{ name: ${name}, hash: "sha256:${String(index).repeat(64)}" }`);
  return `servers: { a: { url: "http://127.0.0.1:1/mcp" } }\nauth: { use: apiKeys, keys: [${keys}] }\n`;
};

describe('what a process has', () => {
  it('is all for a single caller, also while its key is replaced by another', async () => {
    expect(sharingOf(await configOf(withKeys('ci'))).principals).toBe(false);
    expect(sharingOf(await configOf(withKeys('ci', 'ci'))).principals).toBe(false);
    expect(sharingOf(await configOf(withKeys('ci', 'bob'))).principals).toBe(true);
  });
});
