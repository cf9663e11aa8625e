import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PIXEL } from '../../helpers/pixel.js';
import { RawClient, type RawMessage } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

/** What the largest file of base64 has in a message of 10 MiB. */
const OCR_MOST = 7_863_549;
const PNG_HEAD = PIXEL.subarray(0, 33);
const NOBODYS = 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA';
const text = { type: 'string' };
const tool = (name: string, properties: Json) => ({ name, inputSchema: { type: 'object', properties } });

interface Offer {
  argument: string;
  maxSize: number;
  accept?: string[];
  file: { uri: string };
  human: { url: string };
}

describe('a call that was meant to hold a file', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  let client: RawClient;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      tools: [
        tool('ocr', { image_base64: text }),
        tool('archive', { file: text, note: text }),
        tool('deep', { doc: { type: 'object', properties: { data: text } } }),
        tool('plain', { note: text }),
      ],
    });
    const image = { encoding: 'base64', accept: ['image/png', 'image/jpeg'] };
    const tools = {
      ocr: { files: { image_base64: image } },
      archive: { files: { file: { encoding: 'httpsUrl' } } },
      deep: { files: { 'doc.data': { encoding: 'base64' } } },
    };
    wharf = await startWharf({
      servers: {
        docs: { url: upstream.url, transport: 'streamable-http', accepts: '10MiB', tools },
        // the same without a tool that takes more
        ocr: { url: upstream.url, transport: 'streamable-http', accepts: '10MiB', tools: { ocr: tools.ocr } },
      },
      config: { clients: [{ match: { name: 'openai-*' }, dialects: ['openai-file-params'] }] },
    });
    client = await RawClient.connect(`${wharf.url}/docs/mcp`);
    await client.request('tools/list');
  });

  afterAll(async () => {
    await wharf?.stop();
    await upstream?.stop();
  });

  function told({ result }: RawMessage): { words: string; offer: Offer; error: Json } {
    expect(result?.isError).toBe(true);
    const meta = (result?._meta ?? {}) as Json;
    const offer = meta['dev.wharf/uploadRequired'] as Offer;
    const words = String(result?.content?.[0]?.text);
    expect(words).toContain(offer.human.url);
    expect(words).toContain(offer.file.uri);
    return { words, offer, error: meta['dev.wharf/fileError'] as Json };
  }

  const put = async (url: string, bytes: Buffer) =>
    (await fetch(url, { method: 'PUT', body: new Uint8Array(bytes) })).status;
  const picture = (size: number) => Buffer.concat([PNG_HEAD, Buffer.alloc(size - PNG_HEAD.length)]);
  const calls = () => upstream.with('tools/call').length;

  it.each([
    ['a path', '/home/me/pic.png'],
    ['a path of Windows', 'C:\\Users\\me\\pic.png'],
    ['a file: address', 'file:///home/me/pic.png'],
    ['an address that is not followed', 'https://example.com/pic.png'],
    ['a name', 'pic.png'],
    ['a handle of no file', NOBODYS],
    ['a handle that broke off', 'mcp-file://wharf/f_AAAA'],
  ])('with %s is answered with a link to upload it', async (_what, image_base64) => {
    const before = calls();
    const { words, offer } = told(await client.call('ocr', { image_base64 }));
    expect(calls()).toBe(before);
    expect(words).toMatch(/^Argument 'image_base64' /);
    expect(words).toContain('An upload takes a file of type image/png, image/jpeg of at most 7.8 MB.');
    expect(offer).toMatchObject({ argument: 'image_base64', maxSize: OCR_MOST, accept: ['image/png', 'image/jpeg'] });
  });

  it('gets a link that takes what the argument takes, and nothing larger', async () => {
    const { offer } = told(await client.call('ocr', { image_base64: '/home/me/pic.png' }));
    const page = await (await fetch(offer.human.url, { headers: { accept: 'text/html' } })).text();
    expect(page).toContain('7.8 MB');
    expect(await put(offer.human.url, picture(12_000_000))).toBe(413);
    expect(await put(offer.human.url, picture(OCR_MOST + 1))).toBe(413);
    expect(await put(offer.human.url, Buffer.from('%PDF-1.7\n'))).toBe(415);
    expect(await put(offer.human.url, picture(OCR_MOST))).toBe(201);
    const { result } = await client.call('ocr', { image_base64: offer.file.uri });
    expect(result?.isError).toBeUndefined();
    expect(String(upstream.lastArguments.image_base64)).toHaveLength(Math.ceil(OCR_MOST / 3) * 4);
  });

  it('gets as much from the tool that asks for an upload', async () => {
    const only = await RawClient.connect(`${wharf.url}/ocr/mcp`);
    const ask = async (of: RawClient, args: Json) => {
      const { result } = await of.call('request_file_upload', args);
      return { words: String(result?.content?.[0]?.text), offered: result?.structuredContent as Json };
    };
    const some = await ask(only, { name: 'pic.png' });
    expect(some.words).toMatch(/^A link to upload one file of at most 7\.8 MB\./);
    expect(some.offered.maxSize).toBe(OCR_MOST);
    expect(await put(String(some.offered.page), picture(12_000_000))).toBe(413);
    // some tool takes more: by its name it can be told which is meant
    expect((await ask(client, {})).offered.maxSize).toBe(100 * 1024 * 1024);
    const named = await ask(client, { tool: 'ocr' });
    expect(named.words).toMatch(/^A link .* of type image\/png, image\/jpeg of at most 7\.8 MB\./);
    expect(named.offered.maxSize).toBe(OCR_MOST);
    expect(await put(String(named.offered.page), Buffer.from('%PDF-1.7\n'))).toBe(415);
    const { words } = await ask(client, { tool: 'plain' });
    expect(words).toContain("the tool 'plain' takes no uploads; those of this server that do: archive, deep, ocr");
  });

  /** As the official SDKs send it: the id comes last. */
  async function idLast(of: RawClient, name: string, args: Json, more: Json = {}) {
    const call = { method: 'tools/call', params: { ...more, name, arguments: args }, jsonrpc: '2.0', id: 'the-last' };
    const answer = await of.post(call, more._meta ? { 'mcp-method': 'tools/call', 'mcp-name': name } : {});
    return { answer, message: answer.messages[0] as RawMessage & { id: unknown } };
  }

  const large = picture(5_900_000).toString('base64');

  it.each([
    ['base64', large],
    ['a data: URI', `data:image/png;base64,${large}`],
    ['an image copied whole', { type: 'image', mimeType: 'image/png', data: large }],
  ])('inside it, too large as %s, is told how to upload it', async (_what, image_base64) => {
    const before = calls();
    const { answer, message } = await idLast(client, 'ocr', { image_base64 });
    expect([answer.status, message.id]).toEqual([200, 'the-last']);
    const { words, offer, error } = told(message);
    expect(words).toMatch(/is a file of 5\.9 MB, and at most 4\.1 MB may be inside a call: upload it/);
    expect(error).toEqual({
      reason: 'maxSizeExceeded',
      argument: 'image_base64',
      maxSize: 4_194_304,
      actualSize: 5_900_000,
    });
    expect(offer.maxSize).toBe(OCR_MOST);
    expect(calls()).toBe(before);
  });

  it('inside it, larger than the tool takes at all, is told that', async () => {
    const { message } = await idLast(client, 'ocr', { image_base64: picture(9_000_000).toString('base64') });
    expect(message.result).toMatchObject({ isError: true });
    expect(String(message.result?.content?.[0]?.text)).toMatch(/of 9 MB, and this tool takes files of at most 7\.8 MB/);
    expect(message.result?._meta).not.toHaveProperty('dev.wharf/uploadRequired');
  });

  it('inside it, too large below an object, or under a lifted name', async () => {
    expect(told((await idLast(client, 'deep', { doc: { data: large } })).message).offer.argument).toBe('doc.data');
    const lifting = await RawClient.connect(`${wharf.url}/docs/mcp`, '2025-06-18', { name: 'openai-mcp' });
    const { message } = await idLast(lifting, 'deep', { doc_data: large });
    expect(told(message).offer.argument).toBe('doc_data');
  });

  it('inside it, too large for a client without sessions', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const stateless = RawClient.stateless(`${wharf.url}/docs/mcp`, '2026-07-28', {});
    const { message } = await idLast(stateless, 'ocr', { image_base64: large }, { _meta: meta });
    expect(message.result).toMatchObject({ resultType: 'complete' });
    told(message);
  });

  it('in the words of a client of the early revisions (2356-27)', async () => {
    const about = { capabilities: { fileInputs: {} } };
    const early = await RawClient.connect(`${wharf.url}/docs/mcp`, '2025-06-18', about);
    const { message } = await idLast(early, 'ocr', { image_base64: large });
    expect(message.error).toMatchObject({
      code: -32602,
      data: { reason: 'file_too_large', argument: 'image_base64', maxSize: 4_194_304, receivedSize: 5_900_000 },
    });
  });

  it.each([
    ['plain', 'note'],
    ['archive', 'note'],
    ['request_file_upload', 'name'],
  ])('where %s takes no file in %s, what is too long is refused as before', async (name, argument) => {
    const before = calls();
    const { answer, message } = await idLast(client, name, { [argument]: large });
    expect(message).toMatchObject({ id: 'the-last', error: { code: -32602, data: { code: 'argument_too_large' } } });
    expect(answer.text.length).toBeLessThan(2000);
    expect(calls()).toBe(before);
  });
});
