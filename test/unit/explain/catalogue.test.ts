import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { adapters } from '../../../adapters/index.js';
import { configJsonSchema, type SchemaNode } from '../../../gateway/config/reference/reference.js';
import { ADVICE, GROUPS } from '../../../gateway/explain/advice.js';
import { catalogueMarkdown, ERROR_CODES, exampleOf, explainError } from '../../../gateway/explain/catalogue.js';

const ROOT = join(import.meta.dirname, '../../../..');

/** `limits.file`: whether the config has it, under any adapter. */
function exists(node: SchemaNode | undefined, [key, ...rest]: readonly string[]): boolean {
  if (node === undefined) return false;
  if (key === undefined) return true;
  const inner = typeof node.additionalProperties === 'object' ? [node.additionalProperties] : [];
  const branches = [node, ...(node.anyOf ?? []), ...(node.oneOf ?? [])];
  return (
    branches.some(({ properties }) => exists(properties?.[key], rest)) ||
    inner.some((one) => exists(one, key === 'X' ? rest : [key, ...rest])) ||
    branches.some((branch) => branch !== node && exists(branch, [key, ...rest]))
  );
}

describe('the catalogue of errors', () => {
  it('has every error once, in one of its groups', () => {
    const grouped = Object.values(GROUPS).flatMap((rows) => Object.keys(rows));
    expect(grouped.sort()).toEqual([...ERROR_CODES].sort());
  });

  it('is in the documents as it is generated', async () => {
    expect(await readFile(join(ROOT, 'docs/reference/errors.md'), 'utf8')).toBe(catalogueMarkdown());
  });

  it.each(ERROR_CODES)('shows %s with facts for all that its text names', (code) => {
    expect(exampleOf(code)).not.toMatch(/undefined|NaN|\[object/);
    expect(explainError(code)).toContain(exampleOf(code));
  });

  it('names only settings that the config has', () => {
    const schema = configJsonSchema(adapters);
    const named = Object.values(ADVICE).flatMap(({ why, todo }) =>
      [...`${why} ${todo}`.matchAll(/`((?:limits|timeouts|links|state|servers|auth|fetch|objects)\.[A-Za-z.]+)`/g)].map(
        ([, key]) => String(key),
      ),
    );
    expect(named.length).toBeGreaterThan(40);
    const missing = named.filter((key) => !exists(schema, key.split('.')));
    expect(missing).toEqual([]);
  });
});
