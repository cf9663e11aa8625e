import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
import { asGatewayError, type GatewayError } from '../../../gateway/errors.js';
import { discardRest } from '../../../gateway/http/discard.js';
import { requestText } from '../../../gateway/http/short-body.js';

const WATCH = {
  limits: { leastRate: 8192 },
  timeouts: { idle: 60_000, grace: 30_000 },
};

it.each([
  ['whole', 1000, '1000 read'],
  ['refused by an answer that arrives when it is too long', 3_000_000, 'it is too long'],
])('a short body is %s', async (_how, length, expected) => {
  const server = createServer((incoming, outgoing) => {
    outgoing.once('finish', () => discardRest(incoming));
    requestText(incoming, { principal: 'ann', most: 1000, reason: 'it is too long' }, WATCH).then(
      (read) => outgoing.end(`${read.length} read`),
      (error: GatewayError) => outgoing.end(String(error.facts.reason)),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: '127.0.0.1', port, method: 'POST', agent: false }).end(Buffer.alloc(length, 'x'));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  expect(await text(answer)).toBe(expected);
  server.closeAllConnections();
  server.close();
});

it('a client that goes away in the midst of a short body is not a fault of Wharf', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: '127.0.0.1', port, method: 'POST', agent: false, headers: { 'content-length': 500 } });
  sent.on('error', () => undefined);
  sent.write('key=');
  const [incoming] = (await once(server, 'request')) as [IncomingMessage];
  const read = requestText(incoming, { principal: '', most: 1000, reason: 'it is too long' }, WATCH);
  sent.destroy();
  await expect(read.catch((error: unknown) => asGatewayError(error).code)).resolves.toBe('upload_incomplete');
  server.close();
});
