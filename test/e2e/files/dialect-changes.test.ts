import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sha256 } from '../../helpers/bytes.js';
import { FileServer } from '../../helpers/file-server.js';
import { RawClient } from '../../helpers/raw-client.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { announced, image } from './handoff-lab.js';
import { startLab } from './sep-2532-lab.js';

type Json = Record<string, unknown>;

const TEXT = { type: 'string' };
const URI = { type: 'string', format: 'uri' };
const PICTURE = image();
const BASE64 = PICTURE.toString('base64');

/** What the server says of its one file argument, and what stands in it then. */
const DECLARATIONS: Record<string, Json> = {
  base64: { ...TEXT, contentEncoding: 'base64' },
  'SEP-2356': { ...URI, 'x-mcp-file': { accept: ['image/*'] } },
  'SEP-2631': { ...URI, 'x-mcp-file': { transferModes: ['upload'] } },
  none: TEXT,
};

describe('a server that changes how its files are to come (BR-15)', () => {
  let server: FileServer;
  let wharf: Wharf;
  let declared = 'base64';

  const tools = () => [
    { name: 'give', inputSchema: { type: 'object' } },
    { name: 'take', inputSchema: { type: 'object', properties: { file: DECLARATIONS[declared] } } },
  ];

  beforeAll(async () => {
    server = await FileServer.start({
      methods: {
        'tools/list': () => ({ tools: tools() }),
        'tools/call': ({ name }) =>
          name === 'give' ? { content: [{ type: 'image', mimeType: 'image/png', data: BASE64 }] } : { content: [] },
      },
    });
    wharf = await startWharf({ servers: { s: { url: server.upstream.url, transport: 'streamable-http' } } });
  });

  beforeEach(() => {
    declared = 'base64';
  });

  afterAll(async () => {
    await wharf.stop();
    await server.stop();
  });

  /** The file in the newest call, however it stands there. */
  function taken(): Buffer {
    const value = String(server.upstream.lastArguments.file);
    if (value.startsWith('data:')) return Buffer.from(value.slice(value.indexOf(',') + 1), 'base64');
    return server.files.get(value) ?? Buffer.from(value, 'base64');
  }

  it.each(['SEP-2356', 'SEP-2631'])('is asked in its new form after the next list: %s', async (next) => {
    const client = await RawClient.connect(wharf.mcp);
    await client.request('tools/list');
    const { uri } = announced((await client.call('give')).result);
    await client.call('take', { file: uri });
    expect(server.upstream.lastArguments.file).toBe(BASE64);
    declared = next;
    await client.request('tools/list');
    // the handle is of before the change
    await client.call('take', { file: uri });
    expect(String(server.upstream.lastArguments.file)).toMatch(
      next === 'SEP-2356' ? /^data:image\/png;/ : /^mcp-file:/,
    );
    expect(sha256(taken())).toBe(sha256(PICTURE));
  });

  it('takes files no longer: what was one goes as it came', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const { uri } = announced((await client.call('give')).result);
    declared = 'none';
    await client.request('tools/list');
    await client.call('take', { file: uri });
    expect(server.upstream.lastArguments.file).toBe(uri);
  });

  it('is asked anew once it has said that its tools are others now', async () => {
    const changed = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    const lab = await startLab({
      methods: {
        'tools/list': () => ({ tools: tools() }),
        'tools/call': ({ id, params }) => {
          if ((params as Json).name !== 'give') return { content: [] };
          const result = JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } });
          return { contentType: 'text/event-stream', body: `data: ${changed}\n\ndata: ${result}\n\n` };
        },
      },
    });
    const client = await lab.plain();
    const sent = () =>
      lab
        .asked('tools/call')
        .map(({ params }) => (params as { arguments: Json }).arguments.file)
        .at(-1);
    const file = `data:image/png;base64,${BASE64}`;
    await client.call('take', { file });
    expect(sent() === BASE64).toBe(true);
    declared = 'SEP-2356';
    await client.call('give');
    await client.call('take', { file });
    expect(sent() === file).toBe(true);
    await lab.close();
  });
});
