import { describe, expect, it } from '@jest/globals';
import { readArgument } from '../../../adapters/dialects/openai-file-params/argument.js';
import { streaming } from '../../../adapters/dialects/sep-2532/streaming.js';
import { methods } from '../../../adapters/dialects/sep-2631/methods.js';
import { transfer } from '../../../adapters/dialects/sep-2631/transfer.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject } from '../../../gateway/ports/json.js';

const client = (protocolVersion: string): ClientFacts => ({ protocolVersion, capabilities: {} });
const URL_OF_FILE = 'https://files.example/1';

describe('a download that a server of SEP-2631 describes', () => {
  const request = { method: 'files/authorizeDownload', params: { uri: 'mcp-file://s/1' } };
  const read = (download: JsonObject, more: JsonObject = {}) =>
    transfer.readDownload(request, { download: { method: 'GET', url: URL_OF_FILE, ...download }, ...more });

  it('is not taken for another file than was asked for', () => {
    const file = (uri: string) => ({ file: { type: 'file', uri, name: 'a', mimeType: 'text/plain', size: 1 } });
    expect(read({}, file('mcp-file://s/1'))).toMatchObject({ size: 1, descriptor: { url: URL_OF_FILE } });
    expect(read({}, file('mcp-file://s/2'))).toBeUndefined();
  });

  it('ends at a time with its zone; any other text is no time', () => {
    const expires = (expiresAt: string) => read({ expiresAt })?.descriptor.expiresAt;
    expect(expires('2026-11-22T10:00:00Z')).toBe(Date.UTC(2026, 10, 22, 10));
    expect(expires('2026-11-22t12:00:00.5+02:00')).toBe(Date.UTC(2026, 10, 22, 10, 0, 0, 500));
    for (const text of ['2026-11-22', '2026-11-22T10:00:00', '22 Nov 2026 10:00', '2026-13-22T10:00:00Z', ''])
      expect(expires(text)).toBeUndefined();
  });

  it.each<[string, JsonObject]>([
    ['another transport', { transport: 'ftp' }],
    ['another method', { method: 'POST' }],
    ['headers that are not texts', { headers: { a: 1 } }],
    ['no address', { url: 1 }],
  ])('is not understood with %s', (_what, download) => {
    expect(read(download)).toBeUndefined();
  });
});

describe('an upload that a server of SEP-2631 describes', () => {
  const request = { method: 'files/authorizeUpload', params: { name: 'a', mimeType: null, size: 1 } };
  const file = { type: 'file', uri: 'mcp-file://s/1', name: 'a', mimeType: 'text/plain', size: 1 };
  const read = (upload: JsonObject) => transfer.readUpload(request, { file, upload }, 'uri');

  it('is sent as a form whose type says its own boundary, and with every other header', () => {
    const headers = { 'Content-Type': 'multipart/form-data', 'X-Key': 'k' };
    const found = read({ method: 'POST', url: URL_OF_FILE, headers, multipart: { fields: { policy: 'p' } } });
    expect(found?.descriptor).toEqual({
      method: 'POST',
      url: URL_OF_FILE,
      headers: { 'X-Key': 'k' },
      multipart: { fileField: 'file', fields: { policy: 'p' } },
    });
    expect(read({ method: 'PUT', url: URL_OF_FILE, headers })?.descriptor.headers).toEqual(headers);
  });

  it('does not go by GET', () => {
    expect(read({ method: 'GET', url: URL_OF_FILE })).toBeUndefined();
  });
});

describe('a refusal by SEP-2631', () => {
  it('of a server is told by its reason, and an unknown one as unreachable', () => {
    expect(transfer.readRefusal({ reason: 'quotaExceeded' })).toEqual({ reason: 'quotaExceeded' });
    expect(transfer.readRefusal({ reason: '<b>paid plan</b>' })).toEqual({ reason: 'unreachable' });
    const before = { reason: 'maxFileSizeExceeded', maxFileSize: 5, actualSize: 6 };
    expect(transfer.readRefusal(before)).toEqual({ reason: 'maxSizeExceeded', maxSize: 5, actualSize: 6 });
    expect(transfer.readRefusal({})).toBeUndefined();
  });

  it('of Wharf has the words of the revision in which its client asks', () => {
    const refusal = { reason: 'maxSizeExceeded', maxSize: 5, actualSize: 6 } as const;
    expect(methods['files/authorizeUpload']?.refuse?.(refusal)).toEqual(refusal);
    expect(methods['files/prepareUpload']?.refuse?.(refusal)).toEqual({
      ...{ reason: 'maxFileSizeExceeded', maxFileSize: 5, actualSize: 6 },
    });
    expect(methods['files/authorizeUpload']?.refuse?.({ reason: 'unsupportedDigestAlgorithm' })).toEqual({
      ...{ reason: 'unsupportedDigestAlgorithm', supported: ['sha-256'] },
    });
  });

  it.each(['not a uri', 'f_1', '', 'mcp-file:', 'a b:c'])('meets what is not a URI: %j', (uri) => {
    expect(() => methods['files/authorizeDownload']?.read({ uri })).toThrow('URI of a file');
  });
});

