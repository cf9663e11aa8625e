import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { startRefusingS3 } from '../../helpers/fault-s3.js';
import { startFaultUpstream } from '../../helpers/fault-upstream.js';
import { close, listen } from '../../helpers/loopback.js';
import { RawClient } from '../../helpers/raw-client.js';
import { freshName, s3Config } from '../../helpers/services.js';
import { ROOT } from '../../helpers/tree-copy.js';
import { until } from '../../helpers/wait.js';
import { startWharf, textOf, type Wharf } from '../../helpers/wharf.js';

const KEY = 'the-key-of-carol-which-nobody-guesses';
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'open-1',
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a client', version: '1' } },
};

let fake: FakeUpstream;
let wharf: Wharf;

beforeAll(async () => {
  fake = await startFakeUpstream({ session: true });
  wharf = await startWharf({
    servers: { fake: { url: fake.url, transport: 'streamable-http' }, other: { url: fake.url } },
    config: {
      auth: {
        use: 'apiKeys',
        keys: [{ name: 'carol', hash: keyHash(KEY) }],
      },
    },
  });
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
});

const authorization = `Bearer ${KEY}`;
const endpoint = () => `${wharf.url}/fake/mcp`;

/** Lines of one text that something wrote: it is over for its client before its line is there. */
async function linesOf(text: string, run: () => Promise<unknown>, count = 1) {
  const before = wharf.lines.length;
  const lines = () => wharf.lines.slice(before).filter((line) => line.text === text);
  await run();
  await until(() => lines().length >= count);
  return lines();
}

