import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash, sha256 } from '../../helpers/bytes.js';
import { backToNow, later } from '../../helpers/later.js';
import { RawClient } from '../../helpers/raw-client.js';
import {
  ANY,
  BIG,
  blob,
  bytesOf,
  errorOf,
  F1,
  F6,
  JSON_ONLY,
  type Json,
  type Lab,
  resultOf,
  rpc,
  STATELESS,
  startLab,
  stream,
} from './sep-2532-lab.js';

const DECLARED = { resourceStreaming: {} };
const KEYS = { ann: 'key-of-ann-0123456789', bob: 'key-of-bob-0123456789' };
const auth = {
  use: 'apiKeys',
  keys: Object.entries(KEYS).map(([name, key]) => ({
    name,
    hash: keyHash(key),
  })),
};
const TOOL_IMAGE = { type: 'audio', mimeType: 'audio/wav', data: BIG.toString('base64') };

const RESOURCES = {
  'docs://a.json': blob('docs://a.json', F6, 'application/json'),
  'docs://big': { contents: [{ uri: 'docs://big', blob: BIG.toString('base64'), mimeType: 'application/pdf' }] },
};

afterEach(backToNow);

describe('links and handles', () => {
  let lab: Lab;
  const as = (name: keyof typeof KEYS, version = '2025-11-25') => {
    const about = { capabilities: DECLARED, headers: { authorization: `Bearer ${KEYS[name]}` } };
    return version === STATELESS
      ? Promise.resolve(RawClient.stateless(lab.wharf.mcp, version, about))
      : RawClient.connect(lab.wharf.mcp, version, about);
  };
  const linkFor = async (uri: string) =>
    String((await resultOf(await stream(await as('ann'), uri, JSON_ONLY))).downloadUrl);

  beforeAll(async () => {
    lab = await startLab({
      resources: RESOURCES,
      methods: { 'tools/call': () => ({ content: [TOOL_IMAGE] }) },
      config: { auth, limits: { inlineResource: '64KiB' } },
    });
  });
  afterAll(() => lab.close());

  it('a link is a right of its own, over https but on loopback (2532-30, 2532-33)', async () => {
    const url = await linkFor('docs://a.json');
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/d\/[\w-]{22,}$/);
    expect(await bytesOf(await fetch(url))).toEqual(F6);
  });

  it('which ends (2532-32)', async () => {
    const brief = await startLab({ resources: RESOURCES, config: { links: { ttl: '1s' } } });
    const { downloadUrl } = await resultOf(await stream(await brief.client(), 'docs://a.json', JSON_ONLY));
    const until = Date.now() + 60_000;
    let status = 200;
    while (status === 200 && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      ({ status } = await fetch(String(downloadUrl)));
    }
    expect(status).toBe(410);
    await brief.close();
  });

  it('the bytes themselves stand in no message (2532-23)', async () => {
    const response = await stream(await as('ann'), 'docs://big', JSON_ONLY);
    const text = await response.text();
    expect(text.length).toBeLessThan(1000);
    expect(text).not.toContain(BIG.toString('base64', 0, 30));
  });

  it('the link says whose content it is (2532-34)', async () => {
    const response = await fetch(await linkFor('docs://a.json'));
    expect(response.headers.get('mcp-resource-uri')).toBe('docs://a.json');
  });

  it('nothing on the way stores, sniffs or compresses what the link gives, whole or in part (2532-58, 2532-59)', async () => {
    const url = await linkFor('docs://a.json');
    for (const range of ['', 'bytes=2-5']) {
      const headers = { 'accept-encoding': 'gzip', ...(range && { range }) };
      const response = await fetch(url, { headers });
      expect(response.status).toBe(range ? 206 : 200);
      expect(response.headers.get('cache-control')).toBe('no-store, no-transform');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('content-encoding')).toBeNull();
    }
  });

  it('ranges, HEAD and what is not there (2532-42, 2532-43, 2532-64)', async () => {
    const url = await linkFor('docs://a.json');
    const part = await fetch(url, { headers: { range: 'bytes=2-5' } });
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 2-5/7', 'a":1']);
    const tail = await fetch(url, { headers: { range: 'bytes=-3' } });
    expect([tail.status, await tail.text()]).toEqual([206, ':1}']);
    expect((await fetch(url, { headers: { range: 'bytes=9-' } })).status).toBe(416);
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), head.headers.get('accept-ranges')]).toEqual([
      200,
      '7',
      'bytes',
    ]);
    expect(await bytesOf(await fetch(url))).toEqual(F6);
    expect((await fetch(`${url.slice(0, -4)}AAAA`)).status).toBe(404);
  });

  it('what is too long to be held waits in the store until its type is known (2532-13)', async () => {
    const response = await stream(await as('ann'), 'docs://big');
    expect(response.headers.get('content-type')).toBe('application/pdf');
    expect(response.headers.get('content-length')).toBe(String(BIG.length));
    expect(sha256(await bytesOf(response))).toBe(sha256(BIG));
    expect(sha256(await bytesOf(await fetch(await linkFor('docs://big'))))).toBe(sha256(BIG));
  });

  it('a file of a tool is a resource that streams (BR-09)', async () => {
    const ann = await as('ann');
    const { result } = await ann.call('record');
    const link = result?.content?.find(({ type }) => type === 'resource_link') as Json;
    expect(link).toMatchObject({ streamable: true, size: BIG.length, mimeType: 'audio/wav' });
    expect(link.uri).toMatch(/^mcp-file:\/\/wharf\/f_/);
    expect(result?.content?.[0]?.text).toContain(String(link.uri));
    const before = lab.asked('resources/read').length;
    const response = await stream(ann, String(link.uri));
    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect(response.headers.get('etag')).toBeTruthy();
    expect(sha256(await bytesOf(response))).toBe(sha256(BIG));
    expect(lab.asked('resources/read')).toHaveLength(before);
  });

  it("another principal's file is as unknown as one that never was (2532-31)", async () => {
    const { result } = await (await as('ann')).call('record');
    const link = result?.content?.find(({ type }) => type === 'resource_link') as Json;
    const bob = await as('bob');
    const foreign = await errorOf(await stream(bob, String(link.uri)));
    const never = await errorOf(await stream(bob, 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA'));
    expect(foreign.code).toBe(-32002);
    expect({ ...foreign, data: { ...foreign.data, uri: '' } }).toEqual({ ...never, data: { ...never.data, uri: '' } });
  });

  it('of a file that has expired, the error says so, as resources/read does', async () => {
    const short = await startLab({
      methods: { 'tools/call': () => ({ content: [TOOL_IMAGE] }) },
      config: { retention: '1m' },
    });
    const client = await short.client();
    const { result } = await client.call('record');
    const link = result?.content?.find(({ type }) => type === 'resource_link') as Json;
    const uri = String(link.uri);
    later(2 * 60_000);
    const { error } = await client.request('resources/read', { uri });
    const { code, message } = await errorOf(await stream(client, uri));
    expect(code).toBe(-32002);
    expect(message).toBe('The file has expired. Run the tool that gave it, or upload it, again.');
    expect(error?.message).toContain(message);
    await short.close();
  });

  it('a handle of another gateway is a URI of the server', async () => {
    await stream(await as('ann'), 'mcp-file://other/f_AAAAAAAAAAAAAAAAAAAAAA');
    expect(lab.asked('resources/read').at(-1)?.params).toEqual({ uri: 'mcp-file://other/f_AAAAAAAAAAAAAAAAAAAAAA' });
  });

  it('neither link nor key is logged (2532-58, BASE-14)', async () => {
    const url = await linkFor('docs://a.json');
    expect(lab.wharf.logged()).not.toContain(new URL(url).pathname.slice(3));
    expect(lab.wharf.logged()).not.toContain(KEYS.ann);
  });
});

