import { describe, expect, it } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../../gateway/policy/limits.js';
import { ToolLimits } from '../../../gateway/policy/tool-limits.js';

const SERVER = { ...DEFAULT_LIMITS, file: 5000, response: 9000 };

const OF_TWO = new ToolLimits('docs', {
  '*': { limits: { file: 1000, files: 3, requestsPerMinute: 10, accept: ['image/*'] } },
  'read_*': { limits: { file: 2000, response: 4000, exchanges: 2 } },
  read_page: { limits: { file: 3000, accept: ['image/png'] } },
  plain: {},
});

describe('the limits of a tool', () => {
  it('are those of its own name, then those of the first other entry that means it, each with its place', () => {
    const limits = OF_TWO.lower(SERVER, ['read_page']);
    expect(limits).toMatchObject({ file: 3000, files: 3, response: 4000 });
    expect(limits.sources).toEqual({
      file: 'servers.docs.tools.read_page.limits.file',
      files: 'servers.docs.tools["*"].limits.files',
      response: 'servers.docs.tools["read_*"].limits.response',
    });
    expect(limits.accept).toEqual([{ types: ['image/png'], source: 'servers.docs.tools.read_page.limits.accept' }]);
    expect(OF_TWO.lower(SERVER, ['read_all'])).toMatchObject({ file: 1000, response: 4000 });
  });

  it('hold for every spelling that a server may read as its name', () => {
    const of = new ToolLimits('docs', { delete_page: { limits: { file: 10 } } });
    for (const name of ['delete_page', 'Delete_Page', 'delete_\u200bpage']) expect(of.of(name)?.side.file).toBe(10);
    expect(of.of('delete_pages')).toBeUndefined();
  });

  it('never raise those of the server, nor those that another side has lowered', () => {
    const low = { ...SERVER, file: 500 };
    const limits = OF_TWO.lower(low, ['read_page']);
    expect(limits.file).toBe(500);
    expect(limits.sources?.file).toBeUndefined();
  });

  it('are the lowest of all where one message calls several tools', () => {
    expect(OF_TWO.lower(SERVER, ['read_page', 'other']).file).toBe(1000);
  });

  it('leave those of the server as they are where no tool has any', () => {
    const none = new ToolLimits('docs', { plain: {} });
    expect(none.isOn).toBe(false);
    expect(none.lower(SERVER, ['plain'])).toBe(SERVER);
    expect(none.least(SERVER)).toBe(SERVER);
  });

  it('leave as little as any tool may have to what must be ready for each, and judge no types there', () => {
    const least = OF_TWO.least(SERVER);
    expect(least).toMatchObject({ file: 1000, files: 3, response: 4000 });
    expect(least.accept).toBeUndefined();
  });

  it('are joined once, however often they are asked', () => {
    const once = OF_TWO.lower(SERVER, ['read_page']);
    expect(OF_TWO.lower(once, ['read_page'])).toBe(once);
  });

  it('count calls by the entry that sets the number', () => {
    expect(OF_TWO.of('read_page')?.amounts).toEqual({
      exchanges: { value: 2, source: 'servers.docs.tools["read_*"].limits.exchanges', entry: 'read_*' },
      requestsPerMinute: { value: 10, source: 'servers.docs.tools["*"].limits.requestsPerMinute', entry: '*' },
    });
  });
});
