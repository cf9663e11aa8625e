import { describe, expect, it } from '@jest/globals';
import { sha256 } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { FaceProcess } from '../stdio-face-process.js';
import { BIG, blob, bytesOf, F1, type Json, startLab, stream } from './sep-2532-lab.js';

const REFUSED = { error: { code: -32603, message: 'use resources/stream' } };

describe('between dialects', () => {
  it('a client of file objects gets what the server only streams as one (BR-10)', async () => {
    const lab = await startLab({
      resources: { 'docs://huge': REFUSED },
      capabilities: { resources: { stream: true } },
      methods: { 'resources/stream': () => ({ body: BIG, contentType: 'application/pdf' }) },
      config: { limits: { inlineResource: '64KiB' } },
    });
    const capabilities = { files: { upload: true, download: true, transports: ['https'] } };
    const client = await RawClient.connect(lab.wharf.mcp, '2025-11-25', { capabilities });
    const { result } = await client.request('resources/read', { uri: 'docs://huge' });
    const [item] = (result?.contents ?? []) as Json[];
    const uri = /mcp-file:\/\/wharf\/f_[\w-]{22}/.exec(JSON.stringify(item))?.[0];
    expect(uri).toBeDefined();
    expect(JSON.stringify(item)).not.toContain('text/uri-list');
    const asked = await client.request('files/authorizeDownload', { uri });
    const { download } = asked.result as unknown as { download: { url: string } };
    expect(sha256(await bytesOf(await fetch(download.url)))).toBe(sha256(BIG));
    await lab.close();
  });

  it('a client that only streams hands files over as one that declares nothing (K9)', async () => {
    const lab = await startLab({
      methods: {
        'tools/list': () => ({
          tools: [{ name: 'ocr', inputSchema: { type: 'object', properties: { image: { type: 'string' } } } }],
        }),
        'tools/call': ({ params }) => ({
          content: [{ type: 'text', text: String(((params as Json).arguments as Json).image) }],
        }),
      },
      server: { tools: { ocr: { files: { image: { encoding: 'base64' } } } } },
    });
    const [streaming, plain] = [await lab.client(), await lab.plain()];
    const shown = await streaming.request('tools/list');
    expect(shown.result).toEqual((await plain.request('tools/list')).result);
    const called = await streaming.call('ocr', { image: `data:image/png;base64,${F1.toString('base64')}` });
    expect(called.result?.content).toEqual([{ type: 'text', text: F1.toString('base64') }]);
    await lab.close();
  });
});

describe('a client on stdio', () => {
  it('is told of no streams, and gets a link if it asks all the same (2532-51, 2532-50)', async () => {
    const lab = await startLab({ resources: { 'docs://x': blob('docs://x', F1, 'application/pdf') } });
    const face = await FaceProcess.start('--upstream', lab.upstream.url);
    const clientInfo = { name: 'host', version: '1' };
    const capabilities = { resourceStreaming: {} };
    face.request(0, 'initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
    const { result } = await face.answer(0);
    expect((result?.capabilities as Json | undefined)?.resources).toEqual({});
    face.request(1, 'resources/stream', { uri: 'docs://x' });
    const streamed = await face.answer(1);
    expect(streamed.result).toMatchObject({ uri: 'docs://x', size: 12, mimeType: 'application/pdf' });
    expect(await bytesOf(await fetch(String(streamed.result?.downloadUrl)))).toEqual(F1);
    // over HTTP the same client would be told, and given the bytes
    const overHttp = await lab.client();
    expect((overHttp.opened?.result?.capabilities as Json | undefined)?.resources).toEqual({ stream: true });
    expect(await bytesOf(await stream(overHttp, 'docs://x'))).toEqual(F1);
    await face.clean();
    await lab.close();
  });
});
