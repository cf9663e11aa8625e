import { createServer, type IncomingMessage, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import * as sdk from '@aws-sdk/client-s3';
import * as presigner from '@aws-sdk/s3-request-presigner';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import * as signature from '@smithy/signature-v4';
import { connectionLimits, makeClient } from '../../../adapters/objects/s3/connection.js';
import { SignedRequests } from '../../../adapters/objects/s3/signed.js';
import type { ObjectStore } from '../../../gateway/ports/object-store.js';
import { sha256 } from '../../helpers/bytes.js';
import { close, listen } from '../../helpers/loopback.js';
import { s3Config } from '../../helpers/services.js';
import { fetchBytes } from '../object-store.contract.js';
import { freshBucket, openStore } from './s3-buckets.js';

const NEVER = new AbortController().signal;
const MODULES = { client: sdk, presigner, signature };
const KEYS = { accessKeyId: 'key', secretAccessKey: 'secret' };
const LIMITS = connectionLimits(5000);
const LINK = { ttlSeconds: 60, contentType: 'image/png', contentDisposition: `inline; filename="a (b)'*!.png"` };

/** An address of its own for everything that is sent to it, and the answers it gives, in turn; the last one stays. */
async function recorder() {
  const seen: { method: string; url: string; headers: IncomingMessage['headers']; bytes: Buffer }[] = [];
  const answers = [200];
  const server: Server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    seen.push({ method, url, headers, bytes: await buffer(request) });
    const status = (answers.length > 1 ? answers.shift() : answers[0]) ?? 200;
    response.writeHead(status, { etag: '"1"', 'content-length': 0 }).end();
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  return { seen, answers, url, close: () => close(server) };
}

const clients: { destroy(): void }[] = [];

/** As the store signs, without its bucket. */
function signing(config: sdk.S3ClientConfig = {}, bucket = 'bucket') {
  const client = new sdk.S3Client({
    region: 'eu-west-1',
    credentials: KEYS,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...config,
  });
  const requests = new SignedRequests(MODULES, client, bucket, LIMITS);
  clients.push(client, { destroy: () => requests.close() });
  return { client, requests };
}

const put = (requests: SignedRequests, key = 'f/x') =>
  requests.send({ method: 'PUT', key, body: Buffer.from('bytes') }, NEVER);

describe('requests that Wharf signs itself', () => {
  let endpoint: Awaited<ReturnType<typeof recorder>>;

  beforeAll(async () => {
    endpoint = await recorder();
  });
  afterEach(() => {
    endpoint.seen.length = 0;
    endpoint.answers.splice(0, Infinity, 200);
    for (const client of clients.splice(0)) client.destroy();
  });
  afterAll(() => endpoint.close());

  it('are accepted by a real store: objects, parts, ranges and facts', async () => {
    const { bucket, objects } = await freshBucket('own-signature');
    const client = makeClient(sdk, { ...s3Config(bucket), signPayload: false }, 5000);
    const requests = new SignedRequests(MODULES, client, bucket, LIMITS);
    clients.push(client, { destroy: () => requests.close() });
    const bytes = Buffer.from('0123456789');
    for (const hash of [undefined, sha256(bytes)]) {
      const answer = await requests.send({ method: 'PUT', key: 'f/x', body: bytes, sha256: hash }, NEVER);
      expect(answer?.header('etag')).toMatch(/^"[0-9a-f]{32}"$/);
    }
    const range = await requests.send({ method: 'GET', key: 'f/x', headers: { range: 'bytes=2-4' } }, NEVER);
    expect(range && (await buffer(range.body)).toString()).toBe('234');
    const facts = await requests.send({ method: 'HEAD', key: 'f/x' }, NEVER);
    expect(facts?.header('content-length')).toBe('10');
    expect(
      await requests.send({ method: 'PUT', key: 'f/x', body: bytes, sha256: sha256('other') }, NEVER),
    ).toBeUndefined();
    expect((await fetchBytes(objects, 'f/x')).toString()).toBe('0123456789');
    await objects.close();
  });

  it.each<[string, sdk.S3ClientConfig]>([
    ['AWS', {}],
    ['AWS, dual stack', { useDualstackEndpoint: true }],
    ['a store with the bucket in its path', { endpoint: 'http://s3:9000', forcePathStyle: true }],
    ['a store below a path', { endpoint: 'https://files.example.com/s3', forcePathStyle: true }],
    ['a store with the bucket in its host name', { endpoint: 'https://s3.example.com' }],
  ])('go where the client’s go: %s', async (_, config) => {
    const { client, requests } = signing(config);
    const command = new sdk.GetObjectCommand({
      Bucket: 'bucket',
      Key: 'pre/f_1',
      ResponseContentType: LINK.contentType,
      ResponseContentDisposition: LINK.contentDisposition,
    });
    const theirs = new URL(await presigner.getSignedUrl(client, command, { expiresIn: LINK.ttlSeconds }));
    const ours = new URL(await requests.link('pre/f_1', LINK));
    expect(ours.origin + ours.pathname).toBe(theirs.origin + theirs.pathname);
    for (const url of [ours, theirs]) {
      for (const name of ['X-Amz-Date', 'X-Amz-Signature', 'x-id']) url.searchParams.delete(name);
      url.searchParams.sort();
    }
    expect(ours.search).toBe(theirs.search);
  });

  it('carry the session token, and change with the credentials', async () => {
    let turn = 0;
    const credentials = async () => {
      turn += 1;
      return { accessKeyId: `key${turn}`, secretAccessKey: 's', sessionToken: `token${turn}`, expiration: new Date(0) };
    };
    const { requests } = signing({ endpoint: endpoint.url, forcePathStyle: true, credentials });
    await put(requests);
    await put(requests);
    const used = endpoint.seen.map(({ headers }) => [
      /Credential=(\w+)\//.exec(headers.authorization ?? '')?.[1]?.slice(3),
      String(headers['x-amz-security-token']).slice(5),
    ]);
    for (const [key, token] of used) expect(token).toBe(key);
    expect(used[0]).not.toEqual(used[1]);
  });

  it('follow the store’s clock once the client knows it', async () => {
    const { client, requests } = signing({ endpoint: endpoint.url, forcePathStyle: true });
    client.config.systemClockOffset = Date.UTC(2040, 0, 1) - Date.now();
    await put(requests);
    expect(endpoint.seen[0]?.headers['x-amz-date']).toMatch(/^20400101T/);
    expect(await requests.link('f/x', LINK)).toContain('X-Amz-Date=20400101T');
  });

  it('are left to the client when the store refuses or cannot be reached', async () => {
    const { requests } = signing({ endpoint: endpoint.url, forcePathStyle: true });
    endpoint.answers.splice(0, 1, 503, 301, 403, 200);
    for (let n = 0; n < 3; n += 1) expect(await put(requests)).toBeUndefined();
    expect(await put(requests)).toBeDefined();
    expect(await put(signing({ endpoint: 'http://127.0.0.1:1', forcePathStyle: true }).requests)).toBeUndefined();
  });

  it('are left to the client where a signature is not enough, as in S3 Express', async () => {
    const { requests } = signing({ endpoint: endpoint.url }, 'bucket--euw1-az1--x-s3');
    expect(await put(requests)).toBeUndefined();
  });

  it('are not sent once they are closed, even when that was before the first', async () => {
    const { requests } = signing({ endpoint: endpoint.url, forcePathStyle: true });
    requests.close();
    expect(await put(requests)).toBeUndefined();
    expect(endpoint.seen).toEqual([]);
  });

  it('find credentials that come later', async () => {
    let isThere = false;
    const credentials = async () => {
      if (!isThere) throw new Error('no credentials yet');
      return { ...KEYS, expiration: new Date(0) };
    };
    const { requests } = signing({ endpoint: endpoint.url, forcePathStyle: true, credentials });
    expect(await put(requests)).toBeUndefined();
    isThere = true;
    expect(await put(requests)).toBeDefined();
  });

  describe('by a store with signPayload', () => {
    let objects: ObjectStore;

    beforeAll(async () => {
      objects = await openStore('bucket', { endpoint: endpoint.url, signPayload: true });
    });
    afterAll(() => objects.close());

    it('name the digest that is known, and hash the bytes only where none is', async () => {
      const bytes = Buffer.from('some bytes');
      const known = sha256('other bytes');
      const writer = await objects.create('f/x', NEVER);
      await writer.writeLast(bytes, Buffer.from(known, 'hex').toString('base64url'));
      await writer.writeLast(bytes);
      expect(endpoint.seen.map(({ headers }) => headers['x-amz-content-sha256'])).toEqual([known, sha256(bytes)]);
    });
  });
});
