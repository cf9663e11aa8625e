import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { sha256 } from '../helpers/bytes.js';
import { RecordingUpstream } from '../helpers/recording-upstream.js';
import { connect, overHttp } from '../helpers/sdk-servers-transcript.js';
import { shell } from '../helpers/shell.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

const MODERN = '2026-07-28';

const OCR = {
  name: 'ocr_image',
  inputSchema: {
    type: 'object',
    properties: { image_base64: { type: 'string' }, filename: { type: 'string' } },
    required: ['image_base64'],
  },
};

const FRESH = { resultType: 'complete', ttlMs: 60_000, cacheScope: 'public' };

interface CallResult {
  isError?: boolean;
  content?: { type: string; text?: string }[];
  structuredContent?: unknown;
}

/** What both generations have in common. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

async function sdk2(url: string, mode: 'legacy' | { pin: string }): Promise<AnyClient> {
  const client = new Client2({ name: 'wharf-test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(new Transport2(new URL(url)));
  return client as AnyClient;
}

const CLIENTS: [string, (url: string) => Promise<AnyClient>][] = [
  ['1.32', async (url) => (await connect(overHttp(url))) as AnyClient],
  ['2.4, with a session', (url) => sdk2(url, 'legacy')],
  [`2.4, of ${MODERN}`, (url) => sdk2(url, { pin: MODERN })],
];

describe.each(CLIENTS)('an official SDK client %s that knows no dialect', (_version, start) => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  let client: AnyClient;
  let folder: string;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      methods: {
        'server/discover': () => ({
          ...FRESH,
          supportedVersions: [MODERN],
          capabilities: { tools: {} },
          serverInfo: { name: 'recording', version: '1' },
        }),
        'tools/list': () => ({ ...FRESH, tools: [OCR] }),
        'tools/call': () => ({ resultType: 'complete', content: [{ type: 'text', text: 'read' }] }),
      },
    });
    const files = { image_base64: { encoding: 'base64', name: 'filename' } };
    wharf = await startWharf({
      servers: { ocr: { url: upstream.url, transport: 'streamable-http', tools: { ocr_image: { files } } } },
    });
    client = await start(wharf.mcp);
    folder = await mkdtemp(join(tmpdir(), 'wharf-sdk-'));
  });

  afterAll(async () => {
    await client?.close();
    await wharf?.stop();
    await upstream?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const call = async (name: string, args: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: args })) as CallResult;

  it('lists the tools, asks for an upload, runs the curl line, and passes the handle on (ST-01, ST-04)', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['ocr_image', 'request_file_upload', 'get_file_link']);

    const bytes = randomBytes(100_000);
    await writeFile(join(folder, 'scan.bin'), bytes);
    // the SDKs hold the result against the outputSchema that was listed
    const asked = await call('request_file_upload', { name: 'scan.bin', size: bytes.length });
    const offer = asked.structuredContent as { curl: string; file: { uri: string } };
    await shell(offer.curl, folder);

    expect((await call('ocr_image', { image_base64: offer.file.uri })).content?.[0]?.text).toBe('read');
    const { image_base64, filename } = upstream.lastArguments;
    expect(filename).toBe('scan.bin');
    const digest = (data: Buffer) => sha256(data);
    expect(digest(Buffer.from(String(image_base64), 'base64'))).toBe(digest(bytes));

    const linked = await call('get_file_link', { handle: offer.file.uri });
    const { url } = linked.structuredContent as { url: string };
    expect(digest(Buffer.from(await (await fetch(url)).arrayBuffer()))).toBe(digest(bytes));
  });

  it('takes refusals for failed calls, not for broken answers', async () => {
    for (const [name, args] of [
      ['request_file_upload', { size: -1 }],
      ['get_file_link', { handle: 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA' }],
      ['ocr_image', {}],
    ] as const) {
      expect(await call(name, args)).toMatchObject({ isError: true });
    }
  });
});
