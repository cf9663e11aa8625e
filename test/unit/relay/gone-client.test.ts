import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { Exchange } from '../../../gateway/relay/exchange.js';
import { GetStream } from '../../../gateway/relay/get-stream.js';
import type { ClientResponse } from '../../../gateway/relay/outlet.js';
import { PostStream } from '../../../gateway/relay/post-stream.js';
import type { ClientMessages, PendingRequest } from '../../../gateway/relay/request.js';

/** The exchange of a client that has left before anything could be said to it. */
async function gone(): Promise<Exchange> {
  const body = new PassThrough();
  body.destroy();
  await new Promise((resolve) => body.once('close', resolve));
  const refuse = () => {
    throw new Error('nothing is to be said any more');
  };
  const unheard = { writeHead: refuse, flushHeaders: refuse, setTimeout: refuse, headersSent: false };
  const response: ClientResponse = Object.assign(body, unheard);
  const headers = { accept: 'application/json, text/event-stream' };
  return { headers, response, facts: { bytesOut: 0 } } as unknown as Exchange;
}

describe('a stream to a client that left before it began', () => {
  it.each(['now', 'later'] as const)('is over, when it answers a POST (%s)', async (head) => {
    const messages = { statelessVersion: undefined } as ClientMessages;
    const pending = new Map([['1', {} as PendingRequest]]);
    const stream = new PostStream(await gone(), messages, pending, head, 1000);
    await stream.done;
    expect(stream.gone).toBe(true);
  });

  it('is over, when it is a GET stream', async () => {
    const stream = new GetStream(await gone(), 1000);
    await stream.done;
    expect(stream.gone).toBe(true);
  });
});
