import { afterEach, describe, expect, it } from '@jest/globals';
import { create as createLegacy } from '../../../adapters/upstream/legacy-sse.js';
import { create, settings } from '../../../adapters/upstream/streamable-http.js';
import type { ExchangeUpstream, OutgoingMessage, SharedUpstream } from '../../../gateway/ports/upstream.js';
import { startTakingServer, type TakingOptions, type TakingServer } from '../../helpers/taking-server.js';
import { until } from '../../helpers/wait.js';
import { source } from './streamed.js';
import { calm, failureOf, type Overrides, POST_HEADERS, request, upstreamDeps } from './subject.js';

let server: TakingServer;
let upstream: ExchangeUpstream | SharedUpstream | undefined;

afterEach(async () => {
  await upstream?.close();
  await server.close();
});

async function start(options: Partial<TakingOptions> = {}, overrides: Overrides = {}) {
  server = await startTakingServer({ transport: 'streamable-http', ...options });
  const exchange = create(settings.parse({ url: server.url }), upstreamDeps(overrides));
  upstream = exchange;
  return async (body: OutgoingMessage): Promise<{ status: number; text: string }> => {
    const answer = await exchange.open({ method: 'POST', headers: { ...POST_HEADERS }, body }, calm());
    let text = '';
    for await (const part of answer.body) text += String(part);
    return { status: answer.status, text };
  };
}

describe('an answer before the message is sent', () => {
  it.each(['reads on', 'stops reading', 'closes'] as const)('is read whole when the server %s', async (early) => {
    const send = await start({ early });
    for (let round = 0; round < 20; round++) {
      const message = source(64 * 1024 * 1024, {
        before: (piece) => (piece % 7 === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined),
      });
      const { status, text } = await send(message);
      expect([status, text]).toEqual([413, expect.stringContaining('Payload Too Large')]);
      await until(() => message.ended === 1);
      expect(message.pulled).toBeLessThan(message.length);
      expect((await send(request(round, 'ping'))).status).toBe(200);
    }
  });

  it.each(['reads on', 'stops reading', 'closes'] as const)(
    'refuses a message of a session and leaves the session alone when the server %s',
    async (early) => {
      server = await startTakingServer({ transport: 'legacy-sse', early });
      const legacy = createLegacy(settings.parse({ url: server.url }), upstreamDeps());
      upstream = legacy;
      const connection = await legacy.connect(calm());
      connection.body.resume();
      const message = source(64 * 1024 * 1024);
      const failure = await failureOf(connection.send(message));
      expect([failure.code, failure.facts.status]).toEqual(['upstream_refused', 413]);
      await until(() => message.ended === 1);
      await connection.send(request(2, 'ping'));
      expect(connection.body.destroyed).toBe(false);
    },
  );
});

describe('a connection that was closed as idle', () => {
  it('is replaced, and the message read again', async () => {
    const send = await start({ resets: 1 });
    await send(request(1, 'ping'));
    const message = source(300_000);
    expect((await send(message)).status).toBe(200);
    expect([message.reads, message.ended, server.connections]).toEqual([2, 2, 2]);
    expect(server.taken[1]).toEqual({ bytes: message.length, digest: message.digest, whole: true });
  });

  it('is replaced once and not again', async () => {
    const send = await start({ resets: 2 });
    await send(request(1, 'ping'));
    const message = source(300_000);
    expect((await failureOf(send(message))).code).toBe('upstream_closed');
    expect(message.reads).toBe(2);
    await until(() => message.ended === 2);
  });

  it('serves the next exchange after a streamed message', async () => {
    const send = await start();
    for (let id = 0; id < 5; id++) await send(id % 2 === 0 ? source(300_000, { id }) : request(id, 'ping'));
    expect(server.connections).toBe(1);
  });
});

describe('timeouts.upstream', () => {
  it('begins when a streamed message is sent', async () => {
    const send = await start({}, { timeouts: { upstream: 1500 } });
    // 2.4 s of sending
    expect((await send(source(400_000, { gapMs: 300 }))).status).toBe(200);
  });

  it('ends the waiting for an answer to a streamed message', async () => {
    const send = await start({ pace: 'silent' }, { timeouts: { upstream: 200 } });
    const failure = await failureOf(send(source(300_000)));
    expect([failure.code, failure.facts.limit]).toEqual(['upstream_timeout', 'timeouts.upstream']);
  });
});
