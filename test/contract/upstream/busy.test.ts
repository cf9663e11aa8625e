import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/upstream/streamable-http.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import type { ExchangeUpstream } from '../../../gateway/ports/upstream.js';
import { calm, POST_HEADERS } from './subject.js';

/** A server with a loop of its own, which closes connections that have been idle for a moment. */
const SERVER = `
  const { createServer } = require('node:http');
  const { parentPort } = require('node:worker_threads');
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response
      .writeHead(200, { 'content-type': 'application/json', connection: 'keep-alive', 'keep-alive': 'timeout=5' })
      .end('{}'));
  });
  server.keepAliveTimeout = 100;
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/** Keeps the event loop from doing anything else. */
function beBusy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('while Wharf itself is busy', () => {
  let server: Worker;
  let upstream: ExchangeUpstream;

  beforeEach(async () => {
    server = new Worker(SERVER, { eval: true });
    const [port] = await once(server, 'message');
    upstream = create(settings.parse({ url: `http://127.0.0.1:${port}/mcp` }), {
      name: 'up',
      limits: { connections: 4, codingRatio: 100 },
      timeouts: { queue: 10_000, upstream: 10_000, idle: 10_000 },
      sharing: UNSHARED,
    });
  });
  afterEach(async () => {
    await upstream.close();
    await server.terminate();
  });

  const ask = async () => {
    const body = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}');
    const answer = await upstream.open({ method: 'POST', headers: { ...POST_HEADERS }, body }, calm());
    answer.body.resume();
    await once(answer.body, 'end');
    return answer.status;
  };

  it('a connection that the server has closed meanwhile is not used again', async () => {
    expect(await ask()).toBe(200);
    // idle for so long that the server has closed it, which is yet to be read
    beBusy(1500);
    const asked = ask();
    beBusy(600);
    expect(await asked).toBe(200);
  });
});
