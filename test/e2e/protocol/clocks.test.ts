import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256 } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { blobDigest } from '../../helpers/fake-upstream-blob.js';
import { type Gateway, startGateway } from '../../helpers/gateway-process.js';
import { RawClient } from '../../helpers/raw-client.js';
import { freshName, redisUrl, s3Config } from '../../helpers/services.js';

const SIZE = 3_000_000;
const SKEWS = [0, 600_000, -600_000];

/** Moves every clock that a process reads the date from. */
const skewed = (ms: number) =>
  `data:text/javascript,${encodeURIComponent(`
    const { now } = Date;
    const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...args) { super(...(args.length === 0 ? [now() + ${ms}] : args)); }
      static now() { return now() + ${ms}; }
    };
  `)}`;

let fake: FakeUpstream;
const gateways: Gateway[] = [];

beforeAll(async () => {
  fake = await startFakeUpstream({ transport: 'json', session: true });
  const [bucket, keyPrefix] = [freshName('clocks'), `${freshName('clocks')}:`];
  for (const skew of SKEWS) {
    gateways.push(
      await startGateway({
        config: {
          servers: { fake: { url: fake.url, tools: { blob: { files: { mimeType: { encoding: 'base64' } } } } } },
          objects: { use: 's3', ...s3Config(bucket) },
          state: { use: 'redis', url: redisUrl(), keyPrefix },
          secret: 'the tests of this repository share this secret',
          // shorter than the clocks differ
          links: { style: 'presigned', ttl: '5m' },
        },
        env: { NODE_OPTIONS: `--import ${skewed(skew)}` },
      }),
    );
  }
});

afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  await fake?.close();
});

const at = (place: number): Gateway => gateways[place] as Gateway;
const PAIRS = SKEWS.flatMap((_, giver) => SKEWS.map((__, taker) => [giver, taker] as const));
const named = PAIRS.map(([giver, taker]) => [SKEWS[giver], SKEWS[taker], giver, taker] as const);

interface Offer {
  upload: { url: string; headers?: Record<string, string> };
}

describe('replicas whose clocks differ by ten minutes', () => {
  it.each(named)(
    'one at %i ms gives what one at %i ms takes: sessions, links and tickets (R15)',
    async (_, __, giver, taker) => {
      const client = await RawClient.connect(at(giver).mcp());
      const call = async (gateway: Gateway, name: string, args: object) => {
        const response = await fetch(gateway.mcp(), {
          method: 'POST',
          headers: { ...client.headers(), 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: args } }),
        });
        return ((await response.json()) as { result: Record<string, unknown> }).result;
      };
      const seed = 1 + giver * SKEWS.length + taker;
      const digest = blobDigest({ size: SIZE, seed, mimeType: 'image/png' });
      const read = async (url: string) => sha256(Buffer.from(await (await fetch(url)).arrayBuffer()));
      const result = await call(at(taker), 'blob', { size: SIZE, seed });
      const [file] = (result._meta as Record<string, { url: string }[]>)['dev.wharf/files'] ?? [];
      const own = /http\S+(\/d\/[\w-]+)/.exec(JSON.stringify(result.content))?.[1];
      const links = [file?.url ?? 'no link of the store', `${at(taker).url}${own}`, `${at(giver).url}${own}`];
      expect(await Promise.all(links.map(read))).toEqual(links.map(() => digest));
      const { structuredContent } = await call(at(giver), 'request_file_upload', { name: 'a.txt' });
      const { upload } = structuredContent as unknown as Offer;
      const form = new FormData();
      form.set('file', new Blob(['some text']), 'a.txt');
      const target = at(taker).url + new URL(upload.url).pathname;
      const stored = await fetch(target, {
        method: 'POST',
        body: form,
        ...(upload.headers && { headers: upload.headers }),
      });
      expect({ status: stored.status, text: await stored.text() }).toMatchObject({ status: 201 });
    },
  );
});
