import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type FakeUpstream, type ScriptedAnswer, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RawSocket } from '../../helpers/raw-socket.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

let fake: FakeUpstream;
let wharf: Wharf;
let client: RawClient;

beforeAll(async () => {
  fake = await startFakeUpstream({ session: true });
  wharf = await startWharf({ servers: { fake: { url: fake.url, transport: 'streamable-http' } } });
  client = await RawClient.connect(wharf.mcp);
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
});

beforeEach(() => {
  fake.queue.length = 0;
});

interface Told {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

/** A request with exactly these headers; node's own fetch would add some of a browser's. */
function ask(url: string, method: string, headers: Record<string, string>, body?: string): Promise<Told> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      text(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const PING = '{"jsonrpc":"2.0","id":7,"method":"ping"}';
const ANSWER = '{"jsonrpc":"2.0","id":7,"result":{}}';
const HTML = '<!doctype html><script>document.title = "run"</script>';
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

/** What an upstream may say, and the types that a client may see of it. */
const KINDS: Record<string, { answer: ScriptedAnswer; types: RegExp }> = {
  JSON: { answer: { contentType: 'application/json', body: ANSWER }, types: /^application\/json$/ },
  'chunked JSON': {
    answer: { contentType: 'application/json', body: ANSWER, framing: 'chunked' },
    types: /^application\/json$/,
  },
  'JSON whose type browsers read as HTML': {
    answer: { contentType: 'application/json;x=,text/html', body: HTML },
    types: /^application\/json$/,
  },
  'an event stream': {
    answer: { contentType: 'text/event-stream', body: `data: ${ANSWER}\n\n` },
    types: /^text\/event-stream$/,
  },
  NDJSON: {
    answer: { contentType: 'application/x-ndjson', body: `${ANSWER}\n` },
    types: /^application\/x-ndjson$/,
  },
  HTML: { answer: { contentType: 'text/html', body: HTML }, types: /^text\/plain; charset=utf-8$/ },
  'chunked HTML': {
    answer: { contentType: 'text/html; charset=utf-16', body: HTML, framing: 'chunked' },
    types: /^text\/plain; charset=utf-8$/,
  },
  XHTML: { answer: { contentType: 'application/xhtml+xml', body: HTML }, types: /^application\/octet-stream$/ },
  SVG: { answer: { contentType: 'image/svg+xml', body: SVG }, types: /^application\/octet-stream$/ },
  script: { answer: { contentType: 'text/javascript', body: 'alert(1)' }, types: /^text\/plain; charset=utf-8$/ },
  'HTML without a type': { answer: { body: HTML }, types: /^(?:application\/json|text\/plain; charset=utf-8)$/ },
  'no body': { answer: { contentType: 'text/html', body: '' }, types: /^$/ },
};
const STATUSES = [200, 201, 202, 204, 400, 401, 403, 404, 405, 407, 418, 429, 500, 502, 503];
const HOSTILE = {
  'www-authenticate': 'Basic realm="Wharf"',
  'proxy-authenticate': 'Basic',
  'set-cookie': 'a=b',
  'cache-control': 'public, max-age=3600',
  'content-security-policy': "script-src *; frame-ancestors *; navigate-to 'none'",
  'x-content-type-options': 'sniff',
  'content-disposition': 'inline',
  'access-control-allow-origin': '*',
  refresh: '0;url=https://evil.example',
};

const NO_PAGE = /^default-src 'none'; sandbox; frame-ancestors 'none'$/;
/** Nothing from elsewhere, no script but Wharf's own, and in no frame. */
const OWN_PAGE = /^default-src 'none'; (?!.*(?:unsafe|\*|https?:|data:)).*frame-ancestors 'none'/;

function expectSafe({ headers }: Pick<Told, 'headers'>, policy = NO_PAGE): void {
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
  });
  expect(headers['cache-control']).toMatch(/^no-store(?:, no-transform)?$/);
  expect(headers['content-security-policy']).toMatch(policy);
  for (const name of Object.keys(HOSTILE)) {
    if (name in { 'cache-control': 0, 'content-security-policy': 0, 'x-content-type-options': 0 }) continue;
    expect([name, headers[name]]).toEqual([name, undefined]);
  }
}

