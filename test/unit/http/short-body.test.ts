import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
import type { GatewayError } from '../../../gateway/errors.js';
import { discardRest } from '../../../gateway/http/discard.js';
import { requestText } from '../../../gateway/http/short-body.js';

it.each([
  ['whole', 1000, '1000 read'],
  ['refused by an answer that arrives when it is too long', 3_000_000, 'it is too long'],
])('a short body is %s', async (_how, length, expected) => {
  const server = createServer((incoming, outgoing) => {
    outgoing.once('finish', () => discardRest(incoming));
    requestText(incoming, 1000, 'it is too long').then(
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
