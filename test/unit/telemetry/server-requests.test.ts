import { describe, expect, it } from '@jest/globals';
import { parseMessages } from '../../../gateway/mcp/request.js';
import type { SpanFacts, SpanFailure, SpanStart, Tracer } from '../../../gateway/ports/telemetry.js';
import { type Exchange, noFacts } from '../../../gateway/relay/exchange.js';
import { MOST_OPEN, ServerRequests } from '../../../gateway/telemetry/server-requests.js';

const NETWORKS = { upstream: { 'network.transport': 'pipe' }, client: { 'network.transport': 'tcp' } };
const UNANSWERED: SpanFailure = { type: 'unanswered' };

interface Ended {
  kind: SpanStart['kind'];
  failure: SpanFailure | undefined;
}

/** A lab whose tracer notes how spans end, and what histograms observe. */
function setUp() {
  const ended: Ended[] = [];
  const observed: [string, SpanFacts][] = [];
  const tracer: Tracer = {
    handsOnAlways: false,
    current: undefined,
    begin: ({ kind }) => ({
      context: { traceparent: '' },
      end: (_facts, failure) => void ended.push({ kind, failure }),
    }),
    within: (_span, work) => work(),
    observe: (name, _seconds, facts) => void observed.push([name, facts]),
  };
  const requests = new ServerRequests(tracer, { ticks: () => 0 }, 'files');
  const ask = (id: string, session = 'one', isOwn = false) =>
    requests.asked({ id, method: 'sampling/createMessage', params: {}, isOwn }, exchange(session), NETWORKS, undefined);
  const answer = (id: string, session = 'one', outcome = '"result":{}') => {
    const bytes = Buffer.from(`{"jsonrpc":"2.0","id":${id},${outcome}}`);
    requests.answered(exchange(session), parseMessages(bytes))();
  };
  return { requests, ended, observed, ask, answer };
}

function exchange(session: string): Exchange {
  const facts = { ...noFacts(), session };
  return { principal: 'ann', headers: { 'mcp-session-id': session }, facts } as unknown as Exchange;
}

describe('a request of a server', () => {
  it('ends on both sides with the answer of its client', () => {
    const { ended, observed, ask, answer } = setUp();
    ask('1');
    expect(ended).toEqual([]);
    answer('1');
    expect(ended).toEqual([
      { kind: 'client', failure: undefined },
      { kind: 'server', failure: undefined },
    ]);
    expect(observed).toEqual([
      ['mcp.client.operation.duration', expect.objectContaining({ 'network.transport': 'tcp' })],
      ['mcp.server.operation.duration', expect.objectContaining({ 'network.transport': 'pipe' })],
    ]);
  });

  it('that Wharf itself makes has no side of a server', () => {
    const { ended, ask, answer } = setUp();
    ask('1', 'one', true);
    answer('1');
    expect(ended).toEqual([{ kind: 'client', failure: undefined }]);
  });

  it('is answered in its own session: servers count anew in each', () => {
    const { ended, ask, answer } = setUp();
    ask('1', 'one');
    answer('1', 'other');
    expect(ended).toEqual([]);
    answer('1', 'one');
    expect(ended).toHaveLength(2);
  });

  it('is another one where a long id ends differently', () => {
    const { ended, ask, answer } = setUp();
    const [first, second] = ['1', '2'].map((end) => JSON.stringify('x'.repeat(1000) + end)) as [string, string];
    ask(first);
    ask(second);
    expect(ended).toEqual([]);
    answer(first);
    expect(ended).toHaveLength(2);
    answer(second);
    expect(ended.map(({ failure }) => failure)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('ends without an answer when its stream is over, and once', () => {
    const { requests, ended, ask, answer } = setUp();
    const key = ask('1');
    requests.over([key]);
    requests.over([key]);
    answer('1');
    expect(ended.map(({ failure }) => failure)).toEqual([UNANSWERED, UNANSWERED]);
  });

  it(`ends without an answer when ${MOST_OPEN} later ones wait for theirs`, () => {
    const { ended, ask } = setUp();
    for (let id = 0; id < MOST_OPEN; id += 1) ask(String(id));
    expect(ended).toEqual([]);
    ask(String(MOST_OPEN));
    expect(ended.map(({ failure }) => failure)).toEqual([UNANSWERED, UNANSWERED]);
  });

  it('counts by few kinds of errors, whatever code its client sends', () => {
    const { observed, ask, answer } = setUp();
    for (const code of [-32603, 4711]) {
      ask(String(code));
      answer(String(code), 'one', `"error":{"code":${code},"message":"no"}`);
    }
    const types = observed.map(([, facts]) => [facts['error.type'], facts['rpc.response.status_code']]);
    expect(types).toEqual([
      ['-32603', '-32603'],
      ['-32603', '-32603'],
      ['_OTHER', '_OTHER'],
      ['_OTHER', '_OTHER'],
    ]);
  });
});
