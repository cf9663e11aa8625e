import { describe, expect, it } from '@jest/globals';
import { openStore } from '../../contract/objects/s3-buckets.js';
import { sha256 } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { freshName } from '../../helpers/services.js';
import { startWharf } from '../../helpers/wharf.js';
import { announced } from './handoff-lab.js';

/** What two gateways read of one server: each read is answered when the test says so. */
async function startServer(size: number) {
  const given: ((text: string) => void)[] = [];
  let bothAsked = (): void => {};
  const asked = new Promise<void>((resolve) => {
    bothAsked = resolve;
  });
  const upstream = await RecordingUpstream.start({
    tools: [
      { name: 'link', inputSchema: { type: 'object' } },
      { name: 'read', inputSchema: { type: 'object', properties: { file: { type: 'string' } } } },
    ],
    methods: {
      'tools/call': ({ name }) =>
        name === 'link' ? { content: [{ type: 'resource_link', uri: 'doc://r/it', name: 'it.txt' }] } : { content: [] },
      'resources/read': async ({ uri }) => {
        const text = await new Promise<string>((give) => {
          if (given.push(give) === 2) bothAsked();
        });
        return { contents: [{ uri, mimeType: 'text/plain', blob: Buffer.alloc(size, text).toString('base64') }] };
      },
    },
  });
  return { upstream, given, asked };
}

describe('two gateways that read the same resource first at one time (HO-05)', () => {
  it.each([
    ['read whole', 100],
    ['cut out of the answer', 5_000_000],
  ])('keep one file, though the server gives each something else: %s', async (_what, size) => {
    const { upstream, given, asked } = await startServer(size);
    const [bucket, keyPrefix] = [freshName('lazy'), `${freshName('lazy')}:`];
    const store = await openStore(bucket);
    await store.prepare();
    const tools = { read: { files: { file: { encoding: 'base64' } } } };
    const servers = { s: { url: upstream.url, transport: 'streamable-http', accepts: '10MiB', tools } };
    const gateways = await Promise.all(
      [1, 2].map(() => startWharf({ servers, stores: 's3+redis', bucket, keyPrefix })),
    );
    const clients = await Promise.all(gateways.map(({ mcp }) => RawClient.connect(mcp, '2025-06-18')));
    const { uri } = announced((await clients[0]?.call('link'))?.result);
    const answers = clients.map((client) => client.call('read', { file: uri }));
    await asked;
    given[0]?.('one');
    await Promise.race(answers);
    given[1]?.('two');
    for (const { result } of await Promise.all(answers)) expect(result).not.toHaveProperty('isError');

    const handed = upstream
      .with('tools/call')
      .flatMap(({ params }) => (params.arguments as { file?: string } | undefined)?.file ?? []);
    const one = sha256(Buffer.alloc(size, 'one'));
    expect(handed.map((text) => sha256(Buffer.from(text, 'base64')))).toEqual([one, one]);
    const keys: string[] = [];
    for await (const { key } of store.list('')) keys.push(key);
    expect(keys).toHaveLength(1);

    await store.close();
    for (const gateway of gateways) await gateway.stop();
    await upstream.stop();
  });
});
