import { describe, expect, it } from '@jest/globals';
import { allowanceOf, underCeiling } from '../../../gateway/policy/allowance.js';
import { DEFAULT_LIMITS } from '../../../gateway/policy/limits.js';
import { lowestOf } from '../../../gateway/policy/message-limits.js';
import { ToolLimits } from '../../../gateway/policy/tool-limits.js';

const PNG = { types: ['image/png'], source: 'callers[0].limits.acceptResults' };
const rules = (ceiling: Record<string, readonly string[]>) => ({
  ceiling,
  base: {},
  callers: [{ match: {}, limits: { acceptResults: ['image/png'] } }],
  keys: new Map(),
});

describe('the media types of results', () => {
  it('of a caller are remembered under the ceiling of now', () => {
    const before = rules({ accept: ['image/*'], acceptResults: ['image/*'] });
    const remembered = allowanceOf(before, { groups: [] });
    expect(remembered.acceptResults).toEqual([PNG, { types: ['image/*'], source: 'ceiling.acceptResults' }]);
    const now = underCeiling(remembered, rules({ acceptResults: ['text/csv'] }));
    expect(now.acceptResults).toEqual([PNG, { types: ['text/csv'], source: 'ceiling.acceptResults' }]);
    expect(now).not.toHaveProperty('accept');
  });

  it('of all sides count together, each place once', () => {
    const server = {
      ...DEFAULT_LIMITS,
      acceptResults: [{ types: ['image/*'], source: 'servers.a.limits.acceptResults' }],
    };
    expect(lowestOf(server, { acceptResults: [PNG] }, { acceptResults: [PNG] }).acceptResults).toEqual([
      ...server.acceptResults,
      PNG,
    ]);
    expect(lowestOf(server, { acceptResults: server.acceptResults })).toBe(server);
  });

  it('of a tool are those of the most specific entry, apart from what it may be given', () => {
    const tools = new ToolLimits('a', {
      '*': { limits: { acceptResults: ['image/*'], accept: ['text/csv'] } },
      ocr: { limits: { acceptResults: ['text/*'] } },
    });
    expect(tools.limitsResults).toBe(true);
    expect(tools.of('ocr')?.side).toMatchObject({
      accept: [{ types: ['text/csv'], source: 'servers.a.tools["*"].limits.accept' }],
      acceptResults: [{ types: ['text/*'], source: 'servers.a.tools.ocr.limits.acceptResults' }],
    });
    expect(new ToolLimits('a', { '*': { limits: { accept: ['text/csv'] } } }).limitsResults).toBe(false);
  });
});
