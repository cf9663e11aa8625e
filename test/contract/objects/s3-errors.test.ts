import { ListPartsCommand, S3Client } from '@aws-sdk/client-s3';
import { describe, expect, it } from '@jest/globals';
import type { Connection } from '../../../adapters/objects/s3/connection.js';
import { isMissing, nameRequests, toStoreError } from '../../../adapters/objects/s3/errors.js';
import { S3Writer } from '../../../adapters/objects/s3/writer.js';

const sdkError = (name: string, status?: number, extra: object = {}) =>
  Object.assign(new Error('said the SDK'), {
    name,
    ...(status === undefined ? {} : { $metadata: { httpStatusCode: status } }),
    ...extra,
  });

describe('s3 errors', () => {
  it.each([
    ['a request that got no answer', sdkError('TimeoutError', undefined, { code: 'ETIMEDOUT' }), 'store_timeout'],
    ['a connection that was not made in time', sdkError('TimeoutError'), 'store_timeout'],
    [
      'a reset, which the SDK calls a time-out',
      sdkError('TimeoutError', undefined, { code: 'ECONNRESET' }),
      'store_unavailable',
    ],
    ['a broken pipe, likewise', sdkError('TimeoutError', undefined, { code: 'EPIPE' }), 'store_unavailable'],
    ['a refused connection', sdkError('Error', undefined, { code: 'ECONNREFUSED' }), 'store_unavailable'],
    ['a full disk', sdkError('XMinioStorageFull', 507), 'store_full'],
    ['any 507', sdkError('Unknown', 507), 'store_full'],
    ['a used up quota', sdkError('QuotaExceeded', 403), 'store_full'],
    ['a refusal', sdkError('AccessDenied', 403), 'store_unavailable'],
    ['a store that is overrun', sdkError('SlowDown', 503), 'store_unavailable'],
    ['something that is no error', 'what?', 'store_unavailable'],
  ])('tell %s for what it is', (_, error, code) => {
    expect(toStoreError(error, 30_000).code).toBe(code);
  });

  it('have a cause that says what the SDK said, but not what the store quoted', () => {
    const quoted = { StringToSign: 'AWS4…', SignatureProvided: 'abc', $response: { headers: {} } };
    const { cause } = toStoreError(sdkError('SignatureDoesNotMatch', 403, quoted), 30_000);
    expect(cause).toMatchObject({
      name: 'SignatureDoesNotMatch',
      message: 'said the SDK',
      $metadata: { httpStatusCode: 403 },
    });
    expect(Reflect.ownKeys(cause as object).sort()).toEqual(['$metadata', 'message', 'name', 'stack']);
  });

  it('name the request where the store said nothing else: it shows which right is missing', async () => {
    const client = new S3Client({ region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
    nameRequests(client);
    const silent = sdkError('AccessDenied', 403, { message: 'UnknownError' });
    client.middlewareStack.add(() => () => Promise.reject(silent), { step: 'build' });
    const command = new ListPartsCommand({ Bucket: 'b', Key: 'k', UploadId: 'u' });
    const error = await client.send(command).catch((thrown: unknown) => thrown);
    expect(toStoreError(error, 30_000).cause).toMatchObject({ message: 'HTTP 403 to ListParts' });
  });

  it('name the request that a store does not know, because its own words do not', async () => {
    const client = new S3Client({ region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
    nameRequests(client);
    const unknown = sdkError('NotImplemented', 501, { message: 'A parameter implies what is not implemented.' });
    client.middlewareStack.add(() => () => Promise.reject(unknown), { step: 'build' });
    const command = new ListPartsCommand({ Bucket: 'b', Key: 'k', UploadId: 'u' });
    const error = await client.send(command).catch((thrown: unknown) => thrown);
    expect(toStoreError(error, 30_000).cause).toMatchObject({
      message: 'HTTP 501 to ListParts. A parameter implies what is not implemented.',
    });
  });

  it('have the status as their cause where the store said nothing else, as to a HEAD', () => {
    const silent = sdkError('Unknown', 403, { message: 'UnknownError' });
    expect(toStoreError(silent, 30_000).cause).toMatchObject({ message: 'HTTP 403' });
  });
});

describe('an answer that the SDK cannot read, such as the page of a proxy', () => {
  const unread = (statusCode: number) =>
    sdkError('Error', undefined, {
      message:
        '@aws-sdk XML parse error: mismatched tags <hr> and </body>.\n  Deserialization error: to see the raw response, inspect the hidden field',
      $response: { statusCode, headers: {} },
    });

  it('is told by its status, and is never taken for a missing file', () => {
    const { code, cause } = toStoreError(unread(404), 30_000);
    expect(code).toBe('store_unavailable');
    expect(cause).toMatchObject({ message: 'HTTP 404, with a text that is not one of S3.' });
    expect(isMissing(unread(404))).toBe(false);
  });

  it('has advice of its own where a proxy takes no body as long as a part', () => {
    expect(toStoreError(unread(413), 30_000).cause).toMatchObject({
      todo: expect.stringContaining('client_max_body_size'),
    });
  });
});

describe('an s3 error says to clients whether time helps, and to operators what does', () => {
  it.each([
    ['InvalidAccessKeyId', 403, true, /access key/],
    ['SignatureDoesNotMatch', 403, true, /objects\.secretAccessKey/],
    ['CredentialsProviderError', undefined, true, /no credentials/],
    ['AccessDenied', 403, true, undefined],
    ['ExpiredToken', 400, true, /expired/],
    ['RequestTimeTooSkewed', 403, true, /clocks/],
    ['NoSuchBucket', 404, true, /bucket is gone/],
    ['NotFound', 404, true, /no bucket/],
    ['NotImplemented', 501, true, /does not know a request/],
    ['MethodNotAllowed', 405, true, /does not know a request/],
    ['Unknown', 403, true, undefined],
    ['SlowDown', 503, undefined, /an error of its own/],
    ['RequestTimeout', 400, undefined, undefined],
    ['Error', undefined, undefined, undefined],
  ])('%s, HTTP %s', (name, status, refused, todo) => {
    const { facts, cause } = toStoreError(sdkError(name, status), 30_000);
    expect(facts.refused).toBe(refused);
    const { todo: said } = cause as { todo?: string };
    if (todo === undefined) expect(said).toBeUndefined();
    else expect(said).toMatch(todo);
  });
});

describe('s3 writer', () => {
  it('refuses the part after the ten-thousandth, naming limit and size', async () => {
    class Command {}
    const connection = {
      sdk: { CreateMultipartUploadCommand: Command, UploadPartCommand: Command },
      client: {},
      bucket: 'b',
      run: async () => ({ UploadId: 'u', ETag: 'e' }),
    } as unknown as Connection;
    const writer = new S3Writer(connection, { key: 'f/x', partSize: 4 }, new AbortController().signal);
    for (let n = 0; n < 10_000; n += 1) await writer.write(Buffer.alloc(4));
    await expect(writer.writeLast(Buffer.alloc(3))).rejects.toMatchObject({
      code: 'store_object_too_large',
      facts: { limit: '10000 parts of 4 bytes', allowed: 40_000, actual: 40_003 },
    });
  });
});
