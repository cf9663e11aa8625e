import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startFixtureServer } from '../../conformance/fixture-server.js';
import { sha256 } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { blobDigest } from '../../helpers/fake-upstream-blob.js';
import { RawClient } from '../../helpers/raw-client.js';
import { freshName } from '../../helpers/services.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const SIZE = 6_000_000;

let fake: FakeUpstream;
let one: Wharf;
let two: Wharf;

async function start(
  style: 'presigned' | 'gateway',
  bucket: string,
  keyPrefix: string,
  config: Record<string, unknown> = {},
): Promise<Wharf> {
  return startWharf({
    servers: { fake: { url: fake.url } },
    stores: 's3+redis',
    bucket,
    keyPrefix,
    config: { links: { style }, ...config },
  });
}

beforeAll(async () => {
  fake = await startFakeUpstream({ transport: 'json', session: true });
  const [bucket, prefix] = [freshName('replicas'), `${freshName('replicas')}:`];
  one = await start('gateway', bucket, prefix);
  two = await start('gateway', bucket, prefix);
});

afterAll(async () => {
  await Promise.all([one?.stop(), two?.stop()]);
  await fake?.close();
});

interface FileEntry {
  url: string;
  uri: string;
}

const filesOf = (result: Record<string, unknown> | undefined) =>
  ((result?._meta as Record<string, unknown> | undefined)?.['dev.wharf/files'] ?? []) as FileEntry[];

async function digestOf(response: Response): Promise<string> {
  return sha256(Buffer.from(await response.arrayBuffer()));
}

describe('two gateways that share Redis and S3', () => {
  it('continue each other’s sessions, and serve each other’s links (R4, R18)', async () => {
    const client = await RawClient.connect(one.mcp);
    const other = await fetch(two.mcp, {
      method: 'POST',
      headers: { ...client.headers(), 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 4,
        method: 'tools/call',
        params: { name: 'blob', arguments: { size: SIZE, seed: 2 } },
      }),
    });
    const [file] = filesOf(((await other.json()) as { result: Record<string, unknown> }).result);
    const ticket = new URL(file?.url ?? '').pathname;
    const redirect = await fetch(one.url + ticket, { redirect: 'manual' });
    expect(redirect.status).toBe(302);
    const bytes = await fetch(one.url + ticket);
    expect(bytes.headers.get('content-disposition')).toMatch(/^inline; filename="?blob-1\.png/);
    expect(await digestOf(bytes)).toBe(blobDigest({ size: SIZE, seed: 2, mimeType: 'image/png' }));
  });

  it('know what the other has made with a secret that is their second one', async () => {
    const secrets = ['the secret that is to be replaced by another', 'the secret that replaces the one before it'];
    const shared = ['gateway', freshName('secrets'), `${freshName('secrets')}:`] as const;
    const old = await start(...shared, { secret: secrets });
    const young = await start(...shared, { secret: secrets.toReversed() });
    try {
      for (const [maker, user] of [
        [old, young],
        [young, old],
      ] as const) {
        const client = await RawClient.connect(maker.mcp);
        const made = await client.request('tools/call', { name: 'blob', arguments: { size: SIZE, seed: 5 } });
        const [file] = filesOf(made.result);
        const { status } = await fetch(user.url + new URL(file?.url ?? '').pathname, { redirect: 'manual' });
        const other = await fetch(user.mcp, {
          method: 'POST',
          headers: { ...client.headers(), 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', id: 6, method: 'tools/list' }),
        });
        expect([status, other.status]).toEqual([302, 200]);
      }
    } finally {
      await Promise.all([old.stop(), young.stop()]);
    }
  });

  it('end each other’s sessions', async () => {
    const client = await RawClient.connect(one.mcp);
    expect(await client.delete()).toBeLessThan(300);
    const other = await fetch(two.mcp, {
      method: 'POST',
      headers: { ...client.headers(), 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":4,"method":"ping"}',
    });
    expect(other.status).toBe(404);
  });

  it('keep the same bytes of one principal once', async () => {
    const [a, b] = await Promise.all([RawClient.connect(one.mcp), RawClient.connect(two.mcp)]);
    const first = filesOf((await a.call('blob', { size: SIZE, seed: 40 })).result)[0];
    const second = filesOf((await b.call('blob', { size: SIZE, seed: 40 })).result)[0];
    expect(second?.uri).toBe(first?.uri);
    expect(second?.url).not.toBe(first?.url);
  });
});

describe('a presigned link', () => {
  let wharf: Wharf;
  beforeAll(async () => {
    wharf = await start('presigned', freshName('presigned'), `${freshName('presigned')}:`);
  });
  afterAll(() => wharf?.stop());

  it('is the store’s own URL, and says name and type', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const [file] = filesOf(
      (await client.call('blob', { size: SIZE, seed: 9, type: 'resource', mimeType: 'application/pdf' })).result,
    );
    expect(new URL(file?.url ?? '').origin).toBe(process.env.WHARF_TEST_S3_ENDPOINT);
    const response = await fetch(file?.url ?? '');
    expect(response.headers.get('content-disposition')).toMatch(/^inline; filename=/);
    expect(response.headers.get('content-type')).toBe('application/pdf');
    expect(await digestOf(response)).toBe(blobDigest({ size: SIZE, seed: 9, mimeType: 'application/pdf' }));
    expect(wharf.logged()).not.toContain('X-Amz-Signature');
  });

  it('does not work with anything changed', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const [file] = filesOf((await client.call('blob', { size: SIZE, seed: 10 })).result);
    for (const [key, value] of [
      ['X-Amz-Expires', '604800'],
      ['response-content-type', 'text/html'],
      ['X-Amz-Signature', 'f'.repeat(64)],
    ]) {
      const url = new URL(file?.url ?? '');
      url.searchParams.set(key as string, value as string);
      expect([key, (await fetch(url)).status]).toEqual([key, 403]);
    }
  });
});

describe('a stream of a server that keeps its events', () => {
  it('is resumed at the other gateway, with the same ids, when the first one is gone (R19)', async () => {
    const fixtures = await startFixtureServer('http');
    const [bucket, prefix] = [freshName('resumed'), `${freshName('resumed')}:`];
    const open = () =>
      startWharf({ servers: { fixtures: { url: fixtures.url } }, stores: 's3+redis', bucket, keyPrefix: prefix });
    const [first, second] = [await open(), await open()];
    try {
      const client = await RawClient.connect(first.mcp, '2025-11-25');
      const params = { name: 'test_reconnection', arguments: {} };
      const begun = await fetch(first.mcp, {
        method: 'POST',
        headers: { ...client.headers(), 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 31, method: 'tools/call', params }),
      });
      const [lastId] = [...(await begun.text()).matchAll(/^id: ?(.+)$/gm)].map(([, id]) => id).reverse();
      await first.stop();
      const rest = await fetch(second.mcp, {
        headers: { ...client.headers(), accept: 'text/event-stream', 'last-event-id': String(lastId) },
        signal: AbortSignal.timeout(60_000),
      });
      expect(rest.status).toBe(200);
      const replayed = await untilText(rest, '"id":31');
      expect(replayed).toContain('Answered after the stream was closed');
      expect(replayed.match(/"id":31/g)).toHaveLength(1);
      expect(replayed).toMatch(/^id: ?.+$/m);
    } finally {
      await second.stop();
      await fixtures.stop();
    }
  });
});

/** What a stream says until it has said `wanted`; the GET stream itself stays open. */
async function untilText({ body }: Response, wanted: string): Promise<string> {
  let text = '';
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    if (text.includes(wanted)) break;
  }
  return text;
}
