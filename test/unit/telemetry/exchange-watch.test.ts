import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { parseMessages } from '../../../gateway/mcp/request.js';
import type { SpanFailure, Tracer } from '../../../gateway/ports/telemetry.js';
import { type Exchange, noFacts } from '../../../gateway/relay/exchange.js';
import { LineReply } from '../../../gateway/stdio/line-reply.js';
import { LineOutput } from '../../../gateway/stdio/output.js';
import { TracedExchanges } from '../../../gateway/telemetry/exchange-watch.js';

/** A tracer that notes how its spans end, and by what its histograms count. */
function noting(): { tracer: Tracer; failures: (SpanFailure | undefined)[]; series: Set<string> } {
  const series = new Set<string>();
  const failures: (SpanFailure | undefined)[] = [];
  const tracer: Tracer = {
    handsOnAlways: false,
    current: undefined,
    begin: () => ({
      context: { traceparent: '' },
      end: (_facts, failure) => {
        failures.push(failure);
      },
    }),
    within: (_span, work) => work(),
    observe: (name, _seconds, facts) => void series.add(JSON.stringify([name, facts])),
  };
  return { tracer, failures, series };
}

function exchange(): Exchange {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reply = new LineReply({ output: new LineOutput(nowhere), answered: () => undefined, dropped: () => undefined });
  const { signal } = new AbortController();
  return { headers: {}, reply, facts: noFacts(), signal, principal: 'ann' } as unknown as Exchange;
}

describe('the span of a request', () => {
  it.each([
    ['short', '"a1"'],
    ['longer than a span may say', JSON.stringify('x'.repeat(500))],
    ['one that looks like a secret', '"call?token=abcdef"'],
  ])('says that it failed, whatever its id is: %s', async (_, id) => {
    const { tracer, failures } = noting();
    const watch = new TracedExchanges(tracer, { ticks: () => 0 }, { name: 's', url: undefined });
    const asked = exchange();
    const messages = parseMessages(
      Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"t"}}`),
    );
    await watch.asked(asked, messages, async () => {
      asked.reply.head({ status: 200, body: 'values' });
      const error = `{"jsonrpc":"2.0","id":${id},"error":{"code":-32602,"message":"no such file"}}`;
      void asked.reply.message([Buffer.from(error)], { answers: [id] });
    });
    expect(failures).toEqual([{ type: '-32602', message: 'no such file' }]);
  });
});

describe('the histogram of a server', () => {
  it('has few series, in however many ways its tools fail', async () => {
    const { tracer, series } = noting();
    const watch = new TracedExchanges(tracer, { ticks: () => 0 }, { name: 's', url: undefined });
    const call = async (tool: string, outcome: string) => {
      const asked = exchange();
      const request = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}"}}`;
      await watch.asked(asked, parseMessages(Buffer.from(request)), async () => {
        asked.reply.head({ status: 200, body: 'values' });
        void asked.reply.message([Buffer.from(`{"jsonrpc":"2.0","id":1,${outcome}}`)], { answers: ['1'] });
      });
    };
    for (let n = 0; n < 300; n++) await call(`tool-${n}`, '"result":{"content":[]}');
    for (let n = 0; n < 3000; n++)
      await call(`tool-${n % 7}`, `"error":{"code":${-32_000 - (n % 1000)},"message":"no"}`);
    for (let n = 0; n < 300; n++) await call(`tool-${n}`, '"result":{"isError":true,"content":[]}');
    // the limit of all servers is 2000
    expect(series.size).toBeLessThan(500);
    expect([...series].join()).toContain('"gen_ai.tool.name":"tool-3"');
  });
});
