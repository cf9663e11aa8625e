import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../../adapters/state/memory.js';
import { UNSHARED } from '../../../../gateway/budget/ledger.js';
import type { StateStore } from '../../../../gateway/ports/state-store.js';
import { TaskTools } from '../../../../gateway/relay/results/tool/tool-of-task.js';
import { StateKeys } from '../../../../gateway/secrets/state-keys.js';
import { silentLog } from '../../../helpers/silent-log.js';

const OWNER = { principal: 'ann', server: 'docs' };
const KEPT_MS = 60_000;

let state: StateStore;
let keys: StateKeys;
let tools: TaskTools;

beforeEach(() => {
  state = create(settings.parse({}), { sharing: UNSHARED, clock: { ticks: () => 0 } });
  keys = new StateKeys([]);
  tools = new TaskTools({ state, keys, log: silentLog, keptMs: KEPT_MS });
});

afterEach(() => state.close());

/** What is found for a request of the result of task `t`. */
async function found() {
  const request = { id: '1', method: 'tasks/result', subject: 't', params: {}, base: [] };
  const [answer] = await tools.traced([{ request }], OWNER);
  return { tool: answer?.request?.taskTool, names: answer?.request?.taskNames };
}

const store = (text: string) => state.create(keys.of('task', JSON.stringify(['docs', 'ann', 't'])), text, KEPT_MS, {});

describe('what is remembered of a task', () => {
  it.each<[string, { tool: string; names?: string | string[] }]>([
    ['its tool', { tool: 'ocr' }],
    ['the name of its file', { tool: 'ocr', names: 'scan.png' }],
    ['the names of its files', { tool: 'ocr', names: ['a.png', 'b.png'] }],
  ])('is %s', async (_what, call) => {
    await tools.remember('t', call, OWNER);
    expect(await found()).toEqual({ names: undefined, ...call });
  });

  it.each(['ocr', '"ocr"', '[]', '{}', '{"tool":7}'])(
    'is nothing where another version has stored %s',
    async (text) => {
      await store(text);
      expect(await found()).toEqual({ tool: undefined, names: undefined });
      expect(await tools.toolOf('t', OWNER)).toBeUndefined();
    },
  );

  it('is the tool alone where the names are none', async () => {
    await store('{"tool":"ocr","names":[1]}');
    expect(await found()).toEqual({ tool: 'ocr', names: undefined });
  });
});
