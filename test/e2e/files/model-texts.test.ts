import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { freePorts } from '../../helpers/gateway-process-ports.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noise, noisePng } from '../../helpers/sdk-servers-bytes.js';
import { type Stores, startWharf, type Wharf } from '../../helpers/wharf.js';

interface Listed {
  uri: string;
  url: string;
}

const GIVE = { name: 'give', inputSchema: { type: 'object' } };
const TAKE = {
  name: 'take',
  inputSchema: { type: 'object', properties: { file: { type: 'string', contentEncoding: 'base64' } } },
};
const PUBLIC = { publicUrl: 'https://mcp.example.com', auth: { use: 'none', allowPublic: true } };

let wide: Buffer;
let turned: Buffer;
beforeAll(async () => {
  wide = await sharp(noise(900 * 600 * 3), { raw: { width: 900, height: 600, channels: 3 } })
    .resize(3200, 2000, { fit: 'fill' })
    .jpeg()
    .toBuffer();
  turned = await sharp(wide).withMetadata({ orientation: 6 }).toBuffer();
});

/** What a model reads of a result with one file. */
async function given(client: RawClient, what: string) {
  const { result } = await client.call('give', { what });
  const files = ((result?._meta ?? {}) as Record<string, Listed[]>)['dev.wharf/files'] ?? [];
  const content = result?.content ?? [];
  return { text: String(content[0]?.text), file: files[0] as Listed, content };
}

const linkIn = (text: string) => /^(https?:\/\/\S+)$/m.exec(text)?.[1] ?? '';

