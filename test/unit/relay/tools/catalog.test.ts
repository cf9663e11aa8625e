import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { create as mcpInline } from '../../../../adapters/dialects/mcp-inline/index.js';
import type { Inquire, OwnAnswer } from '../../../../gateway/mcp/inquire.js';
import { DEFAULT_LIMITS } from '../../../../gateway/policy/limits.js';
import type { JsonObject } from '../../../../gateway/ports/json.js';
import { Catalog } from '../../../../gateway/relay/tools/catalog.js';
import { catalogOptions } from '../../../helpers/catalog.js';

const VIEW = '2025-06-18 ann';
const MINUTE = 60_000;

const taking = (name: string): JsonObject => ({
  name,
  inputSchema: { type: 'object', properties: { file: { type: 'string', contentEncoding: 'base64' } } },
});
const plain = (name: string): JsonObject => ({ name, inputSchema: { type: 'object' } });

let catalog: Catalog;
let asked: JsonObject[];
let answer: (params: JsonObject) => OwnAnswer | Promise<OwnAnswer>;
/** What the cache tells the time by. */
let now = 1000;
const pass = (ms: number) => {
  now += ms;
  jest.advanceTimersByTime(ms);
};
const inquire: Inquire = async (_method, params) => {
  asked.push(params);
  return answer(params);
};

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['performance'] });
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  catalog = new Catalog({}, [mcpInline()], catalogOptions());
  asked = [];
  answer = () => ({ result: { tools: [taking('ocr'), plain('other')] } });
});

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

const slotsOf = async (name: string) => (await catalog.tool(VIEW, name, inquire))?.slots.map(({ path }) => path);

describe('a configured file argument that the tool does not have', () => {
  it('is warned of once, with what the tool has', () => {
    const warned: unknown[] = [];
    const log = { warn: (fields: unknown) => warned.push(fields) };
    const files = [{ path: 'fiel', encoding: 'base64' } as const, { path: 'file', encoding: 'base64' } as const];
    const settings = { ocr: { files, results: { files: [] } } };
    const configured = new Catalog(settings, [mcpInline()], catalogOptions({ log }));
    for (const view of [VIEW, 'another', VIEW]) {
      for (const name of ['ocr', 'other']) configured.note(view, configured.read(taking(name)));
    }
    expect(warned).toEqual([{ tool: 'ocr', path: 'fiel', arguments: ['file'] }]);
  });
});

