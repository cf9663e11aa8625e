import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256Url } from '../../helpers/bytes.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { connect } from './recording-lab.js';
import { download, SPEAKS } from './sep-2631-lab.js';

const MIB = 1024 * 1024;
const BINARY = randomBytes(3 * MIB);

describe.each(['2025-11-25', '2026-07-28'])('files/authorizeDownload of a long resource, for %s', (version) => {
  let server: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    server = await RecordingUpstream.start({
      tools: [],
      methods: {
        'resources/read': ({ uri }) => {
          if (uri === 'docs://binary') return { contents: [{ uri, blob: BINARY.toString('base64') }] };
          return { contents: [{ uri, text: 'long '.repeat(MIB) }] };
        },
      },
    });
    const limits = { response: '1MiB', inlineResource: '256KiB' };
    wharf = await startWharf({
      servers: { docs: { url: server.url, transport: 'streamable-http' } },
      config: { limits },
    });
  });

  afterAll(async () => {
    await wharf?.stop();
    await server?.stop();
  });

  it('gives a file that is longer than limits.response', async () => {
    const client = await connect(wharf.mcp, version, SPEAKS);
    expect(sha256Url(await download(client, 'docs://binary'))).toBe(sha256Url(BINARY));
  });

  it('names the limit that a text passes, and does not say that there is nothing', async () => {
    const client = await connect(wharf.mcp, version, SPEAKS);
    const { error } = await client.request('files/authorizeDownload', { uri: 'docs://text' });
    expect(error?.message).toMatch(/larger than the .* allowed/);
    expect(error?.data).toMatchObject({ code: 'response_too_large', limit: 'limits.response' });
  });
});
