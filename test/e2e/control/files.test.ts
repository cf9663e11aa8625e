import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { parseCommandLine } from '../../../gateway/cli.js';
import { runFiles } from '../../../gateway/control/run-files.js';
import { keyHash, sha256Url } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RawSocket } from '../../helpers/raw-socket.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { freshName } from '../../helpers/services.js';
import { STORES, startWharf, type Wharf } from '../../helpers/wharf.js';
import { announced, image } from '../files/handoff-lab.js';

const KEYS = { ann: 'ann-key-0123456789abcdef', bob: 'bob-key-0123456789abcdef' };
type Who = keyof typeof KEYS;

const SHOT = image();
let upstream: RecordingUpstream;

beforeAll(async () => {
  upstream = await RecordingUpstream.start({
    tools: [
      { name: 'give', inputSchema: { type: 'object' } },
      { name: 'take', inputSchema: { type: 'object', properties: { file: { type: 'string' } } } },
    ],
    methods: {
      'tools/call': ({ name, arguments: args }) =>
        name === 'give'
          ? { content: [{ type: 'image', mimeType: 'image/png', data: given((args as { of?: number }).of ?? 0) }] }
          : { content: [{ type: 'text', text: 'taken' }] },
    },
  });
});

afterAll(() => upstream?.stop());

const given = (of: number) => Buffer.concat([SHOT, Buffer.from(String(of))]).toString('base64');

interface Listed {
  files: { id: string; principal: string; server: string; digest: string; heldAt?: string; revokedAt?: string }[];
  next?: string;
}

