import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sha256, sha256Url } from '../../helpers/bytes.js';
import { FileServer } from '../../helpers/file-server.js';
import { RawClient } from '../../helpers/raw-client.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { ANY, BIG, bytesOf, errorOf, F1, F4, JSON_ONLY, type Json, resultOf, stream } from './sep-2532-lab.js';

const FIXTURE = join(import.meta.dirname, '../../../../test/helpers/scripted-stdio.fixture.mjs');
const URI = 'mcp-resource://reports/monthly.pdf';

describe('resources/stream of a resource whose bytes its server keeps as a file (SEP-2631)', () => {
  let server: FileServer;
  let wharf: Wharf | undefined;
  /** The item of `contents[]`. */
  let item: Json;

  beforeEach(async () => {
    server = await FileServer.start({
      methods: { 'resources/read': ({ uri }) => ({ contents: [{ uri, ...item }] }) },
    });
  });
  afterEach(async () => {
    await wharf?.stop();
    wharf = undefined;
    await server.stop();
  });

  async function open(version = '2025-11-25', resourceStreaming: Json = {}, config: Json = {}): Promise<RawClient> {
    wharf = await startWharf({ servers: { s: { url: server.upstream.url, transport: 'streamable-http' } }, config });
    const capabilities = { resourceStreaming };
    return version === '2026-07-28'
      ? RawClient.stateless(wharf.mcp, version, { capabilities })
      : RawClient.connect(wharf.mcp, version, { capabilities });
  }

  it.each(['2025-03-26', '2025-11-25', '2026-07-28'])(
    'gives its bytes to a client of %s (2532-60)',
    async (version) => {
      item = { mimeType: 'application/pdf', content: server.keep(BIG) };
      const response = await stream(await open(version), URI);
      expect(response.headers.get('content-type')).toBe('application/pdf');
      expect(response.headers.get('content-length')).toBe(String(BIG.length));
      expect(response.headers.get('mcp-resource-uri')).toBe(URI);
      expect(response.headers.get('content-disposition')).toContain('monthly.pdf');
      expect(response.headers.get('etag')).toBe(`"${sha256Url(BIG)}"`);
      expect(sha256(await bytesOf(response))).toBe(sha256(BIG));
      expect(server.downloads).toHaveLength(1);
    },
  );

  it('gives a link to a client that takes only JSON (2532-48)', async () => {
    item = { mimeType: 'application/x-thing', content: server.keep(F4) };
    const result = await resultOf(await stream(await open(), URI, JSON_ONLY));
    expect(result).toMatchObject({ uri: URI, mimeType: 'application/x-thing', size: F4.length });
    expect(await bytesOf(await fetch(String(result.downloadUrl)))).toEqual(F4);
  });

  it('gives the file also where it is named beside an ordinary content', async () => {
    const meta = { 'io.modelcontextprotocol/fileResourceContents': { content: server.keep(F4) } };
    item = { mimeType: 'text/plain', text: 'See the file.', _meta: meta };
    expect(await bytesOf(await stream(await open(), URI))).toEqual(F4);
  });

  it('gives a link in a batch, which has one body for all answers (2532-50)', async () => {
    item = { content: server.keep(F1, { mimeType: 'text/x-note' }) };
    const client = await open('2025-03-26');
    const { messages } = await client.post([
      { jsonrpc: '2.0', id: 8, method: 'resources/stream', params: { uri: URI } },
      { jsonrpc: '2.0', id: 9, method: 'resources/read', params: { uri: URI } },
    ]);
    const result = messages.find(({ id }) => id === 8)?.result;
    expect(await bytesOf(await fetch(String(result?.downloadUrl)))).toEqual(F1);
  });

  it('names the client’s limit for a file that is larger (2532-05, 2532-38)', async () => {
    item = { content: server.keep(F1) };
    const error = await errorOf(await stream(await open('2025-11-25', { maxStreamSize: 10 }), URI));
    expect(error).toMatchObject({ code: -32004, data: { uri: URI, maxStreamSize: 10 } });
    expect(server.downloads).toEqual([]);
  });

  it('says that the file could not be fetched, and names it, where its bytes are others (2631-45)', async () => {
    item = { content: { ...server.keep(F1, { name: 'note.txt' }), digest: server.digestOf(F4) } };
    const error = await errorOf(await stream(await open(), URI));
    expect(error.message).toContain('"note.txt"');
    expect(error.data).toMatchObject({ code: 'remote_file_failed', reason: 'digestMismatch' });
  });

  it('still says that there is no content where an item neither has any nor names a file', async () => {
    item = { mimeType: 'text/plain', content: { uri: 'https://example.com/x' } };
    const error = await errorOf(await stream(await open(), URI));
    expect(error).toMatchObject({ code: -32003, data: { uri: URI } });
  });

  it('gives its bytes when its server is on stdio', async () => {
    server.files.set('mcp-file://stdio/1', F4);
    const address = `${server.upstream.origin}/get?uri=${encodeURIComponent('mcp-file://stdio/1')}`;
    const command = [process.execPath, FIXTURE, 'keeping', address];
    wharf = await startWharf({ servers: { s: { command, fetch: { origins: [server.upstream.origin] } } } });
    const client = await RawClient.connect(wharf.mcp, '2025-11-25', { capabilities: { resourceStreaming: {} } });
    expect(await bytesOf(await stream(client, URI, ANY))).toEqual(F4);
    const result = await resultOf(await stream(client, URI, JSON_ONLY));
    expect(await bytesOf(await fetch(String(result.downloadUrl)))).toEqual(F4);
  });
});