describe('a stream by SEP-2532', () => {
  const refusal = { reason: 'streamNotSupported', text: 'no', uri: 'file:///a', size: 2, maxSize: 1 } as const;

  it('is refused by its own codes where the revision leaves room for them, and beside a code of MCP elsewhere', () => {
    const data = { reason: 'streamNotSupported', uri: 'file:///a', size: 2, maxStreamSize: 1 };
    const suggestion = 'Use resources/read instead';
    expect(streaming.refuse(refusal, client('2025-11-25'))).toEqual({
      ...{ code: -32003, message: 'no', data: { ...data, suggestion } },
    });
    expect(streaming.refuse(refusal, client('2026-07-28'))).toEqual({
      ...{ code: -32602, message: 'no', data: { ...data, suggestion, sepCode: -32003 } },
    });
  });

  it('is an unknown method for a client that has not declared it, and a missing capability since there is a code for that', () => {
    const undeclared = { reason: 'undeclared', text: 'declare it' } as const;
    expect(streaming.refuse(undeclared, client('2025-11-25')).code).toBe(-32601);
    expect(streaming.refuse(undeclared, client('2026-07-28'))).toMatchObject({
      ...{ code: -32021, data: { requiredCapabilities: { resourceStreaming: {} } } },
    });
  });

  it('may be a link, whose size counts only where it can be one', () => {
    const link = { uri: 'file:///a', downloadUrl: URL_OF_FILE, mimeType: 'text/plain' };
    expect(streaming.readLink({ ...link, size: 3 })).toEqual({ url: URL_OF_FILE, mimeType: 'text/plain', size: 3 });
    for (const size of [-1, 1.5, 2 ** 60, '3'])
      expect(streaming.readLink({ ...link, size })).toEqual({ url: URL_OF_FILE, mimeType: 'text/plain' });
    expect(streaming.readLink({ uri: 'file:///a' })).toBeUndefined();
  });

  it('is missing where a server says so in any of the forms of its SDKs, and not where it gives another reason', () => {
    const reasonOf = (code: number, message: string, data?: JsonObject) =>
      streaming.readError({ code, message, ...(data && { data }) });
    expect(reasonOf(-32002, 'gone')).toBe('resourceNotFound');
    expect(reasonOf(-32602, 'Resource file:///a not found')).toBe('resourceNotFound');
    expect(reasonOf(-32602, 'bad', { uri: 'file:///a' })).toBe('resourceNotFound');
    expect(reasonOf(-32602, 'bad', { uri: 'file:///a', reason: 'maxStreamSizeExceeded' })).toBe(
      'maxStreamSizeExceeded',
    );
    expect(reasonOf(-32602, 'bad', { uri: 'file:///a', reason: 'closed' })).toBeUndefined();
    expect(reasonOf(-32603, 'not found')).toBeUndefined();
  });
});

describe('a file as ChatGPT writes it', () => {
  it('may be a handle in the place of an address', () => {
    expect(readArgument({ download_url: 'MCP-file://wharf/f_1' })).toEqual({
      kind: 'handle',
      uri: 'MCP-file://wharf/f_1',
    });
  });

  it('claims what it says of itself, but for empty texts', () => {
    expect(readArgument({ download_url: URL_OF_FILE, mime_type: '', file_name: 'a.txt' })).toEqual({
      ...{ kind: 'remote', url: URL_OF_FILE, claims: { name: 'a.txt' } },
    });
  });

  it('without an address is a mistake where it is a file of ChatGPT, and no file where it names one of others', () => {
    expect(readArgument({ file_id: 'file-1' })).toMatchObject({ kind: 'invalid', reason: 'malformedUri' });
    expect(readArgument({ file_id: 'file-1', uri: 'sediment://file-1' })).toMatchObject({ kind: 'invalid' });
    expect(readArgument({ file_id: 'file-1', uri: 'mcp-file://s/1' })).toBeUndefined();
    expect(readArgument({ download_url: 'sediment://file-1' })).toMatchObject({ reason: 'schemeNotAllowed' });
  });
});