describe('batches', () => {
  it('a stream in a batch becomes a link, an error its error, and other bytes stay (2532-50)', async () => {
    const lab = await startLab({ resources: RESOURCES });
    const scripted = lab.upstream.respond;
    lab.upstream.respond = (request) => {
      if (request.method !== 'POST' || !request.body.toString().startsWith('[')) return scripted?.(request);
      const messages = JSON.parse(request.body.toString()) as Json[];
      const answers = messages.map((message) =>
        message.method === 'ping'
          ? `{"result":{"n":1e400},"jsonrpc":"2.0","id":${JSON.stringify(message.id)}}`
          : String(scripted?.({ ...request, body: Buffer.from(JSON.stringify(message)) })?.body),
      );
      return { contentType: 'application/json', body: `[${answers.join(',')}]` };
    };
    const client = await lab.client('2025-03-26');
    const batch = (methods: [string, unknown][]) => [
      { jsonrpc: '2.0', id: 'p', method: 'ping' },
      ...methods.map(([uri, id]) => ({ jsonrpc: '2.0', id, method: 'resources/stream', params: { uri, extra: 1 } })),
    ];
    const answer = await client.post(
      batch([
        ['docs://big', 'a'],
        ['docs://none', 'b'],
        ['docs://a.json', 'c'],
      ]),
      ANY,
    );
    expect(answer.text).toContain('{"n":1e400}');
    const byId = (id: string) => JSON.parse(answer.text.replace('1e400', '0')).find((one: Json) => one.id === id);
    expect(sha256(await bytesOf(await fetch(byId('a').result.downloadUrl)))).toBe(sha256(BIG));
    expect(byId('b').error).toMatchObject({ code: -32002, data: { uri: 'docs://none' } });
    expect(byId('c').result).toMatchObject({ size: F6.length, mimeType: 'application/json' });
    const sent = JSON.parse(lab.upstream.requests.at(-1)?.body.toString() ?? '') as Json[];
    expect(sent[1]).toEqual({ jsonrpc: '2.0', id: 'a', method: 'resources/read', params: { uri: 'docs://big' } });

    const plain = await lab.plain('2025-03-26');
    const refused = await plain.post(batch([['docs://a.json', 'a']]), ANY);
    expect(refused.text).not.toContain(F1.toString('base64'));
    expect(refused.messages.some(({ result }) => result?.downloadUrl !== undefined)).toBe(false);
    await lab.close();
  });

  it('an answer that is a batch of one is understood', async () => {
    const lab = await startLab({
      resources: {
        'docs://x': (message) => {
          const { body } = rpc(message, { result: { contents: [{ uri: 'docs://x', blob: F1.toString('base64') }] } });
          return { contentType: 'application/json', body: `[${String(body)}]` };
        },
      },
    });
    expect(await bytesOf(await stream(await lab.client(), 'docs://x'))).toEqual(F1);
    await lab.close();
  });
});
