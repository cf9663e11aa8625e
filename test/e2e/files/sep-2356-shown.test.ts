import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { F2, type Json, type Lab, lab } from './recording-lab.js';
import { dataUri, declared, EARLY, shownTool, shownTools, tool } from './sep-2356-lab.js';

const TOOLS = [
  tool(
    'crop',
    {
      photo: declared(
        { accept: ['image/png', 'image/*', '.pdf'], maxSize: 1_000_000 },
        { description: 'Photo to crop.', contentMediaType: 'image/png', 'x-mcp-foo': { kept: true } },
      ),
      photo_name: { type: 'string', description: 'Original file name of photo.' },
    },
    {},
  ),
  tool('any', { file: declared() }),
  tool('bare', { file: { type: 'string', 'x-mcp-file': { maxSize: 5 } } }),
  tool('broken', { file: { type: 'string', format: 'uri', 'x-mcp-file': 'yes' }, n: { type: 'number' } }),
  tool(
    'early',
    { photo: { type: 'string', format: 'uri' }, note: { type: 'string' } },
    {
      inputFiles: { photo: { accept: ['image/png'], maxSize: 500 }, ghost: {}, inputSchema: {} },
    },
  ),
  tool('array2', {
    files: { type: 'array', items: { type: 'string', format: 'uri' }, mcpFile: { accept: ['image/png'] } },
  }),
  tool('nullable', { file: { type: ['string', 'null'], format: 'uri', 'x-mcp-file': {} } }),
  tool('misplaced', { count: { type: 'number', 'x-mcp-file': {} } }),
] as const;

const NAMES = TOOLS.map(({ name }) => String(name));

