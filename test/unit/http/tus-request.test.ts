import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../gateway/errors.js';
import { begunOn } from '../../../gateway/http/tus/begun.js';
import { announcedIn, checksumIn, methodOf, offsetIn } from '../../../gateway/http/tus/request.js';

const request = (headers: Record<string, string>, method = 'POST') =>
  ({ method, headers }) as unknown as IncomingMessage;
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');
const announced = (metadata: string) => announcedIn(request({ 'upload-length': '1', 'upload-metadata': metadata }));

describe('the declaration of an upload by tus', () => {
  it('names the file as any of its clients does, and says its type', () => {
    expect(announced(`name ${base64('b')},type ${base64('text/plain')}`)).toMatchObject({
      name: 'b',
      mimeType: 'text/plain',
    });
    expect(announced(`filename ${base64('a')},name ${base64('b')},filetype ${base64('image/png')}`)).toMatchObject({
      name: 'a',
      mimeType: 'image/png',
    });
    expect(announced('filename,other')).toMatchObject({ name: undefined, mimeType: undefined });
  });

  it.each([
    ['a name of 1025 characters', `filename ${base64('x'.repeat(1025))}`, 'longer than 1024 characters'],
    ['a name that is not UTF-8', `filename ${base64(Buffer.from([0xff, 0xfe]))}`, 'not UTF-8'],
    ['more than 4096 characters', `other ${'A'.repeat(4092)}`, 'longer than 4096 characters'],
    ['a key twice', 'a,b,a', 'each once'],
    ['what is not base64', 'filename a*b', 'values in base64'],
  ])('is refused with %s', (_what, metadata, words) => {
    expect(() => announced(metadata)).toThrow(words);
  });

  it('may hold names and metadata as long as that', () => {
    expect(announced(`filename ${base64('x'.repeat(1024))}`).name).toHaveLength(1024);
    expect(announced(`other ${'A'.repeat(4088)}`).metadata).toHaveLength(4094);
  });
});

describe('a request by tus', () => {
  it.each(['', '-1', '1.5', '0x10', '1e3', ' 1', '9'.repeat(31)])('has no offset that is written %j', (offset) => {
    expect(() => offsetIn(request({ 'upload-offset': offset }))).toThrow('Upload-Offset must be a number of bytes');
  });

  it('is the one that X-HTTP-Method-Override names', () => {
    expect(methodOf(request({ 'x-http-method-override': 'patch' }))).toBe('PATCH');
    expect(methodOf(request({}, 'HEAD'))).toBe('HEAD');
  });

  it.each(['md5 AAAA', 'sha1', 'sha1 not*base64', 'SHA1 AAAA', 'sha1  AAAA'])('has no checksum %j', (checksum) => {
    expect(() => checksumIn(request({ 'upload-checksum': checksum }))).toThrow('Upload-Checksum must name one of');
  });
});

describe('what its page knows of an upload', () => {
  const failing = (error: GatewayError) => begunOn({ find: () => Promise.reject(error) }, 'ticket');

  it('is nothing where none has begun', async () => {
    expect(await failing(new GatewayError('upload_unknown'))).toBeUndefined();
  });

  it('is not taken for nothing while the state store is away', async () => {
    await expect(failing(new GatewayError('state_unavailable'))).rejects.toMatchObject({ code: 'state_unavailable' });
  });
});
