import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { RawClient } from '../../helpers/raw-client.js';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

let fake: FakeUpstream;
let wharf: Wharf;
let client: RawClient;

beforeAll(async () => {
  fake = await startFakeUpstream({ transport: 'sse', session: true });
  wharf = await startWharf({ servers: { fake: { url: fake.url, transport: 'streamable-http' } } });
  client = await RawClient.connect(wharf.mcp, '2025-11-25');
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
});

beforeEach(() => {
  fake.queue.length = 0;
});

const CALL = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{}}}';
const RESULT = '{"jsonrpc":"2.0","id":7,"result":{"content":[]}}';

function sse(body: string, more: object = {}) {
  fake.queue.push({ contentType: 'text/event-stream', framing: 'chunked', body, ...more });
}

async function open(method: 'POST' | 'GET', headers: Record<string, string> = {}): Promise<Response> {
  const init = method === 'POST' ? { body: CALL, 'content-type': 'application/json' } : {};
  return fetch(wharf.mcp, {
    method,
    headers: { ...client.headers(), 'content-type': 'application/json', ...headers },
    ...('body' in init ? { body: init.body as string } : {}),
  });
}

describe('an event stream', () => {
  it('keeps ids, event names, retries, priming events and order', async () => {
    sse(
      `id: p-1\nretry: 100\ndata:\n\nevent: message\nid: p-2\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\nid: p-3\ndata: ${RESULT}\n\n`,
    );
    const text = await (await open('POST')).text();
    const frames = text.split('\n\n').filter(Boolean);
    expect(frames).toHaveLength(3);
    expect(frames[0]).toMatch(/id: p-1/);
    expect(frames[0]).toMatch(/retry: 100/);
    expect(frames[0]).toMatch(/^data:\s*$/m);
    expect(frames[1]).toMatch(/event: message\nid: p-2\ndata: \{/);
    expect(frames[2]).toBe(`id: p-3\ndata: ${RESULT}`);
  });

  it.each([
    ['CR', '\r'],
    ['CRLF', '\r\n'],
  ])('with %s line ends is read by the same rules', async (_name, eol) => {
    sse([`: ping`, `id: 1`, `data: ${RESULT}`, '', ''].join(eol));
    expect(await (await open('POST')).text()).toContain(`id: 1\ndata: ${RESULT}\n\n`);
  });

  it('brings a frame before the stream ends', async () => {
    const first =
      'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}\n\n';
    sse(first, { framing: 'chunked', cut: 'stall' });
    const response = await open('POST');
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();
    expect(Buffer.from(value ?? []).toString()).toBe(first);
    await reader.cancel();
  });

  it('that breaks off after event ids is broken off for the client too, so that it resumes', async () => {
    sse(`id: e-1\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\nid: e-2\ndata: {"jsonr`, {
      cutAfter: 100,
      cut: 'rst',
    });
    const response = await open('POST');
    await expect(response.text()).rejects.toThrow();
    sse(`id: e-3\ndata: ${RESULT}\n\n`);
    const resumed = await open('GET', { accept: 'text/event-stream', 'last-event-id': 'e-1' });
    expect(await resumed.text()).toBe(`id: e-3\ndata: ${RESULT}\n\n`);
    expect(fake.requests.at(-1)?.headers['last-event-id']).toBe('e-1');
  });

  it('that breaks off without ids gives each open request an error', async () => {
    sse(`data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\ndata: {"jsonr`, {
      cutAfter: 90,
      cut: 'rst',
    });
    expect(await (await open('POST')).text()).toMatch(/"id":7,"error":\{"code":-32603,.*upstream_closed/);
  });

  it('that came in one piece with its length, but without an answer, ends with an error too', async () => {
    for (const body of [': nothing\n\n', 'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n']) {
      sse(body, { framing: 'length' });
      const text = await (await open('POST')).text();
      expect(text).toContain(body);
      expect(text).toMatch(/"id":7,"error":\{"code":-32603,.*upstream_closed/);
    }
  });

  it('that answers one of two requests, and has a length, ends with an error for the other', async () => {
    const batcher = await RawClient.connect(wharf.mcp, '2025-03-26');
    sse(`data: ${RESULT}\n\n`, { framing: 'length' });
    const { messages } = await batcher.post(`[${CALL},${CALL.replace('"id":7', '"id":8')}]`);
    expect(messages).toEqual([
      JSON.parse(RESULT),
      expect.objectContaining({ id: 8, error: expect.objectContaining({ code: -32603 }) }),
    ]);
  });

  it('that ends without an answer gives an error, too', async () => {
    sse(`data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n`);
    expect(await (await open('POST')).text()).toMatch(/"id":7,"error":/);
  });

  it('in one packet passes with its length, and one without an answer there gives an error, too', async () => {
    const packet = (body: string) =>
      `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n` +
      `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const whole = `event: message\ndata: ${RESULT}\n\n`;
    fake.queue.push({ raw: packet(whole) });
    const answer = await open('POST');
    expect(answer.headers.get('content-length')).toBe(String(whole.length));
    expect(await answer.text()).toBe(whole);
    fake.queue.push({ raw: packet('data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n') });
    expect(await (await open('POST')).text()).toMatch(/"id":7,"error":/);
  });

  it('that ends after a priming event is left to the client to poll (SEP-1699)', async () => {
    sse('id: q-1\ndata:\n\nretry: 50\n\n');
    const text = await (await open('POST')).text();
    expect(text).toContain('id: q-1');
    expect(text).not.toContain('error');
  });
});

describe('an answer on a resumed stream', () => {
  const image = noisePng(500).toString('base64');
  const result = JSON.stringify({
    content: [{ type: 'image', data: image, mimeType: 'image/png' }],
    structuredContent: { shot: image },
  });
  const handlesIn = (text: string) => new Set(text.match(/mcp-file:\/\/[\w/-]+/g));
  const resume = async (): Promise<string> => (await open('GET', { 'last-event-id': 'r-1' })).text();

  it.each([
    ['was ended', { body: 'id: r-1\nretry: 10\ndata:\n\n' }],
    ['broke off', { body: `id: r-1\ndata:\n\nid: r-2\ndata: ${RESULT}\n\n`, cutAfter: 40, cut: 'rst' }],
  ])('is what it would have been on the one that %s', async (_how, { body, ...more }) => {
    const params = { name: 'echo', arguments: { path: '/tmp/harbour.png' } };
    sse(body, more);
    const post = fetch(wharf.mcp, {
      method: 'POST',
      headers: { ...client.headers(), 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 8, method: 'tools/call', params }),
    });
    await post.then((response) => response.text()).catch(() => undefined);
    sse(`id: r-3\ndata: {"jsonrpc":"2.0","id":8,"result":${result}}\n\n`);
    const answer = await resume();
    expect(answer).toContain('"name":"harbour.png"');
    expect(answer).not.toContain(image.slice(1000, 2000));
    // the client may have lost that too, and asks again
    sse(`id: r-3\ndata: {"jsonrpc":"2.0","id":8,"result":${result}}\n\n`);
    const again = await resume();
    expect(again).not.toContain(image.slice(1000, 2000));
    expect(handlesIn(again)).toEqual(handlesIn(answer));
  });

  it('is what it was on the stream that its client has lost after it, with the same file', async () => {
    const params = { name: 'echo', arguments: { path: '/tmp/quay.png' } };
    sse(`id: s-1\ndata:\n\nid: s-2\ndata: {"jsonrpc":"2.0","id":9,"result":${result}}\n\n`);
    const { text } = await client.post({ jsonrpc: '2.0', id: 9, method: 'tools/call', params });
    for (let count = 0; count < 3; count++) {
      sse(`id: s-2\ndata: {"jsonrpc":"2.0","id":9,"result":${result}}\n\n`);
      const answer = await resume();
      expect(answer).toContain('"name":"quay.png"');
      expect(answer).not.toContain(image.slice(1000, 2000));
      expect(handlesIn(answer)).toEqual(handlesIn(text));
    }
  });

  it('has the same file also where its request is not known, as at another replica', async () => {
    const params = { name: 'echo', arguments: { path: '/tmp/pier.png' } };
    sse(`id: u-1\ndata: {"jsonrpc":"2.0","id":20,"result":${result}}\n\n`);
    const { text } = await client.post({ jsonrpc: '2.0', id: 20, method: 'tools/call', params });
    sse(`id: u-1\ndata: {"jsonrpc":"2.0","id":21,"result":${result}}\n\n`);
    const answer = await resume();
    expect(handlesIn(answer)).toEqual(handlesIn(text));
    expect(answer).toContain('"name":"pier.png"');
  });

  it('has no file of a type that a tool may not return, where it is not known which tool has returned it', async () => {
    const tools = { echo: { limits: { acceptResults: ['image/jpeg'] } } };
    const strict = await startWharf({ servers: { fake: { url: fake.url, transport: 'streamable-http', tools } } });
    const own = await RawClient.connect(strict.mcp, '2025-11-25');
    const params = { name: 'echo', arguments: {} };
    sse(`id: v-1\ndata: {"jsonrpc":"2.0","id":30,"result":${result}}\n\n`);
    const texts = [(await own.post({ jsonrpc: '2.0', id: 30, method: 'tools/call', params })).text];
    for (const id of [30, 31]) {
      sse(`id: v-1\ndata: {"jsonrpc":"2.0","id":${id},"result":${result}}\n\n`);
      const headers = { ...own.headers(), accept: 'text/event-stream', 'last-event-id': 'v-0' };
      texts.push(await (await fetch(strict.mcp, { headers })).text());
    }
    for (const shown of texts) {
      expect(shown).toContain('image/jpeg');
      expect(shown).not.toMatch(/mcp-file:|\/d\//);
      expect(shown).not.toContain(image.slice(1000, 2000));
    }
    await strict.stop();
  });

  it('that lists tools shows no more than at first, whether or not its request is known', async () => {
    const list = '{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"drop","inputSchema":{}}]}';
    const restricted = await startWharf({
      servers: { fake: { url: fake.url, transport: 'streamable-http', tools: { echo: { name: 'say' } } } },
      config: { auth: { use: 'apiKeys', keys: [{ name: 'ada', hash: keyHash('a-key'), tools: ['fake.echo'] }] } },
    });
    const own = await RawClient.connect(restricted.mcp, '2025-11-25', { headers: { authorization: 'Bearer a-key' } });
    sse(`id: t-1\ndata: {"jsonrpc":"2.0","id":10,"result":${list}}\n\n`);
    const { text } = await own.post({ jsonrpc: '2.0', id: 10, method: 'tools/list' });
    const texts = [text];
    for (const id of [10, 11]) {
      sse(`id: t-1\ndata: {"jsonrpc":"2.0","id":${id},"result":${list}}\n\n`);
      const headers = { ...own.headers(), accept: 'text/event-stream', 'last-event-id': 't-0' };
      texts.push(await (await fetch(restricted.mcp, { headers })).text());
    }
    for (const shown of texts) {
      expect(shown).toContain('"name":"say"');
      expect(shown).not.toContain('drop');
    }
    await restricted.stop();
  });
});

describe('the GET stream', () => {
  it('carries the server’s own requests, and the answers go back by POST', async () => {
    sse('id: g-1\ndata: {"jsonrpc":"2.0","id":0,"method":"roots/list"}\n\n', { cutAfter: 5000, cut: 'stall' });
    const response = await open('GET', { accept: 'text/event-stream' });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toContain('"id":0,"method":"roots/list"');
    fake.queue.push({ status: 202 });
    const answer = await client.post('{"jsonrpc":"2.0","id":0,"result":{"roots":[]}}');
    expect(answer.status).toBe(202);
    expect(fake.requests.at(-1)?.body.toString()).toBe('{"jsonrpc":"2.0","id":0,"result":{"roots":[]}}');
    await reader.cancel();
  });

  it('that the upstream does not offer is refused as the upstream does', async () => {
    fake.queue.push({ status: 405, headers: { allow: 'POST' } });
    expect((await open('GET', { accept: 'text/event-stream' })).status).toBe(405);
  });
});
