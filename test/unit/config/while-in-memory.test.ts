import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { adapters } from '../../../adapters/index.js';
import { sectionSchemas } from '../../../gateway/config/schema/schema.js';
import { serverSchema } from '../../../gateway/config/schema/servers.js';
import { whileInMemory } from '../../../gateway/config/schema/while-in-memory.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

it('makes the schemas of a list of adapters once for configs that follow each other', () => {
  expect(sectionSchemas(adapters)).toBe(sectionSchemas(adapters));
  expect(serverSchema(adapters.upstream, 'stdio')).toBe(serverSchema(adapters.upstream, 'stdio'));
});

it('gives another list of adapters its own', () => {
  const others = { ...adapters, antivirus: { none: adapters.antivirus.none as never } };
  expect(sectionSchemas(others).antivirus.safeParse({ use: 'clamd' }).success).toBe(false);
  expect(sectionSchemas(adapters).antivirus.safeParse({ use: 'clamd' }).success).toBe(true);
});

it('keeps nothing that a collection of all memory can have', async () => {
  let count = 0;
  const numbered = whileInMemory((_: object) => {
    count += 1;
    return { count };
  });
  const list = {};
  expect(numbered(list).count).toBe(1);
  // what was given stays to the end of the turn
  await sleep(0);
  collect();
  expect(numbered(list).count).toBe(2);
});
