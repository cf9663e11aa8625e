import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const FILES = 'dev.wharf/files';
const PHOTO = { type: 'image', mimeType: 'image/png', data: noisePng(600).toString('base64') };
const SAID = { type: 'text', text: 'it failed' };

const RESULTS: Record<string, Json> = {
  photo: { content: [PHOTO], _meta: { mine: 1 } },
  failed: { isError: true, content: [SAID, PHOTO], _meta: { mine: 1 } },
};

const TAKING = {
  name: 'scan',
  inputSchema: {
    type: 'object',
    required: ['image_base64'],
    properties: { image_base64: { type: 'string', contentEncoding: 'base64' } },
  },
};

describe('a host that shows its model a whole result', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    const tools = Object.keys(RESULTS).map((name) => ({ name, inputSchema: { type: 'object' } }));
    upstream = await RecordingUpstream.start({
      methods: {
        'tools/list': () => ({ tools: [...tools, TAKING] }),
        'tools/call': ({ name }) => RESULTS[String(name)],
      },
    });
    wharf = await startWharf({
      servers: { s: { url: upstream.url, transport: 'streamable-http' } },
      config: {
        clients: [
          { match: { name: 'keeper' }, like: 'llamaindex', host: { meta: 'keep' } },
          { match: { name: 'my server' }, like: 'mastra' },
        ],
      },
    });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  async function call(name: string, tool: string): Promise<Json> {
    const client = await RawClient.connect(wharf.mcp, '2025-06-18', { name, version: '1.0.0' });
    await client.request('tools/list');
    const { result } = await client.call(tool, {});
    return result as Json;
  }

  /** The members that Wharf has added. */
  const told = ({ _meta }: Json) => Object.keys((_meta ?? {}) as Json).filter((key) => key.startsWith('dev.wharf/'));
  const own = ({ _meta }: Json) => (_meta as Json | undefined)?.mine;
  const links = (result: Json) => JSON.stringify(result.content).match(/http[^\s"\\]+\/d\//g) ?? [];

  it.each([
    ['mcp-client-cli', [], []],
    ['my server', [], []],
    ['gemini-cli-mcp-client-files', [FILES], []],
    ['qwen-cli-mcp-client-files', [FILES], []],
    ['@langchain/mcp-adapters', [FILES], [FILES]],
    ['keeper', [FILES], [FILES]],
    ['some-client', [FILES], [FILES]],
  ])('%s gets the facts for programs only where no model reads them', async (name, ofResult, ofError) => {
    const [photo, failed] = [await call(name, 'photo'), await call(name, 'failed')];
    expect([told(photo), told(failed)]).toEqual([ofResult, ofError]);
    // what the server has said stays, and so does the link
    expect([own(photo), own(failed)]).toEqual([1, 1]);
    expect([links(photo).length > 0, links(failed).length > 0]).toEqual([true, true]);
  });

  it.each([
    ['mcp-client-cli', []],
    ['gemini-cli-mcp-client-files', []],
    ['some-client', ['dev.wharf/uploadRequired']],
  ])('%s is told once how to upload a missing file', async (name, facts) => {
    const result = await call(name, 'scan');
    expect([result.isError, told(result)]).toEqual([true, facts]);
    expect(JSON.stringify(result.content)).toMatch(/http[^\s"\\]+\/u\//);
  });
});