describe('SEP-2356: what clients see of file arguments', () => {
  let it2356: Lab;
  let early: RawClient;

  beforeAll(async () => {
    it2356 = await lab([...TOOLS]);
    early = await RawClient.connect(it2356.wharf.mcp, '2025-06-18', { capabilities: EARLY });
  });

  afterAll(() => it2356.stop());

  const property = async (name: string, key: string, client = it2356.client): Promise<Json> => {
    const shown = await shownTool(client, NAMES.indexOf(name));
    return shown.inputSchema.properties[key] ?? {};
  };
  const keyword = async (name: string, key: string) => (await property(name, key))['x-mcp-file'] as Json;

  it('unknown keywords pass unchanged (2356-02)', async () => {
    expect(await property('crop', 'photo')).toMatchObject({ 'x-mcp-foo': { kept: true } });
    expect(await property('crop', 'photo_name')).toEqual({
      type: 'string',
      description: 'Original file name of photo.',
    });
  });

  it('the keyword stands only on strings with the format uri (2356-03)', async () => {
    const places: Json[] = [];
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      if ('x-mcp-file' in value) places.push(value as Json);
      for (const child of Object.values(value)) walk(child);
    };
    const shown = await shownTools(it2356.client);
    walk(shown.filter((_, index) => NAMES[index] !== 'misplaced'));
    expect(places).toHaveLength(6);
    for (const place of places) expect(place).toMatchObject({ type: 'string', format: 'uri' });
  });

  it('its value has accept and maxSize, in their types (2356-04)', async () => {
    for (const [name, key] of [
      ['crop', 'photo'],
      ['any', 'file'],
      ['bare', 'file'],
    ] as const) {
      const value = await keyword(name, key);
      expect(Object.keys(value).filter((member) => !['accept', 'maxSize', 'transferModes'].includes(member))).toEqual(
        [],
      );
      expect(Number.isInteger(value.maxSize) && Number(value.maxSize) > 0).toBe(true);
    }
  });

  it('accept keeps its entries and their order (2356-05)', async () => {
    expect(await keyword('crop', 'photo')).toMatchObject({
      accept: ['image/png', 'image/*', '.pdf'],
      maxSize: 1_000_000,
    });
  });

  it('without accept there is none (2356-06)', async () => {
    expect(await keyword('any', 'file')).not.toHaveProperty('accept');
  });

  it("without maxSize Wharf's own limit is named (2356-08)", async () => {
    const { maxSize } = await keyword('any', 'file');
    expect(Number(maxSize)).toBeGreaterThan(1_000_000);
    expect(Number(maxSize)).toBeLessThanOrEqual(4 * 1024 * 1024);
  });

  it('a keyword without format counts, and the format is added (2356-09)', async () => {
    expect(await property('bare', 'file')).toMatchObject({ format: 'uri', 'x-mcp-file': { maxSize: 5 } });
    expect(await it2356.refused('bare', { file: 'data:,123456' })).toMatchObject({ reason: 'maxSizeExceeded' });
  });

  it('one on anything but a string is not a file (2356-09)', async () => {
    expect(await property('misplaced', 'count')).toEqual({ type: 'number', 'x-mcp-file': {} });
  });

  it('a malformed keyword goes, the tool and the argument stay (2356-10)', async () => {
    expect(await property('broken', 'file')).toEqual({ type: 'string', format: 'uri' });
    const value = 'data:text/plain;name=a;base64,%%%';
    expect(await it2356.sent('broken', { file: value, n: 1 })).toEqual({ file: value, n: 1 });
  });

  it('the description tells models what to put there (2356-20)', async () => {
    const { description } = await property('crop', 'photo');
    expect(description).toMatch(/^Photo to crop\. .*file handle \(mcp-file:.*Do not type base64/);
  });

  it('contentMediaType is kept (2356-44)', async () => {
    expect(await property('crop', 'photo')).toMatchObject({ contentMediaType: 'image/png' });
  });

  it('a client without capabilities sees the arguments as well (2356-52)', async () => {
    expect(Object.keys((await shownTool(it2356.client)).inputSchema.properties)).toEqual(['photo', 'photo_name']);
  });

  it('inputFiles is for clients that declared fileInputs, beside the keyword (2356o-01)', async () => {
    for (const shown of await shownTools(it2356.client)) expect(shown).not.toHaveProperty('inputFiles');
    const [crop] = await shownTools(early);
    expect(crop?.inputFiles).toEqual({ photo: { accept: ['image/png', 'image/*', '.pdf'], maxSize: 1_000_000 } });
    expect(crop?.inputSchema.properties.photo).toHaveProperty('x-mcp-file');
  });

  it('the capability of forms alone does not show it on tools (2356o-02)', async () => {
    const forms = await RawClient.connect(it2356.wharf.mcp, '2025-06-18', {
      capabilities: { elicitation: { form: { fileInputs: {} } } },
    });
    const tools = await shownTools(forms);
    expect(tools.length).toBeGreaterThan(0);
    for (const shown of tools) expect(shown).not.toHaveProperty('inputFiles');
  });

  it('its keys are arguments that are URIs or lists of them (2356o-03)', async () => {
    let entries = 0;
    for (const shown of await shownTools(early)) {
      for (const key of Object.keys(shown.inputFiles ?? {})) {
        entries += 1;
        const schema = shown.inputSchema.properties[key] as Json;
        const one = schema.type === 'array' ? (schema.items as Json) : schema;
        expect(one).toMatchObject({ type: 'string', format: 'uri' });
      }
    }
    expect(entries).toBe(6);
  });

  it("an upstream's entry that names no argument is ignored, and the others work (2356o-04)", async () => {
    const shown = await shownTool(early, NAMES.indexOf('early'));
    expect(shown.inputFiles).toEqual({ photo: { accept: ['image/png'], maxSize: 500 } });
    expect(await it2356.sent('early', { photo: dataUri('image/png', F2), note: 'n' })).toEqual({
      photo: dataUri('image/png', F2),
      note: 'n',
    });
  });

  it('mcpFile is shown as x-mcp-file (2356o-17)', async () => {
    const files = await property('array2', 'files');
    expect(JSON.stringify(files)).not.toContain('mcpFile');
    expect(JSON.stringify(files)).toContain('x-mcp-file');
  });

  it('a keyword on the array is shown on its items (2356o-18)', async () => {
    const files = await property('array2', 'files');
    expect(files).not.toHaveProperty('x-mcp-file');
    expect(files.items).toMatchObject({ type: 'string', format: 'uri', 'x-mcp-file': { accept: ['image/png'] } });
  });

  it('an array of files without maxItems gets one (2356o-20)', async () => {
    expect(await property('array2', 'files')).toMatchObject({ type: 'array', maxItems: 10 });
  });

  it('prompts get no keyword (2356-45)', async () => {
    const prompts = { prompts: [{ name: 'p', arguments: [{ name: 'photo', required: true }] }] };
    const asked = await lab([...TOOLS], { methods: { 'prompts/list': () => prompts } });
    expect((await asked.client.request('prompts/list')).result).toEqual(prompts);
    await asked.stop();
  });

  it('a list made for one client is private to it (BASE-11)', async () => {
    const version = '2026-07-28';
    const about = { capabilities: EARLY };
    const stateless = RawClient.stateless(it2356.wharf.mcp, version, about);
    const { result } = await stateless.request('tools/list');
    expect(result?.cacheScope).toBe('private');
    const plain = await RawClient.stateless(it2356.wharf.mcp, version, {}).request('tools/list');
    expect(plain.result).not.toHaveProperty('cacheScope');
    expect((plain.result?.tools as Json[] | undefined)?.[0]).not.toHaveProperty('inputFiles');
  });

  it('two clients that are alike see the same tools, byte for byte (BASE-12)', async () => {
    const other = await RawClient.connect(it2356.wharf.mcp, '2025-06-18', { capabilities: EARLY });
    const [first, second] = [await early.request('tools/list'), await other.request('tools/list')];
    expect(JSON.stringify(second.result)).toBe(JSON.stringify(first.result));
  });

  it('Wharf declares fileInputs to the server, whatever its client does (2356o-26)', () => {
    const [initialize] = it2356.upstream.with('initialize');
    expect(initialize?.params.capabilities).toMatchObject({ fileInputs: {} });
  });
});
