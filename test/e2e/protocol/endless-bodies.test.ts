import { createServer, type IncomingMessage, type Server, type ServerResponse, request as send } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { close, listen } from '../../helpers/loopback.js';
import { RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

/** What the server does with the body of an answer in JSON, which it never ends. */
type Answering = (response: ServerResponse, message: string) => void;

let server: Server | undefined;
let wharf: Wharf | undefined;
/** Answers whose connection was closed before they had ended. */
let givenUp = 0;

afterEach(async () => {
  await wharf?.stop();
  if (server) await close(server);
  givenUp = 0;
});

/** A server with one tool. @param answer of `tools/call`, or of `tools/list` */
async function start(method: string, answer: Answering, timeouts: object = {}): Promise<RawClient> {
  server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method: asked } = JSON.parse(body) as { id?: unknown; method?: string };
    if (id === undefined) return void response.writeHead(202).end();
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 's', version: '1' },
      },
      'tools/list': {
        tools: [{ name: 'one', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } }],
      },
    };
    const result = results[asked ?? ''] ?? { content: [{ type: 'text', text: 'done' }] };
    const message = JSON.stringify({ jsonrpc: '2.0', id, result });
    response.writeHead(200, { 'content-type': 'application/json' });
    if (asked !== method) return void response.end(message);
    response.on('close', () => {
      if (!response.writableFinished) givenUp += 1;
    });
    answer(response, message);
  });
  const url = `http://127.0.0.1:${await listen(server)}/mcp`;
  wharf = await startWharf({ servers: { one: { url } }, config: { timeouts } });
  return RawClient.connect(wharf.mcp);
}

it('says of a request shorter than its Content-Length how much has come of how much', async () => {
  await start('none', () => {}, { idle: '1s' });
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ping' });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = send(wharf?.mcp ?? '', { method: 'POST', headers: { ...headers, 'content-length': 50 } }, resolve);
    request.on('error', reject).write(body);
  });
  let text = '';
  for await (const piece of answer) text += piece;
  expect([answer.statusCode, JSON.parse(text).error]).toEqual([
    504,
    expect.objectContaining({
      message: `No bytes arrived for 1 s: ${body.length} of the 50 bytes that Content-Length names have come.`,
      data: expect.objectContaining({ code: 'idle_timeout', came: body.length, announced: 50 }),
    }),
  ]);
});

describe('an answer in JSON whose body never ends', () => {
  it.each<[string, Answering]>([
    ['is silent', (response, message) => void response.write(message)],
    [
      'sends blanks',
      (response, message) => {
        response.write(message);
        const blanks = setInterval(() => response.write(' '), 50);
        response.on('close', () => clearInterval(blanks));
      },
    ],
  ])(
    'is complete with its message, and its connection is given up, where the server then %s',
    async (_what, answer) => {
      const client = await start('tools/call', answer);
      const { result } = await client.call('one', {});
      expect(result?.content).toEqual([{ type: 'text', text: 'done' }]);
      await until(() => givenUp === 1);
    },
  );

  it('is not waited for when Wharf itself has asked', async () => {
    const client = await start('tools/list', (response, message) => void response.write(message), { idle: '10m' });
    // a handle makes Wharf look for the tool's declaration before the call goes out
    const { result } = await client.call('one', { text: 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA' });
    expect(result?.content?.length).toBeGreaterThan(0);
    await until(() => givenUp > 0);
  });

  it('is an error after timeouts.upstream where it never begins', async () => {
    const client = await start('tools/call', (response) => response.flushHeaders(), { upstream: '1s' });
    const { error } = await client.call('one', {});
    expect(error?.data).toMatchObject({ code: 'upstream_timeout', limit: 'timeouts.upstream', allowed: 1000 });
    await until(() => givenUp === 1);
  });
});