describe('what is known of a server’s tools', () => {
  it('is asked for once, whichever tool is meant', async () => {
    expect(catalog.isSettled(VIEW)).toBe(false);
    expect(await slotsOf('ocr')).toEqual([['file']]);
    expect(await slotsOf('other')).toEqual([]);
    expect(asked).toEqual([{}]);
    expect(catalog.isSettled(VIEW)).toBe(true);
    await catalog.load(VIEW, inquire);
    expect(asked).toHaveLength(1);
  });

  it('is asked for again after five minutes, and once the server says that it has changed (BR-15)', async () => {
    await slotsOf('ocr');
    answer = () => ({ result: { tools: [plain('ocr')] } });
    pass(4 * MINUTE);
    expect(await slotsOf('ocr')).toEqual([['file']]);
    pass(2 * MINUTE);
    expect(catalog.isSettled(VIEW)).toBe(false);
    expect(await slotsOf('ocr')).toEqual([]);
    answer = () => ({ result: { tools: [taking('ocr')] } });
    catalog.forget(VIEW);
    expect(await slotsOf('ocr')).toEqual([['file']]);
    expect(asked).toHaveLength(3);
  });

  it('is not all of it when the server has said between two pages that it has changed', async () => {
    answer = ({ cursor }) => {
      if (cursor === undefined) return { result: { tools: [taking('ocr')], nextCursor: '2' } };
      catalog.forget(VIEW);
      return { result: { tools: [plain('other')] } };
    };
    expect(await slotsOf('other')).toEqual([]);
    expect(catalog.isSettled(VIEW)).toBe(false);
    expect(await slotsOf('ocr')).toEqual([['file']]);
  });

  it('is read again where the server says meanwhile that it has changed, and three times at most', async () => {
    let changes = 1;
    answer = () => {
      if (changes-- > 0) catalog.forget(VIEW);
      return { result: { tools: [taking('ocr')] } };
    };
    await catalog.load(VIEW, inquire);
    expect(catalog.beside(VIEW)).toEqual({ names: new Set(['ocr']), takesFiles: true });
    expect(asked).toHaveLength(2);
    changes = Number.POSITIVE_INFINITY;
    catalog.forget(VIEW);
    await catalog.load(VIEW, inquire);
    expect(asked).toHaveLength(5);
  });

  it('is asked for by one of many at a time; one that waits for a client that has gone asks itself', async () => {
    // the first client goes: it is not known what the server would have answered
    const list: OwnAnswer = { result: { tools: [taking('ocr')] } };
    answer = async () => (asked.length === 1 ? undefined : list);
    const [first, ...others] = await Promise.all([1, 2, 3, 4].map(() => slotsOf('ocr')));
    expect(first).toBeUndefined();
    expect(others).toEqual([[['file']], [['file']], [['file']]]);
    expect(asked).toHaveLength(2);
  });

  it('is not asked for again for a while where the server refuses to tell', async () => {
    answer = () => ({ error: { code: -32601, message: 'Method not found' } });
    expect(await slotsOf('ocr')).toBeUndefined();
    expect(catalog.isSettled(VIEW)).toBe(true);
    pass(MINUTE);
    expect(catalog.isSettled(VIEW)).toBe(false);
  });

  it('is never all of it where there is more than is kept, but the one that is needed always is', async () => {
    answer = () => ({ result: { tools: Array.from({ length: 3000 }, (_, index) => taking(`t${index}`)) } });
    expect(await slotsOf('t2999')).toEqual([['file']]);
    expect(catalog.isSettled(VIEW)).toBe(false);
    expect(await slotsOf('t0')).toEqual([['file']]);
    expect(asked).toHaveLength(2);
    expect(await slotsOf('t0')).toEqual([['file']]);
    expect(asked).toHaveLength(2);
  });

  it('is read up to limits.response over all pages, and not again by each call', async () => {
    const warned: unknown[] = [];
    const limits = { ...DEFAULT_LIMITS, response: 1_000_000 };
    const log = { warn: (fields: unknown) => warned.push(fields) };
    catalog = new Catalog({}, [mcpInline()], catalogOptions({ limits, log }));
    answer = ({ cursor = '0' }) => ({
      result: { tools: [taking(`t${cursor}`)], nextCursor: String(Number(cursor) + 1) },
      bytes: 400_000,
    });
    expect(await slotsOf('t1')).toEqual([['file']]);
    expect(asked).toHaveLength(3);
    expect(warned).toEqual([{ limit: 'limits.response', allowed: 1_000_000, actual: 1_200_000 }]);
    for (let call = 0; call < 5; call++) expect(await slotsOf('t40')).toBeUndefined();
    expect(asked).toHaveLength(3);
    pass(MINUTE);
    await slotsOf('t40');
    expect(asked).toHaveLength(6);
  });

  it('is not followed for longer than timeouts.upstream, or over more than fifty pages', async () => {
    answer = ({ cursor = '0' }) => {
      pass(10_000);
      return { result: { tools: [], nextCursor: String(Number(cursor) + 1) } };
    };
    catalog = new Catalog({}, [mcpInline()], catalogOptions({ timeouts: { upstream: 45_000 } }));
    expect(await slotsOf('t')).toBeUndefined();
    expect(asked).toHaveLength(5);
    catalog = new Catalog({}, [mcpInline()], catalogOptions());
    asked = [];
    expect(await slotsOf('t')).toBeUndefined();
    expect(asked).toHaveLength(50);
  });

  it('lacks a schema of results that is too large to be kept, and says so', async () => {
    const schema = (length: number) => ({ type: 'object', description: 'x'.repeat(length) });
    const limits = { ...DEFAULT_LIMITS, response: 1_000_000 };
    catalog = new Catalog({}, [mcpInline()], catalogOptions({ limits }));
    const tools = [
      { ...taking('large'), outputSchema: schema(200_000) },
      { ...taking('small'), outputSchema: schema(20_000) },
    ];
    answer = () => ({ result: { tools } });
    expect(await catalog.tool(VIEW, 'large', inquire)).toMatchObject({ hasUnkeptSchema: true, slots: [{}] });
    expect(catalog.known(VIEW, 'large')?.outputSchema).toBeUndefined();
    expect(catalog.known(VIEW, 'small')?.outputSchema).toEqual(schema(20_000));
    expect(catalog.known(VIEW, 'small')?.hasUnkeptSchema).toBeUndefined();
    expect(catalog.declaresResults(VIEW)).toBe(true);
  });

  it('is each principal’s own', async () => {
    await slotsOf('ocr');
    expect(catalog.isSettled('2025-06-18 bob')).toBe(false);
    expect(catalog.known('2025-06-18 bob', 'ocr')).toBeUndefined();
  });
});
