import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const MODERN = '2026-07-28';
const PLAIN = { name: 'plain', inputSchema: { type: 'object' } };
const TAKING = {
  name: 'take',
  inputSchema: { type: 'object', properties: { file: { type: 'string', contentEncoding: 'base64' } } },
};
const CLIENTS = {
  'a client that declares nothing': {},
  'one of the early SEP-2356': { fileInputs: {} },
  'one that moves files itself': { files: { upload: true, download: true } },
};

describe('a list of tools that caches could keep', () => {
  const upstreams: RecordingUpstream[] = [];
  let wharf: Wharf;

  beforeAll(async () => {
    for (const tools of [[PLAIN, TAKING], [PLAIN]]) {
      const list = { resultType: 'complete', tools, cacheScope: 'public', ttlMs: 60_000 };
      upstreams.push(await RecordingUpstream.start({ methods: { 'tools/list': () => list } }));
    }
    const [taking, plain] = upstreams.map(({ url }) => ({ url, transport: 'streamable-http' }));
    wharf = await startWharf({ servers: { taking, plain } });
  });

  afterAll(async () => {
    await wharf.stop();
    for (const upstream of upstreams) await upstream.stop();
  });

  const list = async (server: string, capabilities: Record<string, unknown>) =>
    (await RawClient.stateless(`${wharf.url}/${server}/mcp`, MODERN, { capabilities }).request('tools/list')).result;

  it.each(Object.entries(CLIENTS))('is no other client’s where it takes files: %s', async (_, capabilities) => {
    expect(await list('taking', capabilities)).toMatchObject({ cacheScope: 'private', ttlMs: 0 });
  });

  it.each(Object.entries(CLIENTS))('is as its server says where all see the same: %s', async (_, capabilities) => {
    expect(await list('plain', capabilities)).toMatchObject({ tools: [PLAIN], cacheScope: 'public', ttlMs: 60_000 });
  });

  it('is as its server says before 2026-07-28, where nothing is cached', async () => {
    const { result } = await (await RawClient.connect(`${wharf.url}/taking/mcp`)).request('tools/list');
    expect(result).toMatchObject({ cacheScope: 'public', ttlMs: 60_000 });
  });
});
