import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.js';
import { RawClient } from '../helpers/raw-client.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

/** Milliseconds: far below `timeouts.idle`, and far above what a busy machine takes. */
const AT_ONCE_MS = 20_000;

const HEADS = {
  json: 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
  sse: 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
  bytes: 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n',
  gzip: 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n',
};

/** What node's parser refuses after the head. */
const CHUNKS = {
  'a size that is none': 'zz\r\n',
  'an extension of 20 kB': `5;${'x'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`,
};

const CASES = Object.entries(HEADS).flatMap(([kind, head]) =>
  Object.entries(CHUNKS).map(([what, chunk]) => [kind, what, head + chunk] as const),
);

describe('an answer whose head and broken chunk come in one packet', () => {
  let fake: FakeUpstream;
  let wharf: Wharf;

  beforeEach(async () => {
    fake = await startFakeUpstream();
    wharf = await startWharf({ servers: { one: { url: fake.url, transport: 'streamable-http' } } });
  });
  afterEach(async () => {
    await wharf.stop();
    await fake.close();
  });

  it.each(CASES)('ends at once: %s, %s', async (_kind, _what, raw) => {
    const client = await RawClient.connect(wharf.mcp);
    const message = { jsonrpc: '2.0', id: 7, method: 'prompts/list' };
    fake.queue.push({ raw });
    const asked = client.post(message).then(({ messages }) => messages[0]?.error?.data?.code);
    const code = await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, AT_ONCE_MS, 'silence'))]);
    expect(code).toBe('upstream_closed');
  });

  it('ends at once when it answers a request of Wharf’s own', async () => {
    const client = await RawClient.connect(wharf.mcp);
    fake.respond = ({ body }) =>
      body.includes('"tools/list"') && body.includes('wharf-') ? { raw: `${HEADS.json}zz\r\n` } : undefined;
    const called = client.call('echo', { message: 'hello' });
    const silence = new Promise((resolve) => setTimeout(resolve, AT_ONCE_MS, 'silence'));
    expect(await Promise.race([called, silence])).not.toBe('silence');
  });
});

describe('an event stream of legacy SSE whose head and broken chunk come in one packet', () => {
  it.each([
    ['before the endpoint', ''],
    ['after the endpoint', '22\r\nevent: endpoint\ndata: /message?x=1\n\n\r\n'],
  ])('gives an error at once: %s', async (_where, before) => {
    const fake = await startFakeUpstream({ transport: 'legacy-sse' });
    const wharf = await startWharf({ servers: { one: { url: fake.url, transport: 'legacy-sse' } } });
    try {
      fake.respond = ({ method }) => (method === 'GET' ? { raw: `${HEADS.sse}${before}zz\r\n` } : { status: 202 });
      const asked = RawClient.stateless(wharf.mcp, '2025-06-18').post({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
      });
      const answer = await Promise.race([
        asked,
        new Promise<undefined>((resolve) => setTimeout(resolve, AT_ONCE_MS, undefined)),
      ]);
      expect(answer?.messages[0]?.error?.data?.code).toBe('upstream_closed');
    } finally {
      await wharf.stop();
      await fake.close();
    }
  });
});