describe.each(STORES)('Files under control, over %s', (stores) => {
  let first: Wharf;
  let second: Wharf;

  beforeEach(async () => {
    const shared = { bucket: freshName('control'), keyPrefix: `${freshName('control')}:` };
    const server = {
      url: upstream.url,
      transport: 'streamable-http',
      tools: { take: { files: { file: { encoding: 'base64' } } } },
    };
    const auth = { use: 'apiKeys', keys: Object.entries(KEYS).map(([name, key]) => ({ name, hash: keyHash(key) })) };
    const config = { auth, links: { style: 'gateway' } };
    const start = () => startWharf({ servers: { lab: server }, stores, config, ...shared });
    first = await start();
    second = stores === 's3+redis' ? await start() : first;
  });

  afterEach(async () => {
    await first?.stop();
    if (second !== first) await second?.stop();
  });

  const client = (wharf: Wharf, who: Who) =>
    RawClient.connect(wharf.mcp, '2025-06-18', { headers: { authorization: `Bearer ${KEYS[who]}` } });

  async function give(who: Who, of = 0) {
    const file = announced((await (await client(first, who)).call('give', { of })).result);
    return { uri: file.uri, id: file.uri.slice(file.uri.lastIndexOf('/') + 1), url: String(file.url) };
  }

  const at = (wharf: Wharf, path: string, method = 'GET', headers: Record<string, string> = {}) =>
    fetch(`${wharf.adminUrl}${path}`, { method, headers });
  const list = async (query = '') => (await (await at(first, `/files${query}`)).json()) as Listed;
  const status = async (wharf: Wharf, url: string) =>
    (await fetch(new URL(new URL(url).pathname, wharf.url), { redirect: 'manual' })).status;
  const isServed = (code: number) => code === 200 || code === 302;

  async function takes(wharf: Wharf, who: Who, uri: string): Promise<boolean> {
    const { result } = await (await client(wharf, who)).call('take', { file: uri });
    return result?.isError !== true;
  }

  it('are listed by caller, server, digest and age, in pages', async () => {
    for (const of of [1, 2, 3]) await give('ann', of);
    await give('bob');
    expect((await list()).files).toHaveLength(4);
    expect((await list('?principal=bob')).files).toMatchObject([{ principal: 'bob', server: 'lab' }]);
    expect((await list('?server=other')).files).toEqual([]);
    const digest = sha256Url(Buffer.from(given(2), 'base64'));
    expect((await list(`?digest=${digest}`)).files).toMatchObject([{ digest, principal: 'ann' }]);
    expect((await list('?before=2020-01-01T00:00:00Z')).files).toEqual([]);
    const seen: string[] = [];
    let after = '';
    for (let pages = 0; pages < 5; pages++) {
      const page: Listed = await list(`?principal=ann&limit=1${after}`);
      seen.push(...page.files.map(({ id }) => id));
      if (page.next === undefined) break;
      after = `&after=${page.next}`;
    }
    expect(new Set(seen).size).toBe(3);
  });

  it('are revoked at every replica at once: no link and no handle leads to them, and others stay', async () => {
    const [gone, stays] = [await give('ann', 1), await give('ann', 2)];
    expect(isServed(await status(second, gone.url))).toBe(true);
    expect((await at(first, `/files/${gone.id}/revoke`, 'POST')).status).toBe(200);
    for (const wharf of [first, second]) {
      expect(await status(wharf, gone.url)).toBe(410);
      expect(await takes(wharf, 'ann', gone.uri)).toBe(false);
      expect(isServed(await status(wharf, stays.url))).toBe(true);
    }
    expect((await (await at(second, `/files/${gone.id}`)).json()) as object).toHaveProperty('revokedAt');
    // the same bytes are another file
    const again = await give('ann', 1);
    expect(again.id).not.toBe(gone.id);
    expect(isServed(await status(second, again.url))).toBe(true);
  });

  it('are removed with their bytes, all of a caller too, but not while they are held', async () => {
    const held = await give('ann', 1);
    const others = [await give('ann', 2), await give('ann', 3)];
    const bobs = await give('bob', 1);
    expect((await (await at(first, `/files/${held.id}/hold`, 'POST')).json()) as object).toHaveProperty('heldAt');
    expect((await at(second, `/files/${held.id}`, 'DELETE')).status).toBe(409);
    expect(await (await at(first, '/files?principal=ann', 'DELETE')).json()).toEqual({ removed: 2, held: 1 });
    for (const { url } of others) expect(await status(second, url)).toBe(410);
    for (const { url } of [held, bobs]) expect(isServed(await status(second, url))).toBe(true);
    // seen again, so that its record is written again
    await give('ann', 1);
    expect((await at(second, `/files/${held.id}`, 'DELETE')).status).toBe(409);
    await at(first, `/files/${held.id}/release`, 'POST');
    expect((await at(second, `/files/${held.id}`, 'DELETE')).status).toBe(200);
    expect((await list()).files.map(({ id }) => id)).toEqual([bobs.id]);
  });

  it('are managed by wharf files', async () => {
    const { id } = await give('ann');
    const run = async (...args: string[]) => {
      const action = parseCommandLine(['files', ...args, '--admin', first.adminUrl], '1');
      if (action.kind !== 'files') throw new Error(action.err);
      return runFiles(action, first.adminUrl);
    };
    expect((await run('list', '--principal', 'ann')).text).toMatch(
      new RegExp(`^${id}  .*  ann  lab.give  .*  image/png  "`),
    );
    await give('ann', 7);
    const { text: page } = await run('list', '--principal', 'ann', '--limit', '1');
    const next = /has the next ones at (\/files\?principal=ann&limit=1&after=f_[\w-]+)\.\n$/.exec(page)?.[1] ?? '';
    expect(await (await at(first, next)).json()).toMatchObject({ files: [{ principal: 'ann' }] });
    expect((await run('hold', id)).text).toMatch(/ {2}held\n$/);
    const held = `${id}: The file is held`;
    expect(await run('remove', id)).toMatchObject({ isDone: false, text: expect.stringContaining(held) });
    expect((await run('release', id)).isDone).toBe(true);
    expect((await run('revoke', `mcp-file://wharf/${id}`)).text).toMatch(/ {2}revoked\n$/);
    expect(JSON.parse((await run('show', id, '--json')).text)).toMatchObject({
      id,
      principal: 'ann',
      server: 'lab',
      tool: 'give',
    });
    expect((await run('remove', '--principal', 'ann')).text).toBe('2 removed.\n');
    expect((await run('list')).text).toBe('No files.\n');
    expect(await run('show', id)).toEqual({ isDone: false, text: `${id}: There is no file with this id.\n` });
  });

  it('are nothing that a request from another machine, or a page, can see', async () => {
    for (const name of ['x-forwarded-for', 'x-forwarded-host', 'forwarded', 'x-real-ip', 'via', 'cf-connecting-ip'])
      expect([name, (await at(first, '/files', 'GET', { [name]: '203.0.113.7' })).status]).toEqual([name, 403]);
    const { host, port } = new URL(first.adminUrl);
    const nginx = await RawSocket.open(Number(port));
    nginx.send(`GET /files HTTP/1.0\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(await nginx.toEnd()).toContain(' 403 ');
    expect((await at(first, '/files', 'GET', { origin: 'https://evil.example' })).status).toBe(403);
    expect((await at(first, '/files?limit=1001')).status).toBe(400);
    expect((await at(first, '/files', 'DELETE')).status).toBe(400);
    expect((await at(first, '/files?principal=ann&server=lab', 'DELETE')).status).toBe(400);
  });
});
