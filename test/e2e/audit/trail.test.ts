import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { verifyFiles } from '../../../gateway/audit/verify.js';
import { auditLines } from '../../helpers/audit-lines.js';
import { keyHash, sha256Url } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const KEY = 'ada-0123456789';
const PLACES = { image: { type: 'string' }, photo: { type: 'string' } };
const READ = { name: 'read', inputSchema: { type: 'object', properties: PLACES } };

let folder: string;
let path: string;
let camera: FakeUpstream;
let reader: RecordingUpstream;
let shelf: RecordingUpstream;
let wharf: Wharf;
const clients: Client[] = [];

type Line = Record<string, unknown> & { files?: { digest: string }[] };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-trail-'));
  path = join(folder, 'audit.jsonl');
  camera = await startFakeUpstream({ transport: 'json' });
  reader = await RecordingUpstream.start({ tools: [READ], methods: { 'tools/call': () => ({ content: [] }) } });
  const link = { type: 'resource_link', uri: 'doc://report', name: 'report.txt' };
  shelf = await RecordingUpstream.start({
    tools: [{ name: 'find', inputSchema: { type: 'object' } }],
    methods: {
      'tools/call': () => ({ content: [link] }),
      'resources/read': ({ uri }) => ({ contents: [{ uri, mimeType: 'text/plain', text: 'the report' }] }),
    },
  });
  const tools = {
    read: { files: { image: { encoding: 'base64' }, photo: { encoding: 'base64', accept: ['image/png'] } } },
  };
  wharf = await startWharf({
    servers: {
      camera: { url: camera.url },
      shelf: { url: shelf.url },
      ocr: { url: reader.url, tools },
      web: { url: reader.url, tools },
    },
    config: {
      auth: { use: 'apiKeys', keys: [{ name: 'ada', hash: keyHash(KEY) }] },
      audit: { use: 'file', path },
      elicitation: { identity: 'none' },
      handoff: [{ from: 'camera', to: 'web', allow: false }],
    },
  });
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await wharf?.stop();
  await camera?.close();
  await reader?.stop();
  await shelf?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function connect(server: string): Promise<Client> {
  const client = new Client({ name: 'desk', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${KEY}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`/${server}/mcp`, wharf.url), { requestInit }));
  clients.push(client);
  return client;
}

const lines = () => auditLines<Line>(path);