describe.each(['POST', 'GET', 'DELETE'])('an upstream answers %s with', (method) => {
  it.each(Object.keys(KINDS))('%s, and nothing of it may run, whatever the status', async (kind) => {
    const { answer, types } = KINDS[kind] as (typeof KINDS)[string];
    for (const status of STATUSES) {
      const own = await RawClient.connect(wharf.mcp);
      const headers = { ...own.headers(), ...(method === 'POST' && { 'content-type': 'application/json' }) };
      fake.queue.push({ ...answer, status, headers: HOSTILE });
      const told = await ask(wharf.mcp, method, headers, method === 'POST' ? PING : undefined);
      expectSafe(told);
      const type = told.headers['content-type'] ?? '';
      // what Wharf itself says in the place of a refusal
      if (told.status === 502 && status !== 502) expect(type).toBe('application/json');
      else if (told.body !== '') expect([status, type]).toEqual([status, expect.stringMatching(types)]);
    }
  });
});

describe('a server that refuses what Wharf sends', () => {
  it.each([401, 403, 407])(
    'with %i is named with the setting that it refuses, and no challenge reaches the client',
    async (status) => {
      const challenge = 'Bearer resource_metadata="http://up.example/.well-known/oauth-protected-resource"';
      fake.queue.push({ status, headers: { 'www-authenticate': challenge }, contentType: 'text/html', body: HTML });
      const told = await client.post(PING);
      expect(told.status).toBe(502);
      expect(told.headers.get('www-authenticate')).toBeNull();
      const [message] = told.messages;
      expect(message).toMatchObject({ id: 7, error: { data: { code: 'upstream_unauthorized', status } } });
      // a server with the hosts that it answers to says 403 to any other
      expect(JSON.stringify(message).includes('it must allow the one in its URL')).toBe(status === 403);
      expect(JSON.stringify(message)).toContain('servers.fake.headers');
    },
  );

  it('is told which of the configured headers it does not accept, never their values', async () => {
    const configured = await startWharf({
      servers: { fake: { url: fake.url, headers: { Authorization: 'Bearer hunter2hunter2' } } },
    });
    try {
      fake.queue.push({ status: 401, body: 'no' });
      const told = await ask(
        configured.mcp,
        'POST',
        { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}',
      );
      expect([told.status, told.body]).toEqual([502, expect.stringMatching(/servers\.fake\.headers holds \(auth/)]);
      expect(told.body + configured.logged()).not.toContain('hunter2');
    } finally {
      await configured.stop();
    }
  });
});

describe('an upstream’s JSON is read as such', () => {
  const blob = (size: number) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      result: { content: [{ type: 'image', data: Buffer.alloc(size, 7).toString('base64'), mimeType: 'image/png' }] },
    });
  const call = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"blob","arguments":{}}}';

  it.each([
    ['with a byte order mark', '\ufeff', 'application/json'],
    ['without a type', '', undefined],
    ['as text/json', '', 'text/json'],
    ['as text/html', '', 'text/html'],
    ['as text/plain, with a mark', '\ufeff', 'text/plain'],
    ['as a picture', '', 'image/png'],
    ['as application/octet-stream', '\r\n ', 'application/octet-stream'],
  ])('%s: its files are cut, and its type is JSON’s', async (_how, before, contentType) => {
    for (const framing of ['length', 'chunked'] as const) {
      const body = before + blob(1_200_000);
      fake.queue.push({ body, framing, chunk: 100_003, ...(contentType !== undefined && { contentType }) });
      const told = await client.post(call);
      expect(told.headers.get('content-type')).toBe('application/json');
      expect(told.text.length).toBeLessThan(200_000);
      expect(told.messages[0]).toMatchObject({
        id: 7,
        result: { _meta: { 'dev.wharf/files': [{ size: 1_200_000 }] } },
      });
    }
  });

  it.each(['application/json', 'text/html', undefined])(
    'under the limits of any other message, sent as %s',
    async (contentType) => {
      const limited = await startWharf({
        servers: { fake: { url: fake.url } },
        config: { limits: { response: '64KiB', inlineImage: '16KiB', inlineOther: '16KiB' } },
      });
      try {
        const own = await RawClient.connect(limited.mcp);
        for (const body of [`{"jsonrpc":"2.0","id":7,"result":{"text":"${'x '.repeat(60_000)}"}}`, HTML.repeat(3000)]) {
          fake.queue.push({ body, framing: 'chunked', ...(contentType !== undefined && { contentType }) });
          const told = await own.post(PING);
          expect(told.messages[0]).toMatchObject({ id: 7, error: { data: { code: 'response_too_large' } } });
        }
      } finally {
        await limited.stop();
      }
    },
  );

  it.each(['application/json', 'text/json', undefined])(
    'also where it opens the session: a mark and the type %s are no obstacle',
    async (contentType) => {
      const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'x', version: '1' } };
      const body = `\ufeff${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}`;
      fake.queue.push({ body, ...(contentType !== undefined && { contentType }) });
      const opening = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } };
      const told = await ask(
        wharf.mcp,
        'POST',
        { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        JSON.stringify(opening),
      );
      expect(told.headers['mcp-session-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(JSON.parse(told.body)).toMatchObject({ id: 1, result });
    },
  );
});

