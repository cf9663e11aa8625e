import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { absentCaller } from '../../../../gateway/identity/identities.js';
import { ASSUMED_ERA } from '../../../../gateway/mcp/era.js';
import type { Asked } from '../../../../gateway/relay/caller.js';
import { GetStream } from '../../../../gateway/relay/channels/get-stream.js';
import { PostStream } from '../../../../gateway/relay/channels/post-stream.js';
import { Heartbeats } from '../../../../gateway/relay/client/heartbeats.js';
import { HttpReply, type HttpResponse } from '../../../../gateway/relay/client/http-reply.js';
import type { MessageCuts } from '../../../../gateway/relay/cut/message-cuts.js';
import { CutReader } from '../../../../gateway/relay/cut/reader.js';
import type { Exchange } from '../../../../gateway/relay/exchange.js';
import type { PendingRequest } from '../../../../gateway/relay/pending-request.js';
import { toClient } from '../../../../gateway/relay/results/to-client.js';
import type { HeldMessage } from '../../../../gateway/wire/json/reader.js';
import { silentLog } from '../../../helpers/silent-log.js';
import { call, NO_LEAKS, OWNER, RelayLab } from '../relay-lab.js';

/** The POST of a client that has left before anything could be said to it. */
async function gone(): Promise<Asked> {
  const body = new PassThrough();
  body.destroy();
  await new Promise((resolve) => body.once('close', resolve));
  const refuse = () => {
    throw new Error('nothing is to be said now');
  };
  const unheard = { writeHead: refuse, flushHeaders: refuse, setTimeout: refuse, headersSent: false };
  const response: HttpResponse = Object.assign(body, unheard);
  const headers = { accept: 'application/json, text/event-stream' };
  const exchange = {
    headers,
    reply: new HttpReply(response, 1000, new Heartbeats()),
    facts: { bytesOut: 0 },
  } as unknown as Exchange;
  return { exchange, messages: { era: ASSUMED_ERA } } as Asked;
}

describe('a stream to a client that left before it began', () => {
  it.each(['soon', 'later'] as const)('is over, when it answers a POST (%s)', async (head) => {
    const pending = new Map([['1', {} as PendingRequest]]);
    const stream = new PostStream(await gone(), pending, { head, deps: new RelayLab().deps });
    await stream.done;
    expect(stream.gone).toBe(true);
  });

  it('is over, when it is a GET stream', async () => {
    const stream = new GetStream(await gone());
    await stream.done;
    expect(stream.gone).toBe(true);
  });
});

describe('a message that cannot be delivered', () => {
  it.each([
    ['is told to the operator', false, ['file_too_large']],
    ['is no peer’s fault once the client has left', true, []],
  ])('%s', async (_what, hasLeft, expected) => {
    const lab = new RelayLab({ limits: { file: 1000 } });
    const told: unknown[] = [];
    const deps = { ...lab.deps, log: { ...silentLog, warn: ({ code }: { code?: unknown }) => told.push(code) } };
    const gone = new AbortController();
    const to = {
      identity: absentCaller('ann'),
      principal: 'ann',
      client: { protocolVersion: '2025-06-18', capabilities: {} },
      answered: () => call('1'),
      inquire: async () => ({ result: { tools: [] } }),
      facts: lab.facts,
      signal: gone.signal,
    };
    const delivered: Promise<unknown>[] = [];
    const deliver = async (message: HeldMessage, cuts: MessageCuts) => {
      await cuts.settle();
      if (hasLeft) gone.abort();
      await toClient(message, cuts, deps, to);
    };
    const reader = new CutReader(
      'json',
      deps.cut,
      { message: (message, cuts) => delivered.push(deliver(message, cuts)) },
      { owner: OWNER, signal: new AbortController().signal },
    );
    const content = [{ type: 'image', data: Buffer.alloc(600_000).toString('base64'), mimeType: 'image/png' }];
    await reader.feed(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content } })));
    await reader.settle();
    await reader.end();
    await Promise.all(delivered);
    expect(told).toEqual(expected);
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  });
});