const post = (body: string, headers: Record<string, string> = {}) =>
  fetch(endpoint(), {
    method: 'POST',
    headers: {
      authorization,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body,
  }).then((response) => response.text());

describe('the log', () => {
  it('says of each exchange who asked what, in which session, as which client, from where', async () => {
    const [opened] = await linesOf('exchange', () => post(JSON.stringify(INITIALIZE)));
    expect(opened?.fields).toMatchObject({
      principal: 'carol',
      client: 'a client',
      address: '127.0.0.1',
      id: '"open-1"',
      method: 'initialize',
      session: expect.stringMatching(/^[\w-]{10}$/),
    });
    const exchanges = () => wharf.lines.filter(({ text }) => text === 'exchange').length;
    const seen = exchanges();
    const client = await RawClient.connect(endpoint(), '2025-06-18', { headers: { authorization } });
    await until(() => exchanges() === seen + 2);
    const lines = await linesOf(
      'exchange',
      async () => {
        await client.request('ping');
        await client.request('ping');
        await client.delete();
      },
      3,
    );
    expect(lines).toHaveLength(3);
    const sessions = new Set(lines.map(({ fields }) => fields.session));
    expect(sessions.size).toBe(1);
    expect(sessions.has(opened?.fields.session)).toBe(false);
    for (const { fields } of lines) expect(fields).toMatchObject({ principal: 'carol', address: '127.0.0.1' });
    expect(wharf.logged()).not.toContain(client.session);
    expect(wharf.logged()).not.toContain(KEY);
  });

  it('says of each download and each upload whose file it is, and from where it was asked', async () => {
    const client = await RawClient.connect(endpoint(), '2025-06-18', { headers: { authorization } });
    const { result } = await client.call('blob', { size: 1_000_000 });
    const [file] = (result?._meta as { 'dev.wharf/files'?: { url: string }[] } | undefined)?.['dev.wharf/files'] ?? [];
    const [line] = await linesOf('download', async () => {
      await (await fetch(file?.url ?? '', { headers: { 'user-agent': 'a fetcher' } })).arrayBuffer();
    });
    expect(line?.fields).toMatchObject({
      principal: 'carol',
      server: 'fake',
      file: expect.stringMatching(/^f_/),
      outcome: 'served',
      address: '127.0.0.1',
      agent: 'a fetcher',
      size: 1_000_000,
      ms: expect.any(Number),
    });
    expect(line?.fields.bytes).toBeGreaterThan(1_000_000);
  });

  it('says of a body that is not JSON that much in one line, without its content', async () => {
    for (const body of [
      '["hunter2", pw]',
      '{"method": hunter2}',
      '{"jsonrpc":"2.0","id":1,"method":"x","hunter2":1,"hunter2":2}',
      'hunter2',
    ]) {
      const before = wharf.lines.length;
      await post(body);
      await until(() => wharf.lines.slice(before).some(({ text }) => text === 'exchange'));
      const lines = wharf.lines.slice(before).filter(({ level }) => level !== 'debug');
      expect(lines.map(({ text }) => text)).toEqual(['exchange']);
      expect(lines[0]?.fields).toMatchObject({
        status: 400,
        error: expect.stringMatching(/json_malformed|request_invalid/),
      });
      const said = textOf(lines);
      expect(said).not.toMatch(/hunter2|stack/);
      expect(said.length).toBeLessThan(600);
    }
  });
});

describe('what is refused before it reaches a server', () => {
  const ask = (path: string, headers: Record<string, string>, { url }: Wharf = wharf) =>
    new Promise<void>((resolve, reject) => {
      const sent = request(`${url}${path}`, { headers, agent: false }, (response) => {
        response.resume().on('end', () => resolve());
      });
      sent.on('error', reject);
      sent.end();
    });
  const counted = async (code: string, { adminUrl }: Wharf = wharf): Promise<number> => {
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    return Number(new RegExp(`wharf_refused_requests_total\\{code="${code}"\\} (\\d+)`).exec(metrics)?.[1] ?? 0);
  };

  it.each<[string, string, Record<string, string>]>([
    ['host_forbidden', '/fake/mcp', { host: 'wharf.internal' }],
    ['origin_forbidden', '/fake/mcp', { origin: 'https://app.internal' }],
    ['route_unknown', '/nothing?key=hunter2', {}],
    ['server_unknown', '/nobody/mcp?key=hunter2', { authorization }],
    ['link_unknown', `/d/${'A'.repeat(43)}`, {}],
  ])('is logged and counted: %s', async (code, path, headers) => {
    const before = await counted(code);
    const [line] = await linesOf('refused', () => ask(path, headers));
    expect(line?.level).toBe('warn');
    expect(line?.fields).toMatchObject({ code, verb: 'GET', address: '127.0.0.1' });
    const { host, origin } = headers;
    if (host ?? origin) expect(JSON.stringify(line)).toContain(host ?? origin);
    expect(textOf([line ?? {}])).not.toMatch(/hunter2|authorization/);
    await until(async () => (await counted(code)) === before + 1);
  });

  it('fills no log, however often it happens', async () => {
    // the lines of a minute are few, and other tests need theirs
    const alone = await startWharf({ servers: { fake: { url: fake.url } } });
    for (let at = 0; at < 100; at++) await ask(`/nothing/${at}`, {}, alone);
    await until(async () => (await counted('route_unknown', alone)) === 100);
    expect(alone.lines.filter(({ text }) => text === 'refused')).toHaveLength(10);
    await alone.stop();
  });
});

describe('an answer that breaks off before anything of it is out', () => {
  it('is logged and counted once', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      setTimeout(() => response.destroy(), 50);
    });
    const url = `http://127.0.0.1:${await listen(server)}/mcp`;
    const alone = await startWharf({ servers: { broken: { url, transport: 'streamable-http' } } });
    try {
      const response = await fetch(`${alone.url}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify(INITIALIZE),
      });
      expect(response.status).toBe(502);
      const metrics = async () => (await fetch(`${alone.adminUrl}/metrics`)).text();
      await until(async () => /wharf_errors_total\{code="upstream_closed"\} 1\n/.test(await metrics()));
      const whole = {
        text: 'an exchange failed',
        fields: { code: 'upstream_closed', method: 'initialize', id: '"open-1"' },
      };
      const warnings = alone.lines.filter(({ level }) => level === 'warn' || level === 'error');
      expect(warnings).toMatchObject([whole]);
    } finally {
      await alone.stop();
      await close(server);
    }
  });
});

describe('a call whose client leaves before its answer', () => {
  it.each(['json', 'sse', 'stdio'] as const)('has that as the error of its line: %s', async (kind) => {
    const server = await startFaultUpstream(kind);
    const alone = await startWharf({ servers: { one: server.server } });
    const client = await RawClient.connect(alone.mcp);
    const leaving = new AbortController();
    const call = { name: 'blob', arguments: { size: 100_000, stopAfter: 50_000 } };
    const answer = client.open('tools/call', call, {}, leaving.signal).then((response) => response.text());
    answer.catch(() => {});
    await until(() => server.busy() > 0);
    // the head of a stream over stdio is sent after a second
    await new Promise((resolve) => setTimeout(resolve, 300));
    leaving.abort();
    const line = () => alone.lines.find(({ fields }) => fields.name === 'blob');
    await until(() => line() !== undefined);
    expect(line()).toMatchObject({ text: 'exchange', fields: { error: 'client_gone' } });
    expect(alone.lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
    await alone.stop();
    await server.close();
  });
});

describe('an error that a client gets on a stream that has begun', () => {
  const counted = async ({ adminUrl }: Wharf, code: string) => {
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    return Number(new RegExp(`^wharf_errors_total\\{code="${code}"\\} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0);
  };

  it('is counted when a process ends in the middle of a call', async () => {
    const upstream = await startFaultUpstream('stdio');
    const alone = await startWharf({ servers: { one: upstream.server } });
    const client = await RawClient.connect(alone.mcp);
    const answer = client.call('blob', { size: 100_000, stopAfter: 50_000 });
    await until(() => upstream.busy() > 0);
    await new Promise((resolve) => setTimeout(resolve, 300));
    upstream.die();
    expect((await answer).error).toMatchObject({ data: { code: 'upstream_closed' } });
    await until(async () => (await counted(alone, 'upstream_closed')) === 1);
    await alone.stop();
  });

  it('is counted when an upload ends with it', async () => {
    const upstream = await startFaultUpstream('json');
    const s3 = await startRefusingS3(s3Config('unused').endpoint);
    const objects = { use: 's3', ...s3Config(freshName('counted')), endpoint: s3.url };
    const alone = await startWharf({ servers: { one: upstream.server }, config: { objects } });
    const client = await RawClient.connect(alone.mcp);
    const { messages } = await client.post({ jsonrpc: '2.0', id: 5, method: 'files/authorizeUpload', params: {} });
    const { url } = (messages[0] as { result: { upload: { url: string } } }).result.upload;
    s3.refuse({ what: /^PUT /, status: 403, code: 'AccessDenied' });
    expect((await fetch(url, { method: 'PUT', body: 'bytes' })).status).toBe(503);
    await until(async () => (await counted(alone, 'store_unavailable')) === 1);
    await alone.stop();
    await s3.close();
    await upstream.close();
  });

  it('is counted when Wharf answers by itself', async () => {
    const upstream = await startFaultUpstream('json');
    const alone = await startWharf({ servers: { one: upstream.server } });
    const client = await RawClient.connect(alone.mcp);
    const params = { uri: 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA' };
    const { messages } = await client.post({ jsonrpc: '2.0', id: 5, method: 'files/authorizeDownload', params });
    expect(messages[0]).toMatchObject({ error: { data: { reason: expect.any(String) } } });
    await until(async () => (await counted(alone, 'params_invalid')) === 1);
    expect(alone.lines.at(-1)).toMatchObject({ text: 'exchange', fields: { error: 'params_invalid' } });
    await alone.stop();
    await upstream.close();
  });
});

describe('OPERATIONS.md', () => {
  it('names each field of the lines of exchanges, uploads, downloads and refusals', async () => {
    const client = await RawClient.connect(endpoint(), '2025-06-18', { headers: { authorization } });
    const { messages } = await client.post({ jsonrpc: '2.0', id: 5, method: 'files/authorizeUpload', params: {} });
    const { url } = (messages[0] as { result: { upload: { url: string } } }).result.upload;
    await linesOf('upload', () => fetch(url, { method: 'PUT', body: 'bytes' }));
    await linesOf('refused', () => fetch(`${wharf.url}/nowhere`));
    const text = await readFile(join(ROOT, 'OPERATIONS.md'), 'utf8');
    const [, rows = ''] = /^## Log$([\s\S]*?)^## /m.exec(text) ?? [];
    const named = [...rows.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    for (const what of ['exchange', 'upload', 'download', 'refused']) {
      const lines = wharf.lines.filter((line) => line.text === what);
      expect([what, lines.length > 0]).toEqual([what, true]);
      const fields = new Set(lines.flatMap((line) => Object.keys(line.fields)));
      expect([...fields].filter((field) => !named.includes(field))).toEqual([]);
    }
  });
});

describe('a success without an answer', () => {
  it.each([
    ['a page', { contentType: 'text/html', body: '<html>Log in</html>' }],
    ['no body', { contentType: 'application/json', body: '' }],
  ])('(%s) reaches the client as it came, and is a failure of the server in log and metrics', async (_what, answer) => {
    const server = await startFakeUpstream({ session: true });
    const alone = await startWharf({ servers: { one: { url: server.url, transport: 'streamable-http' } } });
    const client = await RawClient.connect(alone.mcp);
    server.queue.push({ status: 200, ...answer });
    const { status } = await client.post({ jsonrpc: '2.0', id: 5, method: 'ping' });
    expect(status).toBe(200);
    await until(() => alone.lines.at(-1)?.fields.id === '5');
    expect(alone.lines.at(-1)).toMatchObject({ text: 'exchange', fields: { status: 200, error: 'upstream_invalid' } });
    const metrics = await (await fetch(`${alone.adminUrl}/metrics`)).text();
    expect(metrics).toContain('wharf_exchanges_total{server="one",outcome="upstream_invalid"} 1');
    expect(metrics).toContain('wharf_upstream_errors_total{server="one",code="upstream_invalid"} 1');
    await alone.stop();
    await server.close();
  });
});
