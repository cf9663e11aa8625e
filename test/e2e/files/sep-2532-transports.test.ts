import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256 } from '../../helpers/bytes.js';
import { type ServedUpstream, serve, TRANSPORTS } from '../../helpers/cut-upstreams.js';
import { blobDigest } from '../../helpers/fake-upstream-blob.js';
import { type FaultStores, filesystemStores, s3Stores } from '../../helpers/fault-stores.js';
import { RawClient } from '../../helpers/raw-client.js';
import { STORES, startWharf, type Wharf } from '../../helpers/wharf.js';
import { bytesOf, errorOf, JSON_ONLY, resultOf, STATELESS, stream } from './sep-2532-lab.js';

const DECLARED = { capabilities: { resourceStreaming: {} } };

/** Above what is held, and below it. */
const SIZES = [12_000_000, 3000];
const uriOf = (size: number) => `blob://${size}?seed=9`;
const digestOf = (size: number) => blobDigest({ size, seed: 9, mimeType: 'image/png' });

describe.each(STORES)('resources/stream with %s', (kind) => {
  describe.each(TRANSPORTS)('in front of a server over %s', (transport) => {
    let upstream: ServedUpstream;
    let stores: FaultStores;
    let wharf: Wharf;
    let client: RawClient;

    beforeAll(async () => {
      upstream = await serve(transport);
      stores = kind === 's3+redis' ? s3Stores() : await filesystemStores();
      wharf = await startWharf({ servers: { fake: upstream.server }, config: stores.config });
      client = await RawClient.connect(wharf.mcp, '2025-11-25', DECLARED);
    });
    afterAll(async () => {
      await wharf?.stop();
      await upstream?.close();
      await stores?.close();
    });

    it.each(SIZES)('%d bytes arrive as they are, and nothing of them stays (2532-60)', async (size) => {
      const before = await stores.objects();
      const response = await stream(client, uriOf(size));
      expect(response.headers.get('content-type')).toBe('image/png');
      expect(response.headers.get('content-length')).toBe(String(size));
      expect(response.headers.get('mcp-resource-uri')).toBe(uriOf(size));
      expect(sha256(await bytesOf(response))).toBe(digestOf(size));
      const until = Date.now() + 30_000;
      const added = async () => (await stores.objects()).filter((key) => !before.includes(key));
      while ((await added()).length > 0 && Date.now() < until) await new Promise((go) => setTimeout(go, 20));
      expect(await added()).toEqual([]);
    });

    it('a link gives the same, and tells nothing to others (2532-29, 2532-34, 2532-54, 2532-55)', async () => {
      const links: string[] = [];
      for (const size of SIZES) {
        const { answer, result } = await client.request('resources/stream', { uri: uriOf(size) });
        expect(answer.headers.get('content-type')).toBe('application/json');
        expect(result).toEqual({
          uri: uriOf(size),
          mimeType: 'image/png',
          size,
          downloadUrl: expect.stringMatching(/^https?:/),
        });
        const url = String(result?.downloadUrl);
        const response = await fetch(url);
        expect(response.headers.get('content-type')).toBe('image/png');
        expect(response.headers.get('content-length')).toBe(String(size));
        expect(response.headers.get('content-disposition')).toMatch(/^inline; filename=/);
        expect(sha256(await bytesOf(response))).toBe(digestOf(size));
        for (const secret of ['anonymous', 'fake', 'seed', String(size)])
          expect(new URL(url).pathname).not.toContain(secret);
        links.push(url);
      }
      expect(links[0]).not.toBe(links[1]);
    });

    it('a 2026-07-28 client gets the bytes', async () => {
      const stateless = RawClient.stateless(wharf.mcp, STATELESS, DECLARED);
      expect(sha256(await bytesOf(await stream(stateless, uriOf(3000))))).toBe(digestOf(3000));
      const result = await resultOf(await stream(stateless, uriOf(3000), JSON_ONLY));
      expect(result).toMatchObject({ resultType: 'complete', size: 3000 });
    });

    it('the limit of the client holds (2532-05)', async () => {
      const small = await RawClient.connect(wharf.mcp, '2025-11-25', {
        capabilities: { resourceStreaming: { maxStreamSize: 2999 } },
      });
      for (const size of SIZES) {
        expect(await errorOf(await stream(small, uriOf(size)))).toMatchObject({
          code: -32004,
          data: { maxStreamSize: 2999 },
        });
      }
    });
  });
});
