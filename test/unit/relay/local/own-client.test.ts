import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../../gateway/errors.js';
import type { Exchange } from '../../../../gateway/relay/exchange.js';
import { OwnClient } from '../../../../gateway/relay/local/own-client.js';
import { failureOf } from '../../../contract/upstream/subject.js';
import { heldBudget } from '../../../helpers/budgets.js';

const MIB = 1024 * 1024;

type Answer = (exchange: Exchange) => Promise<void>;

/** A server that speaks on an event stream, and never ends it. */
function lab(answer: Answer, { response = MIB, most = 4 * MIB, upstream = 5000 } = {}) {
  const held = heldBudget(most);
  const removed: unknown[] = [];
  const endpoint = {
    name: 'one',
    async post(exchange: Exchange): Promise<void> {
      const { method } = JSON.parse(exchange.body.toString()) as { method: string };
      if (method === 'notifications/initialized') return exchange.reply.all({ status: 202, body: 'other' });
      const session =
        method === 'initialize' ? { id: 's1', version: '2025-06-18', channel: 'exchange' as const } : undefined;
      exchange.reply.head({ status: 200, body: 'events', session });
      if (method === 'initialize') say(exchange, { id: 0, result: { protocolVersion: '2025-06-18' } });
      else await answer(exchange);
      // the stream stays open until the client has gone
      await new Promise<void>((resolve) => {
        if (exchange.signal.aborted) resolve();
        exchange.signal.addEventListener('abort', () => resolve());
      });
      throw exchange.signal.reason;
    },
    async remove(exchange: Exchange): Promise<void> {
      removed.push(exchange.headers['mcp-session-id']);
    },
  };
  const limits = { response, values: 1000 };
  const client = new OwnClient({ endpoint, principal: 'me', limits, timeouts: { upstream }, held });
  const request = { method: 'resources/read', params: {}, name: 'x' };
  const read = () =>
    client.request(request, new AbortController().signal, async ({ result }) => ({ result, used: held.used }));
  return { held, read, removed };
}

function say({ reply }: Exchange, message: { id?: number; [key: string]: unknown }): void {
  const answers = message.id === undefined ? [] : [String(message.id)];
  void reply.message([Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))], { answers });
}

describe('a request on a session of Wharf’s own', () => {
  it('is over with its answer, though the stream stays open', async () => {
    const { read, removed, held } = lab(async (exchange) => say(exchange, { id: 1, result: { contents: [] } }));
    expect((await read()).result).toEqual({ contents: [] });
    expect(held.used).toBe(0);
    expect(removed).toEqual(['s1']);
  });

  it('does not parse an answer with more values than limits.values', async () => {
    const many = (count: number) => ({ contents: [], _meta: { values: Array.from({ length: count }, () => 0) } });
    const light = lab(async (exchange) => say(exchange, { id: 1, result: many(900) }));
    expect((await light.read()).result).toEqual(many(900));
    const heavy = lab(async (exchange) => say(exchange, { id: 1, result: many(1100) }));
    expect((await failureOf(heavy.read())).message).toContain('more than limits.values = 1000 values');
    expect(heavy.held.used).toBe(0);
  });

  it('keeps nothing of what the server says besides', async () => {
    const noise = { method: 'notifications/message', params: { data: 'x'.repeat(MIB / 2) } };
    let most = 0;
    const { read, held } = lab(async (exchange) => {
      for (let index = 0; index < 50; index++) {
        say(exchange, noise);
        most = Math.max(most, held.used);
      }
      say(exchange, { id: 1, result: { contents: ['it'] } });
    });
    const { result, used } = await read();
    expect(result).toEqual({ contents: ['it'] });
    expect(most).toBeLessThan(MIB);
    // what was answered counts as long as it is used
    expect(used).toBeGreaterThan(0);
    expect(held.used).toBe(0);
  });

  it.each([
    ['limits.response', { response: MIB, most: 8 * MIB }, 'response_too_large'],
    ['limits.held', { response: 8 * MIB, most: MIB }, 'held_full'],
  ])('takes no answer beyond %s', async (_name, limits, code) => {
    const answer = { id: 1, result: { contents: [{ uri: 'x', text: 'x'.repeat(2 * MIB) }] } };
    const { read, held } = lab(async (exchange) => say(exchange, answer), limits);
    expect((await failureOf(read())).code).toBe(code);
    expect(held.used).toBe(0);
  });

  it('is given up after timeouts.upstream, however much the server talks', async () => {
    let talking: NodeJS.Timeout | undefined;
    const { read } = lab(
      async (exchange) => {
        talking = setInterval(() => say(exchange, { method: 'notifications/message', params: {} }), 10);
      },
      { upstream: 300 },
    );
    const failure = await failureOf(read());
    clearInterval(talking);
    expect(failure).toEqual(
      new GatewayError('upstream_timeout', { server: 'one', limit: 'timeouts.upstream', allowed: 300 }),
    );
  });

  it('is given up though the server’s answer is still waited for, as over stdio', async () => {
    const { read, held } = lab(() => new Promise<void>(() => {}), { upstream: 300 });
    expect((await failureOf(read())).code).toBe('upstream_timeout');
    expect(held.used).toBe(0);
  });
});
