import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { create as mcpInline } from '../../../../adapters/dialects/mcp-inline/index.js';
import { nextTurn } from '../../../../gateway/budget/turn.js';
import type { Inquire } from '../../../../gateway/mcp/inquire.js';
import type { Dialect } from '../../../../gateway/ports/dialect.js';
import { toClientTree } from '../../../../gateway/relay/cut/places.js';
import { Catalog } from '../../../../gateway/relay/tools/catalog.js';
import { createReader, type HeldMessage } from '../../../../gateway/wire/json/reader.js';
import { catalogOptions } from '../../../helpers/catalog.js';

const ANN = { principal: 'ann', server: 'up' } as const;
const BOB = { principal: 'bob', server: 'up' } as const;

let now = 0;
const work = (ms: number) => {
  now += ms;
};

beforeEach(async () => {
  now = performance.now();
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  // long enough that nothing of the test before counts
  await nextTurn();
  await new Promise(setImmediate);
  work(10_000);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** The answer of a server with so many tools, as it is read. */
function listOf(count: number): HeldMessage {
  const tools = Array.from({ length: count }, (_, at) => ({ name: `tool${at}`, inputSchema: { type: 'object' } }));
  let list: HeldMessage | undefined;
  const handler = {
    message: (message: HeldMessage) => {
      list = message;
    },
  };
  const reader = createReader('json', { tree: toClientTree([]), handler });
  reader.feed(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools } })));
  reader.end();
  if (!list) throw new Error('no message');
  return list;
}

describe('a list that Wharf reads for a call', () => {
  it('is its caller’s work, who has no more time beside others for it', async () => {
    const took = { ann: 0, bob: 0 };
    const slow: Dialect = {
      ...mcpInline(),
      slotsOf: () => {
        work(5);
        took.ann += 5;
        return [];
      },
    };
    const catalog = new Catalog({}, [slow], catalogOptions());
    const inquire: Inquire = async (_method, _params, read) => read && { result: await read(listOf(40), ANN) };
    const run = async (owner: typeof ANN | typeof BOB, steps: number, ms: number) => {
      for (let left = steps; left > 0; left--) {
        await nextTurn(owner);
        work(ms);
        took[owner.principal] += ms;
      }
    };
    const others = [catalog.load('2025-06-18 ann', inquire), run(ANN, 40, 5)];
    await run(BOB, 60, 1);
    const atFirstEnd = took.ann;
    await Promise.all(others);
    expect(took).toEqual({ ann: 400, bob: 60 });
    expect(atFirstEnd).toBeGreaterThanOrEqual(50);
    expect(atFirstEnd).toBeLessThanOrEqual(75);
  });
});
