import * as sdk from '@aws-sdk/client-s3';
import { describe, expect, it } from '@jest/globals';
import { SignatureV4 } from '@smithy/signature-v4';
import { makeClient } from '../../../adapters/objects/s3-connection.js';
import { escaped, Signer, type Unsigned } from '../../../adapters/objects/s3-signature.js';

const AT = new Date('2026-03-04T05:06:07.089Z');
const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const UNSIGNED = 'UNSIGNED-PAYLOAD';

const GET: Unsigned = {
  method: 'GET',
  path: '/bucket/f/f_abc',
  query: { 'x-id': 'GetObject' },
  headers: { host: 's3.example.com' },
  sha256: UNSIGNED,
};

/** The headers that the SDK's own signer makes. */
async function theirs({ sha256, ...request }: Unsigned, keys: typeof KEYS, at = AT): Promise<Record<string, string>> {
  const { config } = makeClient(sdk, { region: 'eu-west-1', ...keys, signPayload: false }, 1000);
  const signer = new SignatureV4({
    credentials: keys,
    region: 'eu-west-1',
    service: 's3',
    sha256: config.sha256,
    uriEscapePath: false,
  });
  const { host: hostname = '' } = request.headers;
  const plain = {
    ...request,
    protocol: 'https:',
    hostname,
    headers: { ...request.headers, 'x-amz-content-sha256': sha256 },
  };
  const signed: unknown = await signer.sign({ ...plain, query: { ...request.query } } as never, { signingDate: at });
  return (signed as { headers: Record<string, string> }).headers;
}

describe('a signature', () => {
  it.each<[string, Partial<Unsigned>, object]>([
    ['a read', {}, {}],
    ['a part of a read', { headers: { host: 's3.example.com', range: 'bytes=0-99' } }, {}],
    ['a look', { method: 'HEAD', query: {} }, {}],
    [
      'an object',
      {
        method: 'PUT',
        query: { 'x-id': 'PutObject' },
        headers: { 'content-type': 'application/octet-stream', 'content-length': '5', host: '127.0.0.1:9000' },
        sha256: 'a'.repeat(64),
      },
      {},
    ],
    [
      'a part of an upload',
      { method: 'PUT', query: { uploadId: "2~a/b+c=(d)*'!", partNumber: '7', 'x-id': 'UploadPart' } },
      {},
    ],
    ['a path with escapes', { path: '/a%20bucket/pre.fix/f_x' }, {}],
    ['keys for a while', {}, { sessionToken: 'to/ken+==' }],
  ])('is the one that the SDK makes: %s', async (_what, more, keys) => {
    const request = { ...GET, ...more };
    const own = new Signer('eu-west-1', 's3').sign(request, { ...KEYS, ...keys }, AT);
    expect(own.headers).toEqual(await theirs(request, { ...KEYS, ...keys }));
    const search = Object.entries(request.query).map(([name, value]) => `${escaped(name)}=${escaped(value)}`);
    expect(own.target.split('?')[1]?.split('&').sort() ?? []).toEqual(search.sort());
  });

  it('follows the day and the secret, whatever it was made of before', async () => {
    const signer = new Signer('eu-west-1', 's3');
    const other = { ...KEYS, secretAccessKey: 'another secret' };
    const tomorrow = new Date(AT.getTime() + 24 * 3600 * 1000);
    for (const [keys, at] of [
      [KEYS, AT],
      [other, AT],
      [other, tomorrow],
      [KEYS, AT],
    ] as const) {
      expect(signer.sign(GET, keys, at).headers).toEqual(await theirs(GET, keys, at));
    }
  });
});
