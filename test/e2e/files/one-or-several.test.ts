import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { connect, type Json, type Lab, lab } from './recording-lab.js';

const DATA = 'data:application/octet-stream;base64,AAEC/f7/';
const base64 = { type: 'string', contentEncoding: 'base64' };
const oneOrSeveral = { anyOf: [base64, { type: 'array', items: base64, maxItems: 2 }] };
const TOOLS = [
  { name: 'flat', inputSchema: { type: 'object', properties: { scan: oneOrSeveral } } },
  {
    name: 'nested',
    inputSchema: {
      type: 'object',
      properties: { doc: { type: 'object', properties: { scan: oneOrSeveral }, required: ['scan'] } },
    },
  },
  { name: 'items', inputSchema: { type: 'object', properties: { pages: { type: 'array', items: oneOrSeveral } } } },
];

let files: Lab;

beforeAll(async () => {
  const clients = [{ match: { name: 'codex-*' }, dialects: ['sep-2631'] }];
  files = await lab(TOOLS, { config: { clients } });
});

afterAll(() => files?.stop());

describe('an argument that is one file or a list of files', () => {
  it.each<[string, Json, Json]>([
    ['flat', { scan: DATA }, { scan: 'AAEC/f7/' }],
    ['flat', { scan: [DATA] }, { scan: ['AAEC/f7/'] }],
    ['flat', { scan: [DATA, DATA] }, { scan: ['AAEC/f7/', 'AAEC/f7/'] }],
    ['nested', { doc: { scan: DATA } }, { doc: { scan: 'AAEC/f7/' } }],
    ['nested', { doc: { scan: [DATA] } }, { doc: { scan: ['AAEC/f7/'] } }],
    ['items', { pages: [DATA, [DATA, DATA]] }, { pages: ['AAEC/f7/', ['AAEC/f7/', 'AAEC/f7/']] }],
  ])('%s: %j is sent as it is given', async (name, args, expected) => {
    expect(await files.sent(name, args)).toEqual(expected);
  });

  it('takes as many files as its list does', async () => {
    expect(await files.refused('flat', { scan: [DATA, DATA, DATA] })).toMatchObject({ reason: 'tooManyFiles' });
  });

  it('a file that is missing in its list is asked for', async () => {
    const { result } = await files.client.call('flat', { scan: [DATA, '@attach'] });
    expect(result).toMatchObject({ _meta: { 'dev.wharf/uploadRequired': { argument: 'scan[1]' } } });
  });

  it('is filled by the handle of several files', async () => {
    const { result } = await files.client.call('flat', { scan: ['@attach'] });
    const meta = result?._meta as Record<string, { maxFiles: number; file: { uri: string }; upload: { url: string } }>;
    const offer = meta['dev.wharf/uploadRequired'];
    expect(offer?.maxFiles).toBe(2);
    const body = new FormData();
    for (const text of ['a', 'b']) body.append('file', new File([text], `${text}.txt`));
    expect((await fetch(offer?.upload.url ?? '', { method: 'POST', body })).ok).toBe(true);
    expect(await files.sent('flat', { scan: offer?.file.uri })).toEqual({ scan: ['YQ==', 'Yg=='] });
  });

  it('has one name for clients that look at the top level only, and both forms under it', async () => {
    const codex = await connect(files.wharf.mcp, '2025-06-18', { name: 'codex-cli' });
    const { result } = await codex.request('tools/list');
    const tools = result?.tools as { name: string; inputSchema: { properties: Json } }[];
    const { inputSchema } = tools.find(({ name }) => name === 'nested') ?? {};
    expect(Object.keys(inputSchema?.properties ?? {})).toEqual(['doc_scan']);
    expect(JSON.stringify(inputSchema).match(/"x-mcp-file"/g)).toHaveLength(2);
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(inputSchema ?? {});
    for (const scan of [DATA, [DATA, DATA]]) {
      expect(validate({ doc_scan: scan })).toBe(true);
      await codex.call('nested', { doc_scan: scan });
      const expected = Array.isArray(scan) ? ['AAEC/f7/', 'AAEC/f7/'] : 'AAEC/f7/';
      expect(files.upstream.lastArguments).toEqual({ doc: { scan: expected } });
    }
  });
});
