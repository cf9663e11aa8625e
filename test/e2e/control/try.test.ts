import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { keyHash, sha256 } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { gauge } from '../../helpers/fault-checks.js';
import { startEverything } from '../../helpers/sdk-servers.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { recorder } from '../audit/recorder.js';

const OPERATOR = 'the-key-of-an-operator';
const VIEWER = 'the-key-of-a-viewer';
const CALLER = 'the-key-of-a-caller';

const ODD = [process.execPath, fileURLToPath(new URL('../../helpers/odd-tools.js', import.meta.url))];

const config = {
  auth: { use: 'apiKeys', keys: [{ name: 'ci', hash: keyHash(CALLER) }] },
  console: {
    users: [
      { name: 'ann', role: 'operator', hash: keyHash(OPERATOR) },
      { name: 'bob', hash: keyHash(VIEWER) },
    ],
  },
};

const audit = recorder();
/** It has a session, and never says which tools it has. */
let mute: FakeUpstream;
let wharf: Wharf;

beforeAll(async () => {
  mute = await startFakeUpstream({ transport: 'json', session: true });
  mute.respond = ({ body }) => (body.includes('tools/list') ? { never: true } : undefined);
  const { command } = await startEverything('stdio');
  const files = { image_base64: { encoding: 'base64', maxSize: '1MiB' } };
  wharf = await startWharf({
    adapters: audit.adapters,
    servers: {
      odd: { command: ODD, tools: { weigh: { files } } },
      everything: { command },
      hr: { command: ODD, allow: [{ key: 'ci' }] },
      few: { command: ODD, allow: [{ principal: 'console:*', tools: ['s*'] }] },
      down: { url: 'http://127.0.0.1:1/mcp' },
      mute: { url: mute.url },
    },
    config,
  });
});

afterAll(async () => {
  await wharf?.stop();
  await mute?.close();
});

beforeEach(() => {
  audit.entries.length = 0;
});

interface Page {
  status: number;
  text: string;
}

async function read(
  path: string,
  key = OPERATOR,
  init: RequestInit = {},
  of = wharf,
): Promise<Page & { headers: Headers }> {
  const headers = { authorization: `Bearer ${key}`, ...init.headers };
  const answer = await fetch(of.adminUrl + path, { redirect: 'manual', ...init, headers });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

const pathOf = (server: string, tool: string) => `/servers/${server}/try?${new URLSearchParams({ tool })}`;

/** What a page says, without its tags. */
function said({ text }: Page): string {
  return plain((text.split('<main>')[1] ?? '').replaceAll(/<[^>]*>/g, ' '));
}

function plain(html: string): string {
  const named = { lt: '<', gt: '>', quot: '"', amp: '&' } as const;
  return html
    .replaceAll('&#39;', "'")
    .replaceAll(/&(lt|gt|quot);/g, (_, name: keyof typeof named) => named[name])
    .replaceAll('&amp;', '&');
}

/** Fills in a tool's form by its labels, and sends it. */
async function send(
  server: string,
  tool: string,
  filled: Record<string, string | File> = {},
  { key = OPERATOR, headers = {}, of = wharf }: { key?: string; headers?: Record<string, string>; of?: Wharf } = {},
): Promise<Page> {
  const { text } = await read(pathOf(server, tool), OPERATOR, {}, of);
  const form = new FormData();
  form.set('shape', /name="shape" value="([^"]*)"/.exec(text)?.[1] ?? '');
  for (const [label, value] of Object.entries(filled)) {
    const [, id = label] = new RegExp(`for="([vf]\\d+)"><bdi>${label}</bdi>`).exec(text) ?? [];
    form.set(id, value);
  }
  return read(pathOf(server, tool), key, { method: 'POST', body: form, headers }, of);
}

const call = (server: string, body: object, key = OPERATOR, headers = {}) =>
  read(`/api/servers/${server}/call`, key, { method: 'POST', body: JSON.stringify(body), headers });

