import { describe, expect, it } from '@jest/globals';
import { checkStatelessHeaders, toClientHeaders, toUpstreamHeaders } from '../../../gateway/mcp/headers.js';
import { parseMessages } from '../../../gateway/mcp/request.js';

const VERSION = '2026-07-28';

function call(params: Record<string, unknown> = { name: 'echo' }, method = 'tools/call') {
  const _meta = { 'io.modelcontextprotocol/protocolVersion': VERSION };
  return parseMessages(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } })));
}

const headers = { 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': 'echo' };

describe('the headers of a stateless request', () => {
  it('pass when they agree with the body', () => {
    expect(() => checkStatelessHeaders(headers, call())).not.toThrow();
  });

  it.each([
    ['another method', { ...headers, 'mcp-method': 'tools/list' }],
    ['another name', { ...headers, 'mcp-name': 'rm' }],
    ['another case of the name', { ...headers, 'mcp-name': 'Echo' }],
    ['another version', { ...headers, 'mcp-protocol-version': '2027-01-01' }],
    ['no version', { 'mcp-method': 'tools/call', 'mcp-name': 'echo' }],
    ['no method', { 'mcp-protocol-version': VERSION, 'mcp-name': 'echo' }],
    ['no name', { 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call' }],
  ])('are refused with -32020: %s', (_what, sent) => {
    expect(() => checkStatelessHeaders(sent, call())).toThrow(
      expect.objectContaining({ code: 'header_mismatch', httpStatus: 400 }),
    );
  });

  it('are decoded before they are compared', () => {
    const name = `=?base64?${Buffer.from('отчёт').toString('base64')}?=`;
    expect(() => checkStatelessHeaders({ ...headers, 'mcp-name': name }, call({ name: 'отчёт' }))).not.toThrow();
  });

  it('a stateless version without its _meta is refused with -32602', () => {
    const body = parseMessages(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'));
    expect(() => checkStatelessHeaders({ 'mcp-protocol-version': VERSION }, body)).toThrow(
      expect.objectContaining({ code: 'meta_missing' }),
    );
  });

  it('a stateless version whose body names one with sessions is refused with -32020', () => {
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2025-06-18' };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } };
    expect(() =>
      checkStatelessHeaders({ 'mcp-protocol-version': VERSION }, parseMessages(Buffer.from(JSON.stringify(message)))),
    ).toThrow(expect.objectContaining({ code: 'header_mismatch', httpStatus: 400 }));
  });

  it('a client with a session is not asked for them', () => {
    const body = parseMessages(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'));
    expect(() => checkStatelessHeaders({ 'mcp-protocol-version': '2025-06-18' }, body)).not.toThrow();
  });
});

describe('what reaches an upstream', () => {
  it('is made again from the body', () => {
    const sent = toUpstreamHeaders({ ...headers, 'mcp-param-region': 'eu' }, call({ name: 'naïve' }), undefined);
    expect(sent).toMatchObject({
      'mcp-method': 'tools/call',
      'mcp-name': `=?base64?${Buffer.from('naïve').toString('base64')}?=`,
      'mcp-param-region': 'eu',
      'mcp-protocol-version': VERSION,
    });
  });

  it('holds no credential, cookie or forwarded header', () => {
    const client = {
      authorization: 'Bearer x',
      cookie: 'a=b',
      'proxy-authorization': 'y',
      'x-forwarded-for': '10.0.0.1',
      forwarded: 'for=10.0.0.1',
      host: 'evil',
      origin: 'https://evil',
      'mcp-session-id': 'ours',
    };
    expect(toUpstreamHeaders(client, undefined, 'theirs')).toEqual({
      accept: 'text/event-stream',
      'mcp-session-id': 'theirs',
    });
  });
});

it('only listed response headers reach the client', () => {
  const headers = {
    'content-type': 'application/json',
    'set-cookie': 'a=b',
    'access-control-allow-origin': '*',
    'cache-control': 'public, max-age=3600',
    'www-authenticate': 'Basic realm="x"',
    connection: 'close',
    'mcp-session-id': 'theirs',
  };
  expect(toClientHeaders({ headers, kind: 'json' })).toEqual({ 'content-type': 'application/json' });
});

it.each([
  ['json', 'application/json', 'application/json'],
  ['json', 'Application/JSON; charset=UTF-8', 'Application/JSON; charset=UTF-8'],
  ['json', 'application/problem+json', 'application/problem+json'],
  ['json', 'application/json;x=,text/html', 'application/json'],
  ['json', 'application/json, text/html', 'application/json'],
  ['json', 'application/json; charset=utf-7', 'application/json'],
  ['json', 'text/json', 'application/json'],
  ['json', undefined, 'application/json'],
  ['lines', 'application/jsonl', 'application/jsonl'],
  ['sse', 'text/event-stream;x=,text/html', 'text/event-stream'],
  ['bytes', 'text/html', 'text/plain; charset=utf-8'],
  ['bytes', undefined, 'text/plain; charset=utf-8'],
  ['bytes', 'image/svg+xml', 'application/octet-stream'],
  ['bytes', 'application/xhtml+xml', 'application/octet-stream'],
  ['none', 'text/html', undefined],
] as const)('of a %s answer with the type %s the client sees the type %s', (kind, type, shown) => {
  const { 'content-type': sent } = toClientHeaders({ headers: { 'content-type': type }, kind });
  expect(sent).toBe(shown);
});
