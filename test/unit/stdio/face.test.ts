import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { FewLines } from '../../../gateway/few-lines.js';
import { ANONYMOUS } from '../../../gateway/identity/identities.js';
import { DEFAULT_LIMITS, DEFAULT_TIMEOUTS } from '../../../gateway/policy/limits.js';
import type { Exchange } from '../../../gateway/relay/exchange.js';
import type { Server } from '../../../gateway/relay/server.js';
import { StdioFace } from '../../../gateway/stdio/face.js';
import { LineOutput } from '../../../gateway/stdio/output.js';
import { heldBudget } from '../../helpers/budgets.js';
import { silentLog } from '../../helpers/silent-log.js';
import { until } from '../../helpers/wait.js';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'host', version: '1' } },
};
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };

/** What a server is sent, in its order, when a client of `wharf stdio` opens a session over such a channel. */
async function sentOver(channel: 'exchange' | 'shared'): Promise<string[]> {
  const sent: string[] = [];
  const server = {
    name: 's',
    limits: DEFAULT_LIMITS,
    async post({ body, reply }: Exchange) {
      const { method, id } = JSON.parse(body.toString()) as { method: string; id?: number };
      sent.push(method);
      if (id === undefined) return reply.all({ status: 202, body: 'other' });
      const session = { id: 'a', version: '2025-06-18', channel };
      reply.all({ status: 200, body: 'values', session }, Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{}}`), [
        String(id),
      ]);
    },
    async get({ reply, signal }: Exchange) {
      // looking up the session takes a while
      await new Promise((resolve) => setImmediate(resolve));
      sent.push('GET');
      reply.head({ status: 200, body: 'events' });
      if (!signal.aborted) await once(signal, 'abort');
    },
    async remove() {
      sent.push('DELETE');
    },
  };
  const input = new PassThrough();
  const output = new PassThrough().resume();
  const face = new StdioFace({
    server: server as unknown as Server,
    input,
    output: new LineOutput(output),
    identity: ANONYMOUS,
    publicBase: () => 'http://127.0.0.1:1',
    held: heldBudget(1e6),
    timeouts: DEFAULT_TIMEOUTS,
    clock: { ticks: () => performance.now() },
    log: silentLog,
    fewLines: new FewLines({ ticks: () => 0 }),
    metrics: { count() {}, observe() {}, gauge() {} },
    audit: { isOn: false } as never,
  });
  const over = face.run();
  for (const message of [INITIALIZE, INITIALIZED]) input.write(`${JSON.stringify(message)}\n`);
  await until(() => sent.length === 3);
  face.stop();
  await over;
  return sent.slice(0, 3);
}

describe('wharf stdio', () => {
  it('hears a process before that knows that its client is ready, so that nothing it says is lost', async () => {
    expect(await sentOver('shared')).toEqual(['initialize', 'GET', 'notifications/initialized']);
  });

  it('asks a server over HTTP for its stream only when that knows it', async () => {
    expect(await sentOver('exchange')).toEqual(['initialize', 'notifications/initialized', 'GET']);
  });
});
