import { expect, it } from '@jest/globals';
import { PartBudget } from '../../../gateway/budget/parts.js';
import { createLedgers, createWindowLedger, sharingOf } from '../../../gateway/ledgers.js';
import { rulesInto } from '../../../gateway/parts/take-over.js';
import { configOf } from '../config/load-text.js';

const MIB = 1024 * 1024;
const PART = 5 * MIB;
const NEVER = new AbortController().signal;
const OWNER = { principal: 'ann', server: 'docs' };
const withParts = (partMemory: string) =>
  configOf(`servers: { docs: { url: "http://127.0.0.1:1/mcp" } }\nlimits: { partMemory: ${partMemory} }\n`);

it('a file that waits for part memory goes on once a reload gives more of it', async () => {
  const config = await withParts('5MiB');
  const sharing = sharingOf(config);
  const ledgers = createLedgers({ ...config, partSize: PART }, sharing);
  const budget = new PartBudget(ledgers.partMemory, 60_000);
  const limits = { ...config.limits };
  const unused = { put: () => {} };
  const put = rulesInto({
    ...{ ledgers, windows: createWindowLedger(limits, sharing), budget, partSize: PART, sharing, limits },
    ...{ allowances: unused, flow: unused, takers: unused },
  });
  budget.reserve(PART, OWNER, NEVER);
  const waiting = budget.reserve(PART, OWNER, NEVER);
  put(await withParts('10MiB'), []);
  await waiting;
  expect([budget.used, budget.queued, limits.partMemory]).toEqual([2 * PART, 0, 2 * PART]);
});
