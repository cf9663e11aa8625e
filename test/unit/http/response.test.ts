import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SAFE_HEADERS, SafeResponse } from '../../../gateway/http/response.js';
import { close, listen } from '../../helpers/loopback.js';

const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, value) => value));

describe('an answer', () => {
  let body = EVERY_BYTE;
  let isAnnounced = true;
  let isOnce = true;
  const server = createServer({ ServerResponse: SafeResponse }, (_request, response) => {
    const length = isAnnounced ? { 'content-length': body.length } : {};
    response.writeHead(200, { 'content-type': 'application/json', ...length });
    if (isOnce) response.end(body);
    else {
      response.write(body.subarray(0, 100));
      response.end(body.subarray(100));
    }
  });
  let url = '';

  beforeEach(async () => {
    [isAnnounced, isOnce] = [true, true];
    url = `http://127.0.0.1:${await listen(server)}`;
  });
  afterEach(() => close(server));

  const ask = async (method = 'GET') => {
    // a kept connection may be closed by its server while a busy machine sends the next request
    const answer = await fetch(url, { method, headers: { connection: 'close' } });
    return { answer, bytes: Buffer.from(await answer.arrayBuffer()) };
  };

  const lengths = [1, 256, 12 * 1024 - 1, 12 * 1024, 12 * 1024 + 1, 200_000];
  it.each(lengths)('has every byte of a body of %i, with its length and without', async (length) => {
    body = Buffer.alloc(length, EVERY_BYTE);
    for (isAnnounced of [true, false]) {
      // not toEqual, which takes a second for the longest
      for (isOnce of [true, false]) expect((await ask()).bytes.equals(body)).toBe(true);
    }
  });

  it('of which the head was sent first is as long as its client reads it, and cannot have another head', async () => {
    const heads: unknown[] = [];
    const early = createServer({ ServerResponse: SafeResponse }, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      heads.push(response.headersSent, Reflect.get(response, '_header').length < 10);
      response.flushHeaders();
      expect(() => response.writeHead(404)).toThrow(/ERR_HTTP_HEADERS_SENT|headers/);
      response.write('data: 1\n\n');
      setImmediate(() => response.end(Buffer.from('data: 2\n\n')));
    });
    const answer = await fetch(`http://127.0.0.1:${await listen(early)}`, { headers: { connection: 'close' } });
    expect(answer.status).toBe(200);
    for (const [name, value] of Object.entries(SAFE_HEADERS)) expect(answer.headers.get(name)).toBe(value);
    expect(await answer.text()).toBe('data: 1\n\ndata: 2\n\n');
    expect(heads).toEqual([true, true]);
    await close(early);
  });

  it('has the headers of every answer, and no body where none belongs', async () => {
    body = EVERY_BYTE;
    const { answer, bytes } = await ask('HEAD');
    expect(bytes.length).toBe(0);
    expect(answer.headers.get('content-length')).toBe('256');
    for (const [name, value] of Object.entries(SAFE_HEADERS)) expect(answer.headers.get(name)).toBe(value);
  });
});

describe('an answer of any status whose route names headers', () => {
  const WAYS: readonly [string, (response: SafeResponse) => void][] = [
    ['before its head', (response) => void response.setHeader('x-own', '1').writeHead(404)],
    ['in a list', (response) => void response.writeHead(404, ['x-own', '1'])],
    ['in capitals, behind a phrase', (response) => void response.writeHead(404, 'Not Found', { 'X-Own': '1' })],
    ['by name', (response) => void response.writeHead(404, { 'x-own': '1' })],
  ];

  it.each(WAYS)('%s has the headers of every answer beside them', async (_, write) => {
    const server = createServer({ ServerResponse: SafeResponse }, (_request, response) => {
      write(response);
      response.end();
    });
    const answer = await fetch(`http://127.0.0.1:${await listen(server)}`, { headers: { connection: 'close' } });
    await close(server);
    expect(answer.headers.get('x-own')).toBe('1');
    for (const [name, value] of Object.entries(SAFE_HEADERS)) expect(answer.headers.get(name)).toBe(value);
  });
});
