import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const F4 = 'data:application/octet-stream;base64,AAEC/f7/';
const BASE64 = { type: 'string', contentEncoding: 'base64' };
const TOOLS = [
  {
    // as pydantic writes a model with descriptions
    name: 'pydantic',
    inputSchema: {
      type: 'object',
      properties: {
        file: { allOf: [{ $ref: '#/definitions/Bytes' }], description: 'The file' },
        files: { type: 'array', items: { allOf: [{ $ref: '#/definitions/Bytes' }] } },
      },
      definitions: { Bytes: BASE64 },
    },
  },
  {
    name: 'rooted',
    inputSchema: { $ref: '#/$defs/In', $defs: { In: { type: 'object', properties: { file: BASE64 } } } },
  },
  {
    name: 'shouted',
    inputSchema: { type: 'object', properties: { file: { type: 'string', contentEncoding: 'BASE64' } } },
  },
  { name: 'uri', inputSchema: { type: 'object', properties: { file: { type: 'string' } } } },
  {
    name: 'header',
    inputSchema: {
      type: 'object',
      properties: { file: { type: 'string', contentEncoding: 'base64', 'x-mcp-header': 'Doc' } },
    },
  },
];

let upstream: RecordingUpstream;
let wharf: Wharf;
let client: RawClient;

beforeAll(async () => {
  upstream = await RecordingUpstream.start({ tools: TOOLS });
  const tools = { uri: { files: { file: { encoding: 'dataUri' } } } };
  wharf = await startWharf({ servers: { legacy: { url: upstream.url, transport: 'streamable-http', tools } } });
  client = await RawClient.connect(wharf.mcp);
});

afterAll(async () => {
  await wharf?.stop();
  await upstream?.stop();
});

const calls = () => upstream.with('tools/call').length;

async function schemaOf(name: string): Promise<string> {
  const { result } = await client.request('tools/list');
  const tools = result?.tools as { name: string; inputSchema: unknown }[];
  return JSON.stringify(tools.find((tool) => tool.name === name)?.inputSchema);
}

describe('an argument that is declared as base64', () => {
  it.each([
    ['pydantic', 2, { file: F4, files: [F4] }, { file: 'AAEC/f7/', files: ['AAEC/f7/'] }],
    ['rooted', 1, { file: F4 }, { file: 'AAEC/f7/' }],
    ['shouted', 1, { file: F4 }, { file: 'AAEC/f7/' }],
  ])('%s: is shown as a file wherever a call takes one', async (name, slots, args, expected) => {
    expect((await schemaOf(name)).match(/"x-mcp-file"/g)).toHaveLength(slots);
    await client.call(name, args);
    expect(upstream.lastArguments).toEqual(expected);
  });
});

describe('what stands in the place of one file', () => {
  let before: number;
  beforeEach(() => {
    before = calls();
  });

  it('a list of files is refused, for the server would get their spellings', async () => {
    const { result } = await client.call('shouted', { file: [F4, F4] });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^Argument 'file' is a list of 2, and takes one file/) }],
      _meta: { 'dev.wharf/fileError': { reason: 'malformedUri', argument: 'file' } },
    });
    expect(calls()).toBe(before);
  });

  it.each([[[1, 2]], [5], [{ a: 1 }]])('%j is between the caller and the tool', async (file) => {
    await client.call('shouted', { file });
    expect(upstream.lastArguments).toEqual({ file });
  });

  it.each([
    ['data:,A', 'data:text/plain;base64,QQ=='],
    ['data:text/plain,hello%20world', 'data:text/plain;base64,aGVsbG8gd29ybGQ='],
    ['data:text/plain;base64,QQ', 'data:text/plain;base64,QQ=='],
    ['data:text/plain;base64,QQ%3D%3D', 'data:text/plain;base64,QQ=='],
    ['data:text/plain;charset=utf-8;base64,QQ==', 'data:text/plain;charset=utf-8;base64,QQ=='],
  ])('2356-16: %s reaches a server that has always taken base64 as that', async (typed, expected) => {
    await client.call('uri', { file: typed });
    expect(upstream.lastArguments).toEqual({ file: expected });
  });
});

it('X-32: a file fills a header of 4 KiB, and not of more', async () => {
  const stateless = RawClient.stateless(wharf.mcp, '2026-07-28', {});
  const fits = Buffer.alloc(3072, 'z').toString('base64');
  await stateless.call('header', { file: `data:text/plain;base64,${fits}` });
  expect(upstream.with('tools/call').at(-1)?.headers['mcp-param-doc']).toBe(fits);
  const before = calls();
  const { result } = await stateless.call('header', {
    file: `data:text/plain;base64,${Buffer.alloc(3075, 'z').toString('base64')}`,
  });
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/header.*4096 bytes; it would have 4100/) }],
  });
  expect(calls()).toBe(before);
});

it('a batch with a file that is refused is refused as a whole, each of its requests by its id', async () => {
  const batches = await RawClient.connect(wharf.mcp, '2025-03-26');
  const before = calls();
  const of = (id: string, file: string) => {
    return { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'shouted', arguments: { file } } };
  };
  const { text } = await batches.post([of('a', F4), of('b', 'https://example.com/x')]);
  const answers = JSON.parse(text) as { id: string; error: { code: number; message: string } }[];
  expect(answers.map(({ id, error }) => [id, error.code])).toEqual([
    ['a', -32602],
    ['b', -32602],
  ]);
  expect(calls()).toBe(before);
});