describe('what a model reads of a file', () => {
  let upstream: RecordingUpstream;
  const started: Wharf[] = [];

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      methods: {
        'tools/list': (_, { headers }) => ({ tools: headers['x-takes'] ? [GIVE, TAKE] : [GIVE] }),
        'tools/call': ({ arguments: args }) => {
          const { what } = args as { what: string };
          if (what === 'pdf') {
            const blob = Buffer.concat([Buffer.from('%PDF-1.7\n'), noise(100_000)]).toString('base64');
            return {
              content: [{ type: 'resource', resource: { uri: 'a://x.pdf', mimeType: 'application/pdf', blob } }],
            };
          }
          const data = { wide, turned }[what]?.toString('base64') ?? noisePng(600).toString('base64');
          return { content: [{ type: 'image', mimeType: 'image/jpeg', data }] };
        },
      },
    });
  });

  afterAll(async () => {
    for (const wharf of started) await wharf.stop();
    await upstream.stop();
  });

  async function front(config: Record<string, unknown>, takes = false, stores: Stores = 'filesystem+memory') {
    const headers = takes ? { 'x-takes': 'yes' } : {};
    const servers = { s: { url: upstream.url, transport: 'streamable-http', headers } };
    const [port] = await freePorts(1);
    const here = `http://127.0.0.1:${port}`;
    started.push(await startWharf({ servers, stores, config: { ...config, listen: `127.0.0.1:${port}` } }));
    const client = await RawClient.connect(`${here}/mcp`);
    const { result } = await client.request('tools/list');
    const tools = ((result?.tools ?? []) as { name: string }[]).map(({ name }) => name);
    return { here, client, tools };
  }

  it('says of a preview what it is a preview of', async () => {
    const { client } = await front({});
    const { text, content } = await given(client, 'wide');
    const preview = await sharp(Buffer.from(String(content[1]?.data), 'base64')).metadata();
    const { width, height } = preview;
    expect(text).toContain(`The image below is a preview of ${width} × ${height}; the original is 3200 × 2000.`);
    const upright = await given(client, 'turned');
    expect(upright.text).toMatch(/a preview of \d+ × \d+; the original is 2000 × 3200\.$/m);
    expect((await given(client, 'pdf')).text).not.toContain('preview');
  });

  it('has name, type and size, each once', async () => {
    const { client } = await front({}, true);
    const { text, file } = await given(client, 'pdf');
    expect(text.split('\n')[0]).toBe('x.pdf · application/pdf · 100 kB');
    expect(text.match(/100 kB|1000\d\d/g)).toHaveLength(1);
    const { result } = await client.call('get_file_link', { handle: file.uri });
    const again = String(result?.content?.[0]?.text);
    expect(again.split('\n')[0]).toBe('x.pdf · application/pdf · 100 kB');
    const bare = await client.call('get_file_link', { handle: file.uri.slice(file.uri.lastIndexOf('/') + 1) });
    expect(bare.result?.structuredContent).toMatchObject({ uri: file.uri });
    const wrong = await client.call('get_file_link', { handle: linkIn(text) });
    expect(String(wrong.result?.content?.[0]?.text)).toMatch(/holds none\. A handle stands below the link in the text/);
  });

  it('has no handle where nothing takes one, and a link that lasts where only this machine is', async () => {
    const { client, tools } = await front({});
    expect(tools).toEqual(['give']);
    const { text, file } = await given(client, 'pdf');
    expect(text).not.toContain('mcp-file:');
    expect(text).toMatch(/^The user can open the link as long as the file is kept, at least 24 hours\.$/m);
    expect(file.uri).toMatch(/^mcp-file:/);
    expect((await fetch(linkIn(text))).status).toBe(200);
    // nothing else can make one
    const other = linkIn(text).replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'));
    expect((await fetch(other)).status).toBe(404);
  });

  it('has the handle where a tool takes files', async () => {
    const { client, tools } = await front({}, true);
    expect(tools).toEqual(['give', 'take', 'request_file_upload', 'get_file_link']);
    const { text } = await given(client, 'pdf');
    expect(text).toMatch(
      /^Handle: mcp-file:\/\/wharf\/f_\S+ \(pass it to a tool that takes a file; get_file_link renews/m,
    );
  });

  it('has the handle, and a tool that makes a link of it, wherever links die before their files', async () => {
    const { client, tools, here } = await front({ ...PUBLIC, allowedHosts: ['127.0.0.1'] });
    expect(tools).toEqual(['give', 'get_file_link']);
    const { text, file } = await given(client, 'pdf');
    expect(text).toMatch(/^The user can open the link for 15 minutes\.$/m);
    expect(text).toMatch(/^Handle: mcp-file:\/\/wharf\/f_\S+ \(get_file_link renews the link\)$/m);
    const { result } = await client.call('get_file_link', { handle: file.uri });
    const { url } = (result?.structuredContent ?? {}) as { url: string };
    expect((await fetch(url.replace('https://mcp.example.com', here))).status).toBe(200);
  });

  it('has none where the operator has turned the tools off', async () => {
    const { client, tools } = await front({ ...PUBLIC, allowedHosts: ['127.0.0.1'], uploadTool: 'off' });
    expect(tools).toEqual(['give']);
    expect((await given(client, 'pdf')).text).not.toContain('Handle');
  });

  it('is a link that a model can repeat, also where programs get the store’s own', async () => {
    const { client, here } = await front({ ...PUBLIC, allowedHosts: ['127.0.0.1'] }, false, 's3+redis');
    const { text, file, content } = await given(client, 'pdf');
    const link = linkIn(text);
    expect(link).toMatch(/^https:\/\/mcp\.example\.com\/d\/[\w-]{43}$/);
    expect(link.length).toBeLessThanOrEqual(100);
    expect(text).not.toContain('X-Amz');
    expect(file.url).toContain('X-Amz-Signature=');
    expect(content[1]).toMatchObject({ type: 'resource_link', uri: file.url });
    const redirect = await fetch(link.replace('https://mcp.example.com', here), { redirect: 'manual' });
    expect(redirect.status).toBe(302);
    const target = String(redirect.headers.get('location'));
    expect((await fetch(target)).status).toBe(200);
    const { result } = await client.call('get_file_link', { handle: file.uri });
    expect(JSON.stringify(result)).not.toContain('X-Amz');
  });
});