describe('an answer deeper than limits.depth', () => {
  const nested = (depth: number) =>
    `{"jsonrpc":"2.0","id":7,"result":{"a":${'['.repeat(depth)}1${']'.repeat(depth)},"text":"${'{['.repeat(1000)}"}}`;

  it.each(['length', 'chunked'] as const)(
    'is refused, however short it is: as JSON and as an event, %s',
    async (framing) => {
      for (const [contentType, before, after] of [
        ['application/json', '', ''],
        ['text/event-stream', 'data: ', '\n\n'],
      ] as const) {
        // two levels are around it
        for (const depth of [998, 999]) {
          fake.queue.push({ body: before + nested(depth) + after, framing, contentType });
          const [message] = (await client.post(PING)).messages;
          if (depth === 998) expect(message).toEqual(JSON.parse(nested(depth)));
          else {
            const data = { code: 'too_deep', limit: 'limits.depth', allowed: 1000, actual: 1001 };
            expect(message).toMatchObject({ id: 7, error: { data } });
          }
        }
      }
    },
  );
});

describe('Wharf’s own answers', () => {
  it('have the same headers on both ports, whatever the route and the method (G27)', async () => {
    const routes: [string, string][] = [
      [wharf.url, '/'],
      [wharf.url, '/nothing'],
      [wharf.url, '/nobody/mcp'],
      [wharf.url, '/fake/mcp'],
      [wharf.url, '/mcp'],
      [wharf.url, '/d/unknown'],
      [wharf.url, '/.well-known/oauth-protected-resource'],
      [wharf.adminUrl, '/'],
      [wharf.adminUrl, '/healthz'],
      [wharf.adminUrl, '/readyz'],
      [wharf.adminUrl, '/metrics'],
      [wharf.adminUrl, '/nothing'],
    ];
    for (const [base, path] of routes) {
      for (const method of ['GET', 'POST', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH']) {
        for (const host of ['localhost', 'evil.example']) {
          expectSafe(await ask(`${base}${path}`, method, { host, accept: '*/*' }));
          // a page of Wharf's own, or the same as for a program
          expectSafe(await ask(`${base}${path}`, method, { host, accept: 'text/html' }), OWN_PAGE);
        }
      }
    }
  });

  it('have them also where a request is not HTTP', async () => {
    for (const url of [wharf.url, wharf.adminUrl]) {
      const socket = await RawSocket.open(Number(new URL(url).port));
      socket.send('<script>\r\n\r\n');
      const said = (await socket.toEnd()).toLowerCase();
      expect(said).toContain('http/1.1 400');
      expect(said).toContain('x-content-type-options: nosniff');
      expect(said).toContain("content-security-policy: default-src 'none'; sandbox");
    }
  });

  it('say what is wrong with a request that reaches no route: no HTTP, or too long a head', async () => {
    const long = `GET / HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${'a'.repeat(20_000)}\r\n\r\n`;
    const answers: [string, string, object][] = [
      ['<script>\r\n\r\n', '400 Bad Request', { code: 'http_malformed' }],
      [long, '431 Request Header Fields Too Large', { code: 'head_too_long', allowed: 16_384 }],
    ];
    for (const [sent, status, data] of answers) {
      const socket = await RawSocket.open(Number(new URL(wharf.url).port));
      socket.send(sent);
      const [head = '', body = ''] = (await socket.toEnd()).split('\r\n\r\n');
      expect(head).toContain(`HTTP/1.1 ${status}\r\n`);
      expect(head).toMatch(/\r\ncontent-type: application\/json\r\n[\s\S]*connection: close$/);
      expect(head).toContain(`content-length: ${body.length}`);
      expect(JSON.parse(body)).toMatchObject({ error: { data } });
    }
  });

  it('have a body that is not in chunks told by its name in the log, and not as a client that has gone', async () => {
    const before = wharf.lines.length;
    const socket = await RawSocket.open(Number(new URL(wharf.url).port));
    socket.head('POST /mcp', {
      ...client.headers(),
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
    });
    // once the route waits for it
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.send('5\r\nhelloXX\r\n');
    expect(await socket.toEnd()).toContain('HTTP/1.1 400');
    const told = () =>
      wharf.lines.slice(before).filter(({ fields, text }) => text === 'exchange' && fields.status === 400);
    await until(() => told().length > 0);
    expect(told().map(({ fields }) => fields.error)).toEqual(['http_malformed']);
  });

  it('say nothing of bytes that are not HTTP in the middle of an answer', async () => {
    const body = '{"jsonrpc":"2.0","id":5,"result":{}}';
    fake.queue.push({ contentType: 'application/json', framing: 'chunked', body, chunk: 4, gapMs: 100 });
    const socket = await RawSocket.open(Number(new URL(wharf.url).port));
    socket.head('POST /mcp', {
      ...client.headers(),
      'content-type': 'application/json',
      'content-length': PING.length,
    });
    socket.send(PING);
    await socket.until(/200 OK/);
    socket.send('<script>\r\n\r\n');
    expect(await socket.toEnd()).not.toMatch(/400|http_malformed/);
  });
});

describe('what a browser sends to an MCP endpoint', () => {
  const page = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  const listening = { accept: 'text/event-stream' };
  it.each([
    ['a page in a frame', { ...page, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }, 406],
    ['a page to load by a script', { ...page, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' }, 403],
    ['a navigation that lists event streams', { ...listening, 'sec-fetch-mode': 'navigate' }, 406],
    ['a frame', { ...listening, 'sec-fetch-dest': 'iframe' }, 406],
    ['a picture', { accept: 'image/avif,image/webp,*/*;q=0.8', 'sec-fetch-dest': 'image' }, 406],
    ['a script', { accept: '*/*', 'sec-fetch-dest': 'script', 'sec-fetch-mode': 'no-cors' }, 406],
    ['anything', { accept: '*/*' }, 406],
    ['nothing in particular', {}, 406],
    [
      'a stream that another site asks for blindly',
      { ...listening, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' },
      403,
    ],
    ['a stream for another site', { ...listening, 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'cross-site' }, 403],
  ])('for %s is refused, and the server hears nothing (G34)', async (_what, headers, status) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      if (method !== 'GET' && !Object.keys(headers).some((name) => name.startsWith('sec-'))) continue;
      // what gets through all the same is answered at once
      fake.queue.splice(0, fake.queue.length, { status: 405, body: '' });
      const before = fake.requests.length;
      const told = await ask(wharf.mcp, method, { ...client.headers(), accept: '', ...headers });
      expect([method, told.status]).toEqual([method, status]);
      expect(told.headers['content-type']).toBe('application/json');
      expect(fake.requests.length).toBe(before);
    }
  });

  it.each([
    ['without a word about it', page],
    ['in a browser that says so', { ...page, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
  ])("to open it as a page %s gets Wharf's own, and the server hears nothing", async (_how, headers) => {
    const before = fake.requests.length;
    for (const method of ['GET', 'HEAD']) {
      const told = await ask(wharf.mcp, method, { ...client.headers(), ...headers });
      expect([method, told.status, told.headers['content-type']]).toEqual([method, 200, 'text/html; charset=utf-8']);
      expect(told.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; /);
    }
    for (const method of ['POST', 'DELETE']) {
      if (!Object.hasOwn(headers, 'sec-fetch-mode')) continue;
      expect((await ask(wharf.mcp, method, { ...client.headers(), ...headers })).status).toBe(406);
    }
    expect(fake.requests.length).toBe(before);
  });

  it('as a client of its own page or as a program is let in', async () => {
    for (const headers of [
      {},
      { 'sec-fetch-mode': 'cors' },
      { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' },
    ]) {
      fake.queue.push({ status: 405, body: '' });
      expect((await ask(wharf.mcp, 'GET', { ...client.headers(), ...headers })).status).toBe(405);
    }
  });
});
