import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { type Handler, RecordingUpstream, RpcError } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { F2 } from './recording-lab.js';
import { PDF } from './sep-2356-lab.js';

type Json = Record<string, unknown>;

const OCR = {
  name: 'ocr',
  inputSchema: {
    type: 'object',
    properties: { image: { type: 'string', contentEncoding: 'base64', contentMediaType: 'image/png' } },
    required: ['image'],
  },
};
const OTHER = { name: 'other', inputSchema: { type: 'object' } };
/** The tool in question stands on the second page. */
const PAGES: Handler = ({ cursor }) => (cursor === '2' ? { tools: [OCR] } : { tools: [OTHER], nextCursor: '2' });

let upstream: RecordingUpstream;
let wharf: Wharf;

afterEach(async () => {
  await wharf.stop();
  await upstream.stop();
});

async function start(list: Handler = PAGES): Promise<void> {
  upstream = await RecordingUpstream.start({ methods: { 'tools/list': list } });
  wharf = await startWharf({ servers: { s: { url: upstream.url, transport: 'streamable-http' } } });
}

const reasonOf = (result: Json | undefined) =>
  ((result?._meta as Json | undefined)?.['dev.wharf/fileError'] as Json | undefined)?.reason;

describe.each([
  ['2025-06-18', () => RawClient.connect(wharf.mcp, '2025-06-18')],
  ['2026-07-28', async () => RawClient.stateless(wharf.mcp, '2026-07-28', {})],
])('the first call of a tool that was never listed (%s)', (_version, connect) => {
  it('is held to what the tool declares, as the second is', async () => {
    await start();
    const client = await connect();
    for (const time of ['first', 'second']) {
      const { result } = await client.call('ocr', { image: PDF.toString('base64') });
      expect([time, reasonOf(result)]).toEqual([time, 'mimeTypeNotAccepted']);
    }
    expect(upstream.with('tools/call')).toHaveLength(0);
    expect(upstream.with('tools/list')).toHaveLength(2);
  });

  it('is known to a server that names files only to clients that know them (2356o-26)', async () => {
    const image = { type: 'string', format: 'uri' };
    const tool = { name: 'draw', inputSchema: { type: 'object', properties: { image } } };
    let declared: Json | undefined;
    await start(({ _meta }) => {
      const meta = _meta as Json | undefined;
      declared = (meta?.['io.modelcontextprotocol/clientCapabilities'] ??
        upstream.with('initialize')[0]?.params.capabilities) as Json | undefined;
      return { tools: [declared?.fileInputs ? { ...tool, inputFiles: { image: { maxSize: 1 } } } : tool] };
    });
    const { result } = await (await connect()).call('draw', { image: 'data:,AB' });
    expect(reasonOf(result)).toBe('maxSizeExceeded');
    expect(declared).toMatchObject({ fileInputs: {}, files: { upload: true, download: true } });
  });

  it('is told of the file that it lacks', async () => {
    await start();
    const { result } = await (await connect()).call('ocr', {});
    expect(result).toMatchObject({ isError: true, _meta: { 'dev.wharf/uploadRequired': { argument: 'image' } } });
    expect(upstream.with('tools/call')).toHaveLength(0);
  });

  it('goes as it came where nothing is to be said against it', async () => {
    await start();
    const image = F2.toString('base64');
    const { result } = await (await connect()).call('ocr', { image });
    expect(result).not.toHaveProperty('isError');
    expect(upstream.lastArguments).toEqual({ image });
  });
});

describe('the list that a first call needs', () => {
  it('is asked for once by many calls at once', async () => {
    await start(async ({ cursor }, recorded) => {
      await new Promise((resolve) => setImmediate(resolve));
      return PAGES({ cursor }, recorded);
    });
    const client = await RawClient.connect(wharf.mcp);
    await Promise.all(Array.from({ length: 10 }, () => client.call('other', { x: 1 })));
    expect(upstream.with('tools/call')).toHaveLength(10);
    expect(upstream.with('tools/list')).toHaveLength(2);
  });

  it('is not asked for again for a tool that it does not have', async () => {
    await start();
    const client = await RawClient.connect(wharf.mcp);
    for (let time = 0; time < 3; time++) await client.call('hidden', { x: 'text' });
    expect(upstream.with('tools/call')).toHaveLength(3);
    expect(upstream.with('tools/list')).toHaveLength(2);
  });

  it('is asked for again where such a tool may be given a file: it may be a new one', async () => {
    let tools = [OTHER];
    await start(() => ({ tools }));
    const client = await RawClient.connect(wharf.mcp);
    await client.call('ocr', { image: 'text' });
    tools = [OTHER, OCR];
    const { result } = await client.call('ocr', { image: `data:application/pdf;base64,${PDF.toString('base64')}` });
    expect(reasonOf(result)).toBe('mimeTypeNotAccepted');
  });

  it('is not asked for again by every call of a server that refuses to give it', async () => {
    await start(() => {
      throw new RpcError(-32601, 'Method not found');
    });
    const client = await RawClient.connect(wharf.mcp);
    for (let time = 0; time < 3; time++) {
      const { result } = await client.call('ocr', { image: 'text' });
      expect(result).not.toHaveProperty('isError');
    }
    expect(upstream.with('tools/list')).toHaveLength(1);
  });

  it('is not followed for ever', async () => {
    await start(() => ({ tools: [OTHER], nextCursor: 'again' }));
    const client = await RawClient.connect(wharf.mcp);
    for (let time = 0; time < 3; time++) await client.call('hidden', {});
    expect(upstream.with('tools/list')).toHaveLength(50);
  });
});

describe('the first call to a server on stdio', () => {
  const script = fileURLToPath(new URL('../../../../test/helpers/recording-stdio.fixture.mjs', import.meta.url));

  it.each([
    ['2025-06-18', () => RawClient.connect(wharf.mcp, '2025-06-18')],
    ['2026-07-28', async () => RawClient.stateless(wharf.mcp, '2026-07-28', {})],
  ])('is held to the declaration as well (%s)', async (_version, connect) => {
    upstream = await RecordingUpstream.start({});
    const schema = JSON.stringify(OCR.inputSchema.properties.image);
    wharf = await startWharf({ servers: { local: { command: [process.execPath, script, schema] } } });
    const client = await connect();
    const { result: refused } = await client.call('take', { file: PDF.toString('base64') });
    expect(reasonOf(refused)).toBe('mimeTypeNotAccepted');
    const { result: taken } = await client.call('take', { file: F2.toString('base64') });
    expect(JSON.parse(String(taken?.content?.[0]?.text))).toEqual({ value: F2.toString('base64') });
  });
});