describe('the audit log of one file', () => {
  it('says by its digest where it came from, who fetched it, and to which server it went or might not go', async () => {
    const result = await (await connect('camera')).callTool({
      name: 'blob',
      arguments: { size: 700_000, type: 'image' },
    });
    const [made] =
      (result._meta as Record<string, { uri: string; url: string; digest: string }[]>)['dev.wharf/files'] ?? [];
    const { uri = '', url = '' } = made ?? {};
    await (await fetch(url)).arrayBuffer();
    await (await connect('ocr')).callTool({ name: 'read', arguments: { image: uri } });
    await (await connect('web')).callTool({ name: 'read', arguments: { image: uri } });

    const written = async () =>
      (await lines()).filter(({ what }) => !['config', 'login', 'call'].includes(String(what)));
    // a refusal does not wait for its line
    await until(async () => (await written()).length >= 4);
    const about = await written();
    const who = { principal: 'ada' };
    expect(about).toMatchObject([
      { what: 'file', ...who, from: 'camera', allowed: true, files: [{ size: 700_000, mimeType: 'image/png' }] },
      { what: 'download', ...who, from: 'camera', allowed: true, address: '127.0.0.1' },
      { what: 'handoff', ...who, from: 'camera', to: 'ocr', tool: 'read', allowed: true },
      { what: 'handoff', ...who, from: 'camera', to: 'web', tool: 'read', allowed: false, rule: 'handoff[0]' },
    ]);
    const digests = about.flatMap(({ files = [] }) => files.map(({ digest }) => digest));
    expect(new Set(digests).size).toBe(1);
    expect(digests).toHaveLength(4);
  });

  it('says of a call that was refused for a file which rule or limit did so', async () => {
    const before = (await lines()).length;
    const args = { name: 'blob', arguments: { size: 700_000, type: 'image' } };
    const result = await (await connect('camera')).callTool(args);
    const [made] = (result._meta as Record<string, { uri: string }[]>)['dev.wharf/files'] ?? [];
    const web = await connect('web');
    await web.callTool({ name: 'read', arguments: { image: made?.uri } });
    await web.callTool({ name: 'read', arguments: { photo: 'data:text/plain;base64,SGVsbG8=' } });
    const refused = async () =>
      (await lines()).slice(before).filter(({ what, allowed }) => what === 'call' && allowed === false);
    await until(async () => (await refused()).length >= 2);
    expect(await refused()).toMatchObject([
      { tool: 'read', code: 'file_refused', rule: 'handoff[0]' },
      { tool: 'read', code: 'file_refused', rule: 'accept of the argument' },
    ]);
  });

  it('says that a file is kept which a server had only named, once it is read', async () => {
    const before = (await lines()).length;
    const result = await (await connect('shelf')).callTool({ name: 'find', arguments: {} });
    const [made] = (result._meta as Record<string, { uri: string }[]>)['dev.wharf/files'] ?? [];
    await (await connect('ocr')).callTool({ name: 'read', arguments: { image: made?.uri } });
    const about = (await lines()).slice(before).filter(({ what }) => what === 'file' || what === 'handoff');
    const files = [{ digest: sha256Url('the report'), size: 10, mimeType: 'text/plain' }];
    expect(about).toMatchObject([
      { what: 'file', principal: 'ada', server: 'shelf', from: 'shelf', allowed: true, files },
      { what: 'handoff', principal: 'ada', from: 'shelf', to: 'ocr', allowed: true, files },
    ]);
  });

  it('names the client and its address with each file that a server gives or gets, or may not get', async () => {
    const before = (await lines()).length;
    const args = { name: 'blob', arguments: { size: 700_000, type: 'image' } };
    const result = await (await connect('camera')).callTool(args);
    const [made] = (result._meta as Record<string, { uri: string }[]>)['dev.wharf/files'] ?? [];
    await (await connect('ocr')).callTool({ name: 'read', arguments: { image: made?.uri } });
    await (await connect('web')).callTool({ name: 'read', arguments: { image: made?.uri } });
    const about = async () =>
      (await lines()).slice(before).filter(({ what }) => ['file', 'handoff'].includes(`${what}`));
    // a refusal does not wait for its line
    await until(async () => (await about()).some(({ allowed }) => allowed === false));
    const written = await about();
    expect(written.map(({ what, allowed }) => [what, allowed])).toContainEqual(['file', true]);
    for (const line of written) expect(line).toMatchObject({ client: 'desk', address: '127.0.0.1' });
  });

  it('has uploads, and links that do not work, without their tickets', async () => {
    const before = (await lines()).length;
    const asked = await (await connect('ocr')).callTool({ name: 'request_file_upload', arguments: {} });
    const link = /https?:\S+\/u\/[\w-]+/.exec(JSON.stringify(asked))?.[0] ?? '';
    const authorization = `Bearer ${KEY}`;
    const headers = { 'content-type': 'image/png', authorization };
    const stored = await fetch(link, { method: 'PUT', headers, body: Buffer.alloc(100, 7) });
    expect(stored.status).toBeLessThan(300);
    const gone = await fetch(`${wharf.url}/d/${'A'.repeat(43)}`);
    expect(gone.status).toBe(404);

    const written = async () => (await lines()).slice(before).filter(({ what }) => /load/.test(String(what)));
    // a refusal does not wait for its line
    await until(async () => (await written()).length >= 2);
    expect(await written()).toMatchObject([
      { what: 'upload', principal: 'ada', allowed: true, files: [{ size: 100 }] },
      { what: 'download', allowed: false, code: 'link_unknown' },
    ]);
    const text = await readFile(path, 'utf8');
    expect(text).not.toContain(link.slice(link.lastIndexOf('/') + 1));
    expect(text).not.toContain(KEY);
  });

  it('names whose links they are that are tried when they are over, and makes few lines of many tries', async () => {
    const before = (await lines()).length;
    const written = async () =>
      (await lines()).slice(before).filter(({ what, allowed }) => /load/.test(String(what)) && allowed === false);
    const asked = await (await connect('ocr')).callTool({ name: 'request_file_upload', arguments: {} });
    const link = /https?:\S+\/u\/[\w-]+/.exec(JSON.stringify(asked))?.[0] ?? '';
    const put = async () =>
      (await fetch(link, { method: 'PUT', headers: { authorization: `Bearer ${KEY}` }, body: 'a' })).status;
    const tries = [await put(), await put(), await put(), await put()];
    expect(tries).toEqual([201, 409, 409, 409]);
    const args = { name: 'blob', arguments: { size: 700_000, type: 'image' } };
    const result = await (await connect('camera')).callTool(args);
    const [made] = (result._meta as Record<string, { uri: string; url: string }[]>)['dev.wharf/files'] ?? [];
    const id = made?.uri.split('/').at(-1) ?? '';
    await fetch(`${wharf.adminUrl}/files/${id}/revoke`, { method: 'POST' });
    for (let times = 0; times < 3; times++) expect((await fetch(made?.url ?? '')).status).toBe(410);
    await until(async () => (await written()).length >= 2);
    expect(await written()).toMatchObject([
      { what: 'upload', principal: 'ada', server: 'ocr', code: 'upload_done' },
      { what: 'download', principal: 'ada', from: 'camera', code: 'file_gone', files: [{ id, size: 700_000 }] },
    ]);
  });

  it('is one whole chain', async () => {
    await (await connect('camera')).callTool({ name: 'blob', arguments: { size: 700_000, type: 'image' } });
    expect((await lines()).length).toBeGreaterThan(2);
    expect((await verifyFiles([path])).faults).toEqual([]);
  });
});
