import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { EmptyResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { recorder } from './recorder.js';

const audit = recorder();
const KEY = 'ada-0123456789';
let fake: FakeUpstream;
let wharf: Wharf;
let client: Client;
/** What the start and the first session have told. */
let opening: unknown[];

beforeAll(async () => {
  fake = await startFakeUpstream({ transport: 'json' });
  wharf = await startWharf({
    servers: {
      store: {
        url: fake.url,
        allow: [{ tools: ['*', '!image'] }],
        tools: { blob: { name: 'bytes', files: { file: { encoding: 'base64' } } } },
      },
    },
    config: { auth: { use: 'apiKeys', keys: [{ name: 'ada', hash: keyHash(KEY) }] } },
    adapters: audit.adapters,
  });
  client = new Client({ name: 'desk', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${KEY}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(wharf.mcp), { requestInit }));
  opening = [...audit.entries];
});

afterAll(async () => {
  await client?.close();
  await wharf?.stop();
  await fake?.close();
});

const who = { principal: 'ada', client: 'desk', address: '127.0.0.1', server: 'store' };

describe('the audit log of a gateway', () => {
  beforeEach(() => {
    audit.isBroken = false;
  });

  it('says who opened a session, and with which client', () => {
    const config = expect.stringMatching(/^[\w-]{43}$/);
    expect(opening).toEqual([
      { what: 'config', subject: 'started', allowed: true, config },
      { what: 'login', subject: 'session', ...who, allowed: true },
    ]);
  });

  it('says who called which tool, and read which resource', async () => {
    audit.entries.length = 0;
    await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
    await client.readResource({ uri: 'blob://10?seed=1' });
    await client.listTools();
    expect(audit.entries).toEqual([
      { what: 'call', ...who, method: 'tools/call', tool: 'echo', allowed: true },
      { what: 'call', ...who, method: 'resources/read', subject: 'blob://10?seed=1', allowed: true },
    ]);
  });

  it('says that there was no file behind a handle, and the metrics count it', async () => {
    audit.entries.length = 0;
    const uri = 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA';
    await expect(client.readResource({ uri })).rejects.toThrow('no such file of yours');
    const call = { what: 'call', ...who, method: 'resources/read', subject: uri };
    expect(audit.entries).toEqual([
      { ...call, allowed: true },
      expect.objectContaining({ ...call, allowed: false, code: 'resource_unknown' }),
    ]);
    const metrics = await (await fetch(`${wharf.adminUrl}/metrics`)).text();
    expect(metrics).toContain('wharf_errors_total{code="resource_unknown"} 1');
  });

  it('says for what a client wanted values of an argument, and not which', async () => {
    audit.entries.length = 0;
    const complete = (ref: { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string }) =>
      client.complete({ ref, argument: { name: 'size', value: 'hunter2' } }).catch(() => undefined);
    await complete({ type: 'ref/prompt', name: 'picture' });
    await complete({ type: 'ref/resource', uri: 'blob://{size}' });
    const call = { what: 'call', ...who, method: 'completion/complete', allowed: true };
    expect(audit.entries).toEqual([
      { ...call, subject: 'picture' },
      { ...call, subject: 'blob://{size}' },
    ]);
  });

  it('says that a credential was refused, and does not hold it', async () => {
    audit.entries.length = 0;
    const answer = await fetch(wharf.mcp, { method: 'POST', headers: { authorization: 'Bearer a-guess' }, body: '{}' });
    expect(answer.status).toBe(401);
    await answer.text();
    expect(audit.entries).toEqual([
      {
        ...{ what: 'login', server: 'store', address: '127.0.0.1', allowed: false, code: 'unauthorized' },
        ...{ rule: 'auth', reason: 'it is not a credential that is known here' },
      },
    ]);
  });

  it('names the limit that refused a call', async () => {
    audit.entries.length = 0;
    await expect(client.callTool({ name: 'echo', arguments: { text: 'x'.repeat(5 << 20) } })).rejects.toThrow();
    expect(audit.entries.at(-1)).toMatchObject({
      ...{ what: 'call', principal: 'ada', tool: 'echo', allowed: false },
      ...{ rule: 'servers.store.accepts', code: 'message_too_large' },
    });
  });

  it('names a renamed tool as its server and the config do, in a call and in its refusal', async () => {
    audit.entries.length = 0;
    await client.callTool({ name: 'bytes', arguments: { size: 1 } });
    const tooLong = { name: 'bytes', arguments: { text: 'x'.repeat(5 << 20) } };
    await expect(client.callTool(tooLong)).rejects.toThrow();
    const call = { what: 'call', ...who, method: 'tools/call', tool: 'blob' };
    expect(audit.entries).toEqual([
      { ...call, allowed: true },
      { ...call, allowed: true },
      { ...call, allowed: false, code: 'message_too_large', rule: 'servers.store.accepts' },
    ]);
  });

  it('names the call for which a batch is refused', async () => {
    audit.entries.length = 0;
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', accept: 'application/json' };
    const calls = ['echo', 'image', 'blob'].map((name, id) => {
      return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } };
    });
    const answer = await fetch(wharf.mcp, { method: 'POST', headers, body: JSON.stringify(calls) });
    expect(await answer.text()).toContain('Unknown tool: image');
    const about = { principal: 'ada', server: 'store', method: 'tools/call' };
    expect(audit.entries).toEqual([
      expect.objectContaining({ what: 'call', ...about, tool: 'image', allowed: false, rule: 'servers.store.allow' }),
    ]);
  });

  it.each([
    ['resources/read', 'a handle', 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA'],
    ['resources/subscribe', 'a handle', 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA'],
    ['resources/read', 'a link', undefined],
  ] as const)('says that %s was refused of %s that leads the caller to no file', async (method, _, handle) => {
    audit.entries.length = 0;
    const uri = handle ?? `${wharf.url}/d/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA`;
    await expect(client.request({ method, params: { uri } }, EmptyResultSchema)).rejects.toThrow('no such file');
    expect(audit.entries).toEqual([
      expect.objectContaining({ what: 'call', ...who, method, allowed: true }),
      expect.objectContaining({ what: 'call', ...who, method, allowed: false, code: 'resource_unknown' }),
    ]);
    const metrics = await (await fetch(`${wharf.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/wharf_exchanges_total\{server="store",outcome="resource_unknown"\} [1-9]/);
  });

  it('names the call whose file is refused, and not the first one of its batch', async () => {
    audit.entries.length = 0;
    const session = { 'mcp-protocol-version': '2025-03-26' };
    const headers = { ...session, authorization: `Bearer ${KEY}`, accept: 'application/json, text/event-stream' };
    const calls = [
      { name: 'echo', arguments: { text: 'hello' } },
      { name: 'bytes', arguments: { file: '/home/ada/report.pdf' } },
    ].map((params, id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params }));
    const body = JSON.stringify(calls);
    const answer = await fetch(wharf.mcp, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
    expect(await answer.text()).toContain('is a path');
    expect(audit.entries.filter(({ allowed }) => !allowed)).toEqual([
      expect.objectContaining({ principal: 'ada', method: 'tools/call', tool: 'blob', code: 'file_refused' }),
    ]);
  });

  it('lets no call through that it cannot record', async () => {
    audit.isBroken = true;
    // the list of tools may be asked for, which is not a call
    const calls = () => fake.requests.filter(({ body }) => body.includes('"tools/call"')).length;
    const before = calls();
    await expect(client.callTool({ name: 'echo', arguments: { text: 'hello' } })).rejects.toThrow('the disk is full');
    expect(calls()).toBe(before);
  });
});