describe('trying a tool at the console', () => {
  it('shows a server with its tools as they are, and leads to each', async () => {
    const page = await read('/servers/everything');
    expect(page.status).toBe(200);
    expect(said(page)).toContain('console:ann');
    for (const name of ['echo', 'get-sum', 'get-tiny-image']) expect(page.text).toContain(pathOf('everything', name));
  });

  it('calls a tool of a real server with what the form says, in the name of the operator', async () => {
    const page = await send('everything', 'get-sum', { a: '40', b: '2' });
    expect([page.status, said(page)]).toEqual([200, expect.stringContaining('The sum of 40 and 2 is 42.')]);
    expect(said(page)).toMatch(/Done\s+after \d/);
    expect(audit.entries.filter(({ what }) => what === 'call')).toEqual([
      expect.objectContaining({
        ...{ allowed: true, actor: 'ann', principal: 'console:ann', client: 'wharf-console', address: '127.0.0.1' },
        ...{ server: 'everything', method: 'tools/call', tool: 'get-sum' },
      }),
    ]);
    await until(() =>
      wharf.lines.some(({ fields }) => fields.principal === 'console:ann' && fields.name === 'get-sum'),
    );
  });

  it('makes each argument what its schema says, and leaves out what is empty', async () => {
    const filled = { name: ' a\r\nb ', depth: '12.5', 'Open at night': 'false', moles: '["east"]' };
    const page = await send('odd', 'survey', { ...filled, berths: '', unit: '"ft"', others: '{"more": [1e3]}' });
    const given = '{"more":[1000],"name":" a\\nb ","depth":12.5,"unit":"ft","isOpen":false,"moles":["east"]}';
    expect(said(page)).toContain(given);
    expect(said(page)).toContain('Structured content');
  });

  it.each([
    ['depth', { name: 'x', depth: 'deep' }, 'This is not a number.'],
    ['depth', { name: 'x' }, 'This is required.'],
    ['berths', { name: 'x', depth: '1', berths: '1.5' }, 'This is not a whole number.'],
    ['berths', { name: 'x', depth: '1', berths: '12345678901234567890' }, 'too large to be sent exactly'],
    ['unit', { name: 'x', depth: '1', unit: '"mile"' }, 'This is not one of the values.'],
    ['moles', { name: 'x', depth: '1', moles: 'east' }, 'This is not JSON.'],
    ['others', { name: 'x', depth: '1', others: '[]' }, 'This is not a JSON object.'],
    ['others', { name: 'x', depth: '1', others: `{"a":${'['.repeat(300)}${']'.repeat(300)}}` }, 'not a JSON object'],
  ])('calls nothing where %s is wrong, says so there, and keeps what was written', async (_, filled, problem) => {
    const page = await send('odd', 'survey', filled);
    expect([page.status, said(page)]).toEqual([400, expect.stringContaining(problem)]);
    expect(page.text).toContain('aria-invalid="true"');
    // a choice cannot be kept that is none
    const kept = Object.values(filled).filter((value) => value !== '"mile"');
    for (const value of kept) expect(plain(page.text)).toContain(value);
    expect(audit.entries.filter(({ what }) => what === 'call')).toEqual([]);
  });

  it('gives a file to the server, as an upload of the operator, and takes its handle the next time', async () => {
    const bytes = randomBytes(200_000);
    const digest = sha256(bytes);
    const file = new File([bytes], 'the harbour.png', { type: 'image/png' });
    const page = await send('odd', 'weigh', { image_base64: file, note: 'first' });
    expect(said(page)).toContain(`200000 bytes, ${digest}, first`);
    // that is for models, which have no field for a file
    expect(said(page).split('The schema')[0]).not.toContain('Pass a file handle');
    expect(audit.entries).toContainEqual(
      expect.objectContaining({ what: 'upload', actor: 'ann', principal: 'console:ann', server: 'odd' }),
    );
    expect(audit.entries).toContainEqual(
      expect.objectContaining({ what: 'handoff', actor: 'ann', principal: 'console:ann', to: 'odd' }),
    );
    const [handle = ''] = /mcp-file:\/\/[\w/.-]+/.exec(page.text) ?? [];
    const again = await send('odd', 'weigh', { v0: handle, note: 'second' });
    expect(said(again)).toContain(`200000 bytes, ${digest}, second`);
  });

  it('refuses a file that is larger than the argument takes, and keeps none of it', async () => {
    const page = await send('odd', 'weigh', { image_base64: new File([randomBytes(1_100_000)], 'a.png') });
    expect([page.status, said(page)]).toEqual([413, expect.stringContaining('1 MB')]);
    const { files } = JSON.parse((await read('/api/stored?principal=console:ann')).text) as {
      files: { size: number }[];
    };
    expect(files.map(({ size }) => size)).not.toContain(1_100_000);
  });

  it('shows what Wharf made of files: a preview, the link, the handle', async () => {
    const page = await send('odd', 'picture');
    expect(page.text.match(/<img src="data:image\/(?:png|jpeg);base64,/g)).toHaveLength(2);
    expect(audit.entries).toContainEqual(
      expect.objectContaining({ what: 'file', allowed: true, actor: 'ann', principal: 'console:ann', from: 'odd' }),
    );
    const [, link = ''] = /<a href="(http[^"]*)">/.exec(page.text) ?? [];
    expect((await fetch(link)).status).toBe(200);
    expect(said(page)).toMatch(/mcp-file:\/\/wharf\/f_/);
  });

  it('marks an error of the tool, and an error of the server', async () => {
    expect(said(await send('odd', 'fail'))).toMatch(/The tool reports an error.*The tide is out\./s);
    expect(said(await send('odd', 'refuse'))).toMatch(/No result.*\(-32001\)/s);
    expect(said(await send('odd', 'ask'))).toMatch(/No result.*asks its client for something first/s);
  });

  it('asks for a tick before a tool that says that it may destroy, or does not say', async () => {
    for (const tool of ['sink', 'silent_about_it']) {
      const refused = await send('odd', tool);
      expect([refused.status, said(refused)]).toEqual([
        400,
        expect.stringContaining('only called when this is ticked'),
      ]);
      expect(said(await send('odd', tool, { confirm: 'yes' }))).toContain(`${tool} is done.`);
    }
    expect(said(await read(pathOf('odd', 'sink')))).toContain('The tool says that it may destroy or overwrite.');
    expect(said(await read(pathOf('odd', 'survey')))).toContain('The tool says that it changes nothing.');
  });

  it('gives up a server that never answers, with a page that says so, and goes on', async () => {
    // one of its own: the servers of the other tests may need as long to start where the machine is busy
    const hasty = await startWharf({
      servers: { odd: { command: ODD } },
      config: { ...config, timeouts: { idle: '6s' } },
    });
    try {
      const page = await send('odd', 'never', {}, { of: hasty });
      expect([page.status, said(page)]).toEqual([504, expect.stringContaining('did not answer within 6 s')]);
      expect(said(page)).toContain('timeouts.idle');
      expect(said(await send('odd', 'fail', {}, { of: hasty }))).toContain('The tide is out.');
    } finally {
      await hasty.stop();
    }
  });

  it('is no fault of Wharf where its operator leaves before the answer', async () => {
    const faults = () => gauge(wharf.adminUrl, 'wharf_errors_total{code="internal"}');
    const before = await faults();
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${OPERATOR}` };
    const left = fetch(`${wharf.adminUrl}/api/servers/mute/tools`, { headers, signal: leaving.signal });
    await until(() => mute.requests.some(({ body }) => body.includes('tools/list')));
    leaving.abort();
    await expect(left).rejects.toThrow();
    await until(async () => (await gauge(wharf.adminUrl, 'wharf_open_exchanges')) === 0);
    expect(await faults()).toBe(before);
    expect(wharf.logged()).not.toContain('a request of an operator failed');
  });

  it('says why a server that is away cannot be tried', async () => {
    const server = said(await read('/servers/down')).replace(/\s+/g, ' ');
    expect(server).toContain('cannot be reached');
    expect(server).toContain('Wharf finds it at http://127.0.0.1:1/mcp');
    expect(server).toContain('Run the command, or curl the URL, on the machine of Wharf.');
    const page = await read(pathOf('down', 'x'));
    expect([page.status, said(page)]).toEqual([502, expect.stringContaining('cannot be reached')]);
  });

  it('knows servers and tools that exist alone', async () => {
    expect((await read('/servers/elsewhere')).status).toBe(404);
    expect([(await read(pathOf('odd', 'other'))).status, (await send('odd', 'other')).status]).toEqual([400, 400]);
  });
});

describe('who may try a tool', () => {
  it('a viewer sees the tools, and no form', async () => {
    expect((await read('/servers/odd', VIEWER)).text).toContain(pathOf('odd', 'survey'));
    const page = await read(pathOf('odd', 'survey'), VIEWER);
    expect(said(page)).toContain('only an operator may try it');
    expect(page.text).not.toContain('method="post" action="/servers');
  });

  it('a viewer cannot call one', async () => {
    const answers = [
      await send('odd', 'survey', { name: 'x', depth: '1' }, { key: VIEWER }),
      await call('odd', { tool: 'survey', arguments: {} }, VIEWER),
    ];
    for (const { status, text } of answers)
      expect([status, text]).toEqual([403, expect.stringContaining('console_role')]);
    expect(audit.entries.filter(({ what }) => what === 'call')).toEqual([]);
  });

  it('a caller of the public port, and a stranger, see and call nothing', async () => {
    for (const key of [CALLER, 'a guess']) {
      expect((await read('/servers/odd', key)).status).toBe(401);
      expect((await read('/api/servers/odd/tools', key)).status).toBe(401);
      expect((await send('odd', 'survey', {}, { key })).status).toBe(401);
    }
  });

  it('takes no form and no call of another site', async () => {
    const headers = { origin: 'http://evil.example' };
    const answers = [
      await send('odd', 'survey', {}, { headers }),
      await call('odd', { tool: 'fail' }, OPERATOR, headers),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    expect(audit.entries.filter(({ what }) => what === 'call')).toEqual([]);
  });

  it('takes no form that is not one of its page', async () => {
    const other = await send('odd', 'fail', { shape: 'another' });
    expect([other.status, said(other)]).toEqual([409, expect.stringContaining('has changed')]);
    expect((await send('odd', 'fail', { more: 'x' })).status).toBe(400);
    expect((await send('odd', 'fail', { others: ' '.repeat(1_100_000) })).status).toBe(400);
    const body = new URLSearchParams({ shape: 'x' });
    expect((await read(pathOf('odd', 'fail'), OPERATOR, { method: 'POST', body })).status).toBe(415);
    expect(audit.entries.filter(({ what }) => what === 'call')).toEqual([]);
  });

  it('the rules hold for an operator as for every caller', async () => {
    const hidden = await read('/servers/hr');
    expect(said(hidden)).toContain('servers.hr.allow does not let you use this server');
    const refused = await call('hr', { tool: 'survey' });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('server_forbidden')]);
    expect(audit.entries).toContainEqual(
      expect.objectContaining({ allowed: false, actor: 'ann', server: 'hr', code: 'server_forbidden' }),
    );
    const { tools } = JSON.parse((await read('/api/servers/few/tools')).text) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(['survey', 'sink', 'silent_about_it']);
    expect((await send('few', 'fail')).status).toBe(400);
  });
});

describe('what holds for an operator as for every caller', () => {
  it('limits of callers, and rules about files', async () => {
    const own = await startWharf({
      servers: { odd: { command: ODD, tools: { weigh: { files: { image_base64: { encoding: 'base64' } } } } } },
      config: {
        ...config,
        callers: [{ principal: 'console:*', limits: { requestsPerMinute: 6 } }],
        flow: [{ deny: { to: 'odd' } }],
      },
    });
    const ask = async (tool: string, args: object) => {
      const answer = await fetch(`${own.adminUrl}/api/servers/odd/call`, {
        method: 'POST',
        headers: { authorization: `Bearer ${OPERATOR}` },
        body: JSON.stringify({ tool, arguments: args }),
      });
      return { status: answer.status, text: await answer.text() };
    };
    try {
      // the session takes two requests, the list and the call one each
      const image_base64 = `data:image/png;base64,${randomBytes(900).toString('base64')}`;
      const denied = await ask('weigh', { image_base64 });
      expect([denied.status, denied.text]).toEqual([200, expect.stringContaining('"isError":true')]);
      expect(denied.text).not.toContain('900 bytes');
      expect((await ask('fail', {})).text).toContain('The tide is out.');
      const limited = await ask('fail', {});
      expect([limited.status, limited.text]).toEqual([429, expect.stringContaining('rate_limited')]);
    } finally {
      await own.stop();
    }
  });
});

describe('what a server says about itself and answers', () => {
  it('runs nowhere', async () => {
    const pages = [await read('/servers/odd'), await read(pathOf('odd', 'evil')), await send('odd', 'evil')];
    pages.push(await send('odd', 'refuse'), await read(pathOf('odd', 'thousand')));
    for (const { text, headers } of pages as (Page & { headers: Headers })[]) {
      expect(text).not.toMatch(
        /<script|<img(?! src="data:image\/(?:png|jpeg|gif|webp|avif);base64,[\w+/=]*")| onerror="|href="javascript/,
      );
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    }
    expect(said(pages[2] as Page)).not.toContain('a file');
  });

  it('turns no text around', async () => {
    const pages = [await read('/servers/odd'), await read(pathOf('odd', 'evil')), await send('odd', 'evil')];
    pages.push(await send('odd', 'refuse'));
    for (const page of pages) expect(page.text).not.toMatch(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
    expect(said(pages[2] as Page)).toContain('tide\\u202egpj.exe');
  });

  it('makes no page large', async () => {
    const thousand = await read(pathOf('odd', 'thousand'));
    expect(thousand.text.match(/<textarea/g)).toHaveLength(61);
    expect(thousand.text).toContain('<bdi>option_999</bdi>');
    expect(said(thousand)).toContain('Its 940 other arguments');
    const huge = await send('odd', 'huge');
    expect(said(huge)).toContain('There are 950 more blocks');
    const nested = await send('odd', 'nested');
    for (const { text } of [thousand, huge, nested]) expect(text.length).toBeLessThan(500_000);
  });

  it('is refused where it is too large to be shown', async () => {
    const page = await send('odd', 'enormous');
    expect([page.status, said(page)]).toEqual([502, expect.stringContaining('4.1 MB allowed')]);
  });

  it('may be a schema that refers to itself', async () => {
    const page = await send('odd', 'recursive', { tree: '{"left":{"left":{}}}' });
    expect([page.status, said(page)]).toEqual([200, expect.stringContaining('recursive is done.')]);
  });
});

describe('the same as JSON', () => {
  it('lists tools with their files, and calls one', async () => {
    const { tools } = JSON.parse((await read('/api/servers/odd/tools', VIEWER)).text) as { tools: { name: string }[] };
    expect(tools.find(({ name }) => name === 'weigh')).toMatchObject({
      mayDestroy: false,
      files: [{ path: ['image_base64'], largest: 1024 * 1024 }],
    });
    const { status, text } = await call('odd', { tool: 'survey', arguments: { name: 'x', depth: 1 } });
    const answer = JSON.parse(text) as { result: object; ms: number };
    expect([status, answer]).toMatchObject([
      200,
      { result: { structuredContent: { given: { name: 'x', depth: 1 } } } },
    ]);
    expect(answer.ms).toBeGreaterThanOrEqual(0);
  });

  it('asks for a word before a tool that may destroy', async () => {
    expect((await call('odd', { tool: 'sink' })).status).toBe(400);
    expect((await call('odd', { tool: 'sink', confirm: true })).text).toContain('sink is done.');
  });

  it('says what is wrong with a call', async () => {
    for (const body of [{}, { tool: 1 }, { tool: 'fail', arguments: [] }])
      expect((await call('odd', body)).status).toBe(400);
    expect((await read('/api/servers/odd/call', OPERATOR, { method: 'POST', body: '{' })).status).toBe(400);
    expect((await call('elsewhere', { tool: 'fail' })).status).toBe(404);
  });
});

describe('the command that does the same', () => {
  /** Runs the commands of a page as a caller of the public port. */
  async function run(page: Page, cwd?: string): Promise<string> {
    const [, command = ''] = /curl<\/summary>.*?<pre[^>]*>(.*?)<\/pre>/s.exec(page.text) ?? [];
    const env = { ...process.env, WHARF_KEY: CALLER };
    const { stdout } = await promisify(execFile)('sh', ['-c', plain(command)], { env, cwd });
    return stdout;
  }

  it('gives the same answer at the public port', async () => {
    const page = await send('odd', 'survey', { name: `it's "$(id)" \\ é`, depth: '1' });
    const out = await run(page);
    expect(out).toContain('"structuredContent":{"given":{"name":"it\'s \\"$(id)\\" \\\\ é","depth":1}}');
  });

  it('reads files from the folder that it is run in', async () => {
    const bytes = randomBytes(200_000);
    const digest = sha256(bytes);
    const folder = await mkdtemp(join(tmpdir(), 'wharf-try-'));
    try {
      const page = await send('odd', 'weigh', { image_base64: new File([bytes], "a 'b'.bin"), note: 'x' });
      const [, name = ''] = /base64 &lt; (.*?) \|/.exec(page.text) ?? [];
      expect(name).not.toBe('');
      await writeFile(join(folder, "a 'b'.bin"), bytes);
      expect(await run(page, folder)).toContain(`200000 bytes, ${digest}, x`);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('servers that know people', () => {
  const tried = async (servers: Record<string, unknown>, more: object) => {
    const own = await startWharf({ servers, config: { ...config, ...more } });
    try {
      const headers = { authorization: `Bearer ${OPERATOR}` };
      const [name] = Object.keys(servers);
      const page = await fetch(`${own.adminUrl}/servers/${name}`, { headers });
      const form = await fetch(`${own.adminUrl}${pathOf(String(name), 'x')}`, { headers });
      return said({ status: 200, text: `${await page.text()}` }) + said({ status: 200, text: await form.text() });
    } finally {
      await own.stop();
    }
  };

  it.each([
    ['perUser', { perUser: { issuer: 'http://127.0.0.1:1', clientId: 'wharf', clientSecret: 'x' } }],
    ['delegate', { delegate: true }],
  ])('cannot be tried: upstreamAuth.%s', async (name, upstreamAuth) => {
    const text = await tried(
      { own: { url: 'http://127.0.0.1:1/mcp', transport: 'streamable-http', upstreamAuth } },
      { publicUrl: 'http://127.0.0.1:8080' },
    );
    expect(text.match(new RegExp(`upstreamAuth.${name}\\).*cannot be tried here`, 'gs'))).not.toBeNull();
  });

  it('cannot be tried: auth.passthrough', async () => {
    const text = await tried(
      { own: { url: 'http://127.0.0.1:1/mcp', transport: 'streamable-http' } },
      { auth: { use: 'passthrough' } },
    );
    expect(text).toContain('(auth: passthrough)');
  });
});
