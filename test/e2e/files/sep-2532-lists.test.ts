import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Json, type Lab, STATELESS, startLab } from './sep-2532-lab.js';

const LIST = [
  { uri: 'docs://a.png', name: 'a.png', mimeType: 'image/png', size: 70 },
  { uri: 'docs://b.txt', name: 'b.txt', mimeType: 'text/plain' },
  { uri: 'docs://c.json', name: 'c.json', mimeType: 'application/json' },
  { uri: 'docs://d', name: 'd' },
  { uri: 'docs://e.log', name: 'e.log', mimeType: 'text/plain', size: 50_000_000 },
  { uri: 'docs://f.bin', name: 'f.bin', mimeType: 'application/octet-stream', streamable: false },
  {},
];
const TEMPLATES = [
  { uriTemplate: 'docs://{x}.pdf', name: 'pdfs', mimeType: 'application/pdf' },
  { uriTemplate: 'docs://{x}.md', name: 'texts', mimeType: 'text/markdown', streamable: true },
  { uriTemplate: 'docs://{x}', name: 'any' },
];
/** Spelled as no JSON library would spell it again. */
const ODD =
  '{"resources" : [ {"uri":"docs:\\/\\/x" , "size":1e400,"mimeType":"image\\u002fpng"} ],"nextCursor":"\\u0041"}';

const capabilitiesIn = (message: { result?: Json | undefined } | undefined) =>
  (message?.result?.capabilities ?? {}) as Json;
const flags = (entries: unknown) => (entries as Json[]).map(({ streamable }) => streamable);

describe('what a client is told of streams', () => {
  let lab: Lab;

  beforeAll(async () => {
    lab = await startLab({
      capabilities: { resources: { subscribe: true, listChanged: true }, tools: {} },
      methods: {
        'resources/list': ({ params, id }) =>
          (params as Json).cursor === 'odd'
            ? { contentType: 'application/json', body: `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${ODD}}` }
            : { resources: LIST, cacheScope: 'public', ttlMs: 1000 },
        'resources/templates/list': () => ({ resourceTemplates: TEMPLATES }),
      },
    });
  });
  afterAll(() => lab.close());

  it('the server streams, beside all that it does itself (2532-01, 2532-02)', async () => {
    const client = await lab.client();
    expect(capabilitiesIn(client.opened).resources).toEqual({
      subscribe: true,
      listChanged: true,
      stream: true,
    });
    const stateless = await lab.client(STATELESS);
    const { result } = await stateless.request('server/discover');
    expect(capabilitiesIn({ result }).resources).toMatchObject({ stream: true });
  });

  it('a client is told before it declares anything, and a server without resources streams none (2532-01)', async () => {
    const plain = await lab.plain();
    expect(capabilitiesIn(plain.opened).resources).toEqual({ subscribe: true, listChanged: true, stream: true });
    const bare = await startLab({ capabilities: { tools: {} } });
    expect(capabilitiesIn((await bare.client()).opened).resources).toEqual({});
    await bare.close();
  });

  it.each([{}, { maxStreamSize: 7 }, false])(
    'a server that says %j of streams is shown as one that streams',
    async (own) => {
      const saying = await startLab({ capabilities: { resources: { stream: own } } });
      expect(capabilitiesIn((await saying.client()).opened).resources).toEqual({ stream: true });
      await saying.close();
    },
  );

  it('what is binary or long is marked, and a word of the server stands (2532-07, 2532-08)', async () => {
    const { result } = await (await lab.client()).request('resources/list');
    expect(flags(result?.resources)).toEqual([true, undefined, undefined, undefined, true, false, undefined]);
    expect(((result?.resources ?? []) as Json[]).map(({ streamable: _, ...rest }) => rest)).toEqual(
      LIST.map(({ streamable: _, ...rest }: Json) => rest),
    );
  });

  it('so are templates (2532-09)', async () => {
    const { result } = await (await lab.client()).request('resources/templates/list');
    expect(flags(result?.resourceTemplates)).toEqual([true, true, undefined]);
  });

  it('a client that declares nothing sees the list as it came (2532-07)', async () => {
    const { answer } = await (await lab.plain()).request('resources/list');
    expect(answer.text).toContain(JSON.stringify(LIST));
  });

  it('every byte but the mark is untouched (2532-07)', async () => {
    const client = await lab.client();
    const { answer } = await client.request('resources/list', { cursor: 'odd' });
    expect(answer.text).toContain(ODD.replace('{"uri"', '{"streamable":true,"uri"'));
    const plain = await (await lab.plain()).request('resources/list', { cursor: 'odd' });
    expect(plain.answer.text).toContain(ODD);
  });

  it('a list made for one client is private, and the same each time (BASE-11, BASE-12)', async () => {
    const client = await lab.client(STATELESS);
    const first = await client.request('resources/list');
    const second = await client.request('resources/list');
    expect(first.result).toMatchObject({ cacheScope: 'private', ttlMs: 1000 });
    expect(second.result).toEqual(first.result);
    const plain = await (await lab.plain(STATELESS)).request('resources/list');
    expect(plain.result).toMatchObject({ cacheScope: 'public' });
  });

  it('the server is told what Wharf takes, at most limits.file (2532-04)', async () => {
    await lab.plain();
    expect(lab.asked('initialize').at(-1)).toMatchObject({
      params: { capabilities: { resourceStreaming: { maxStreamSize: 100 * 1024 * 1024 } } },
    });
    await (await lab.plain(STATELESS)).request('server/discover');
    expect(JSON.stringify(lab.asked('server/discover').at(-1))).toContain(
      '"resourceStreaming":{"maxStreamSize":104857600}',
    );
  });
});
