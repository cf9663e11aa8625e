import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256 } from '../../helpers/bytes.js';
import { startFakeUpstream } from '../../helpers/fake-upstream.js';
import { PIXEL } from '../../helpers/pixel.js';
import { RawClient } from '../../helpers/raw-client.js';
import { startWharf } from '../../helpers/wharf.js';
import { type Lab, lab } from './recording-lab.js';

const PNG = PIXEL.toString('base64');

const OCR = {
  name: 'ocr_image',
  inputSchema: {
    type: 'object',
    properties: {
      image_base64: { type: 'string', description: 'Base64 of a PNG or JPEG' },
      filename: { type: 'string' },
      lang: { type: 'string', default: 'en' },
    },
    required: ['image_base64'],
  },
};

describe('a legacy base64 argument that the operator configured', () => {
  let ocr: Lab;
  let client: RawClient;

  beforeAll(async () => {
    const files = {
      image_base64: { encoding: 'base64', accept: ['image/png', 'image/jpeg'], maxSize: '5MiB', name: 'filename' },
    };
    ocr = await lab([OCR], { server: { accepts: '10MiB', tools: { ocr_image: { files } } } });
    ({ client } = ocr);
  });

  afterAll(() => ocr?.stop());

  const call = (args: Record<string, unknown>) => client.request('tools/call', { name: 'ocr_image', arguments: args });

  it('is shown as a string that takes a file, and says how', async () => {
    const { result } = await client.request('tools/list');
    const tools = result?.tools as
      | { name: string; inputSchema: { properties: Record<string, Record<string, unknown>> } }[]
      | undefined;
    expect(tools?.map(({ name }) => name)).toEqual(['ocr_image', 'request_file_upload', 'get_file_link']);
    const tool = tools?.[0];
    expect(tool?.inputSchema.properties.image_base64).toMatchObject({ type: 'string' });
    expect(tool?.inputSchema.properties.image_base64?.description).toMatch(
      /^Base64 of a PNG or JPEG\. A file of type image\/png/,
    );
    expect(tool?.inputSchema.properties.lang).toEqual(OCR.inputSchema.properties.lang);
    expect(tool?.inputSchema.properties.filename).toEqual({
      type: 'string',
      description: "Filled automatically with the file's name, unless given.",
    });
  });

  it('takes a data: URI, and the server gets base64', async () => {
    expect(
      await ocr.sent('ocr_image', { image_base64: `data:image/png;name=a.png;base64,${PNG}`, lang: 'de' }),
    ).toEqual({ filename: 'a.png', image_base64: PNG, lang: 'de' });
  });

  it('takes raw base64 as it always did, without inventing a name', async () => {
    expect(await ocr.sent('ocr_image', { image_base64: PNG })).toEqual({ image_base64: PNG });
  });

  it("lets the caller's own companion win", async () => {
    expect(
      await ocr.sent('ocr_image', { image_base64: `data:image/png;name=a.png;base64,${PNG}`, filename: 'b.png' }),
    ).toEqual({ image_base64: PNG, filename: 'b.png' });
  });

  it.each([
    ['another type', `data:text/plain,hello`, 'mimeTypeNotAccepted'],
    ['a path', '/etc/passwd', 'schemeNotAllowed'],
    ['an address', 'https://example.com/a.png', 'schemeNotAllowed'],
    ['a handle of no file', 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA', 'fileNotFound'],
    ['a handle of another gateway', 'mcp-file://other/f_AAAAAAAAAAAAAAAAAAAAAA', 'fileNotFound'],
  ])('refuses %s before the server is asked', async (_what, value, reason) => {
    const before = ocr.upstream.with('tools/call').length;
    const { result } = await call({ image_base64: value });
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'dev.wharf/fileError': { reason, argument: 'image_base64' } },
    });
    expect(ocr.upstream.with('tools/call')).toHaveLength(before);
  });

  it('takes a body larger than limits.message when what makes it large is a file', async () => {
    const image = Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.alloc(3_900_000)]);
    await call({ image_base64: `data:image/png;base64,${image.toString('base64')}` });
    const sent = Buffer.from(String(ocr.upstream.lastArguments.image_base64), 'base64');
    expect(sha256(sent)).toBe(sha256(image));
  });

  it('refuses a body that is larger than limits.message without its files', async () => {
    const calls = ocr.upstream.with('tools/call').length;
    const call = (note: string) => ({ name: 'ocr_image', arguments: { image_base64: PNG, note } });
    const sent = (note: string) => client.post({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: call(note) });
    const rest =
      JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: call('') }).length - PNG.length - 2;
    const most = 4 * 1024 * 1024;
    expect((await sent('y '.repeat(most).slice(0, most - rest))).status).toBe(200);
    const answer = await sent('y '.repeat(most).slice(0, most - rest + 1));
    expect([answer.status, answer.messages[0]]).toMatchObject([
      413,
      {
        id: 9,
        error: { data: { code: 'message_too_large', limit: 'limits.message', allowed: most, actual: most + 1 } },
      },
    ]);
    expect(ocr.upstream.with('tools/call')).toHaveLength(calls + 1);
  });

  it('refuses a body larger than limits.message when nothing in it is a file', async () => {
    const answer = await client.post({ jsonrpc: '2.0', id: 9, method: 'ping', params: { x: 'y'.repeat(5_000_000) } });
    expect(answer.status).toBe(413);
  });
});

it('a call that its file made too long for the server hears so, and not the page of a web framework', async () => {
  const page = { status: 413, contentType: 'text/html', body: '<pre>PayloadTooLargeError<br> at readStream</pre>' };
  const fake = await startFakeUpstream();
  fake.respond = ({ body }) => {
    if (body.length > 100_000) return page;
    const { id, method } = JSON.parse(body.toString('utf8') || '{}');
    if (method !== 'tools/list') return undefined;
    return { contentType: 'application/json', body: JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [OCR] } }) };
  };
  const tools = { ocr_image: { files: { image_base64: { encoding: 'base64' } } } };
  const wharf = await startWharf({ servers: { ocr: { url: fake.url, transport: 'streamable-http', tools } } });
  try {
    const client = await RawClient.connect(wharf.mcp);
    const image = Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.alloc(120_000)]);
    const { result = {} } = await client.call('request_file_upload', { tool: 'ocr_image' });
    const { file, page: link } = result.structuredContent as { file: { uri: string }; page: string };
    await fetch(link, { method: 'PUT', body: image });
    const { error } = await client.call('ocr_image', { image_base64: file.uri });
    expect([error?.data, error?.message]).toEqual([
      { code: 'upstream_refused', server: 'ocr', status: 413 },
      expect.stringMatching(/HTTP 413.*servers\.ocr\.accepts/),
    ]);
    // what a client has written itself is between it and the server
    const own = { jsonrpc: '2.0', id: 9, method: 'ping', params: { x: 'y'.repeat(200_000) } };
    expect(await client.post(own)).toMatchObject({ status: 413, text: page.body });
  } finally {
    await wharf.stop();
    await fake.close();
  }
});
