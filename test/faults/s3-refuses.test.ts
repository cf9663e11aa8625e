import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { plainClient } from '../contract/objects/s3-buckets.js';
import { expectNothingLeft, expectWorking } from '../helpers/fault-checks.js';
import { type RefusingS3, startRefusingS3 } from '../helpers/fault-s3.js';
import { type FaultStores, s3Stores } from '../helpers/fault-stores.js';
import { type FaultUpstream, startFaultUpstream } from '../helpers/fault-upstream.js';
import { RawClient } from '../helpers/raw-client.js';
import { s3Config } from '../helpers/services.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

/** Two parts, and less than one. */
const LARGE = 9_000_000;
const SMALL = 600_000;

const STEPS: [string, RegExp, number][] = [
  ['PutObject', /^PUT [^?]+\?x-id=PutObject/, SMALL],
  ['CreateMultipartUpload', /^POST \S+\?uploads/, LARGE],
  ['UploadPart', /^PUT \S+partNumber=2/, LARGE],
  ['CompleteMultipartUpload', /^POST \S+\?uploadId=/, LARGE],
];

const ANSWERS: [number, string, string][] = [
  [403, 'AccessDenied', 'store_unavailable'],
  [500, 'InternalError', 'store_unavailable'],
  [503, 'SlowDown', 'store_unavailable'],
  [507, 'InsufficientStorage', 'store_full'],
];

describe('an S3 that refuses', () => {
  let upstream: FaultUpstream;
  let s3: RefusingS3;
  let stores: FaultStores;
  let wharf: Wharf;
  let kept = 0;

  beforeAll(async () => {
    upstream = await startFaultUpstream('json');
    s3 = await startRefusingS3(s3Config('').endpoint);
    stores = s3Stores(s3.url);
    // a tool that takes a file, so that callers are offered to upload one
    const tools = { progress: { files: { file: { encoding: 'base64' } } } };
    wharf = await startWharf({ servers: { sound: { ...upstream.server, tools } }, config: stores.config });
  });
  afterEach(() => s3.refuse(undefined));
  afterAll(async () => {
    await wharf?.stop();
    await upstream.close();
    await s3.close();
    await stores.close();
  });

  describe.each(STEPS)('%s', (_step, what, size) => {
    it.each(ANSWERS)('with %i %s: an error says so, and nothing stays (R2)', async (status, code, expected) => {
      const client = await RawClient.connect(wharf.mcp);
      s3.refuse({ what, status, code });
      const { error } = await client.call('blob', { size, seed: status });
      expect(s3.refused).toBeGreaterThan(0);
      expect(error).toMatchObject({ code: -32603, data: { code: expected } });
      expect(error?.message).toMatch(/^The object store is /);
      s3.refuse(undefined);
      await expectNothingLeft(wharf.adminUrl, stores, { kept });
      await expectWorking(wharf.mcp);
      // the same file each time, so it is kept once
      kept = 1;
    });
  });

  it('GetObject, with an error under status 200: its text is not taken for the file', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const { result } = await client.call('request_file_upload', {});
    const offer = result?.structuredContent as { file: { uri: string }; page: string };
    const { file, page } = offer;
    const text = 'the text of a file, which a client reads';
    await fetch(page, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: text });
    s3.refuse({ what: /^GET \S+x-id=GetObject/, status: 200, code: 'InternalError' });
    const { error } = await client.request('resources/read', { uri: file.uri });
    expect(s3.refused).toBeGreaterThan(0);
    expect(error).toMatchObject({ data: { code: 'store_unavailable' } });
    s3.refuse(undefined);
    const again = await client.request('resources/read', { uri: file.uri });
    expect(again.result).toMatchObject({ contents: [{ text }] });
  });

  it('nothing, but holds other bytes of the same length: no server gets them', async () => {
    const tools = { progress: { files: { file: { encoding: 'base64' } } } };
    const sound = { ...upstream.server, tools, limits: { inlineImage: '1kB' } };
    const apart = await startWharf({ servers: { sound }, config: stores.config });
    const client = await RawClient.connect(apart.mcp);
    const before = await stores.objects();
    const { result } = await client.call('blob', { size: 40_000 });
    const meta = result?._meta as Record<string, { uri: string }[]> | undefined;
    const file = meta?.['dev.wharf/files']?.[0]?.uri;
    const [Key] = (await stores.objects()).filter((key) => !before.includes(key));
    const { bucket: Bucket } = stores.config.objects as { bucket: string };
    const beside = plainClient(Bucket);
    await beside.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(40_000) }));
    beside.destroy();
    const told = await client.call('progress', { file });
    expect(told.result).toMatchObject({ isError: true, _meta: { 'dev.wharf/fileError': { reason: 'fileExpired' } } });
    expect(JSON.stringify(told.result)).toContain('a handle whose file is no longer stored');
    expect(apart.logged()).toContain('has other bytes than were stored');
    await apart.stop();
  });

  it('the keys: a client hears that time does not help, and the operator why', async () => {
    const client = await RawClient.connect(wharf.mcp);
    s3.refuse({ what: /./, status: 403, code: 'InvalidAccessKeyId' });
    const { error } = await client.call('blob', { size: 600_000 });
    const answer = (await (await fetch(`${wharf.adminUrl}/readyz`)).json()) as { parts: Record<string, string> };
    s3.refuse(undefined);
    expect(error).toMatchObject({ data: { code: 'store_unavailable', refused: true } });
    expect(error?.message).toMatch(/it refuses Wharf\. Trying again does not help/);
    expect(JSON.stringify(error)).not.toContain('InvalidAccessKeyId');
    expect(answer.parts.objects).toMatch(
      /^The object store .* refuses Wharf \(InvalidAccessKeyId\)\. The store does not know/,
    );
  });

  it('HeadBucket: the gateway is not ready as long as it does', async () => {
    s3.refuse({ what: /^(HEAD|GET) /, status: 403, code: 'AccessDenied' });
    const refused = await fetch(`${wharf.adminUrl}/readyz`);
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ status: 'unavailable', parts: { state: 'ok' } });
    s3.refuse(undefined);
    expect((await fetch(`${wharf.adminUrl}/readyz`)).status).toBe(200);
  });
});
