import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEFAULT_TIMEOUTS } from '../../../gateway/policy/limits.js';
import { keyHash } from '../../helpers/bytes.js';
import { gate } from '../../helpers/gate.js';
import { RawClient } from '../../helpers/raw-client.js';
import type { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { freshName } from '../../helpers/services.js';
import { until } from '../../helpers/wait.js';
import type { Wharf } from '../../helpers/wharf.js';
import { PNG, startGatewayFor, startUpstream, textOf } from './lab.js';
import { RawCall } from './raw-call.js';

const KEY = 'a-key-of-the-tests-that-nobody-guesses';
const AUTH = {
  auth: { use: 'apiKeys', keys: [{ name: 'ann', hash: keyHash(KEY) }] },
};
const ABOUT = { capabilities: { elicitation: { url: {} } }, headers: { authorization: `Bearer ${KEY}` } };
const WRONG = '222-222';
const HTML = { accept: 'text/html' };

let upstream: RecordingUpstream;
let wharf: Wharf;
/** Another replica. */
let other: Wharf;

beforeAll(async () => {
  upstream = await startUpstream();
  const shared = { stores: 's3+redis', bucket: freshName('codes'), keyPrefix: `${freshName('codes')}:` } as const;
  wharf = await startGatewayFor(upstream, { ...shared, config: AUTH });
  other = await startGatewayFor(upstream, { ...shared, config: AUTH });
});

afterAll(async () => {
  await other?.stop();
  await wharf?.stop();
  await upstream?.stop();
});

/** A call that waits for its file, with the link and the code of its question. */
async function ask() {
  const call = await RawCall.begin(wharf.mcp, 'take', {}, ABOUT);
  const question = await call.message(({ method }) => method === 'elicitation/create');
  const url = String(question.params?.url);
  const code = /this code: (\w{3}-\w{3})\./.exec(String(question.params?.message))?.[1] ?? '';
  const decline = async () => {
    await call.client.post({ jsonrpc: '2.0', id: question.id, result: { action: 'decline' } });
    await call.result();
  };
  return { call, url, code, decline };
}

const elsewhere = (url: string) => url.replace(wharf.url, other.url);
const put = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'PUT', body: new Uint8Array(PNG), headers });
const give = (url: string, code: string) =>
  fetch(`${url}?unlock`, { method: 'POST', body: new URLSearchParams({ code }), headers: HTML, redirect: 'manual' });
const stateOf = async (url: string) => (await fetch(url, { headers: { accept: 'application/json' } })).json();

describe('a link for a person, where callers are told apart', () => {
  it('takes a file from who knows the code of the message, on any replica, without script (FB-09)', async () => {
    const { call, url, code } = await ask();
    expect(code).toMatch(/^[2-9A-HJKMNP-TV-Z]{3}-[2-9A-HJKMNP-TV-Z]{3}$/);
    const asked = await (await fetch(url, { headers: HTML })).text();
    expect(asked).toContain('Enter the code');
    expect(asked).not.toContain('type="file"');
    expect(await stateOf(url)).toMatchObject({ status: 'open', needsCode: true });
    expect((await put(url)).status).toBe(403);
    const right = await give(elsewhere(url), ` ${code.toLowerCase().replace('-', ' ')} `);
    expect(right.status).toBe(303);
    // as a Japanese keyboard writes it, and as a text editor does
    const wide = code
      .replace('-', '–')
      .replace(/\w/g, (sign) => String.fromCodePoint((sign.codePointAt(0) ?? 0) + 0xfee0));
    expect((await give(url, wide)).status).toBe(303);
    const next = new URL(String(right.headers.get('location')), `${url}?unlock`).href;
    const set = String(right.headers.get('set-cookie'));
    expect(set).toMatch(/; HttpOnly; SameSite=Lax$/);
    expect(set).not.toContain(code);
    const cookie = set.split(';')[0] ?? '';
    // a browser that keeps no cookies is told so, and another one stays at the link's own address
    expect(await (await fetch(next, { headers: HTML })).text()).toContain('has not kept the cookie');
    const clean = await fetch(next, { headers: { ...HTML, cookie }, redirect: 'manual' });
    expect([clean.status, new URL(String(clean.headers.get('location')), next).href]).toEqual([303, url]);
    // what begins before the link expires may go on for `timeouts.upload`
    const { expiresAt } = (await stateOf(url)) as { expiresAt: string };
    const seconds = Number(/Max-Age=(\d+)/.exec(set)?.[1]);
    expect(Date.now() + seconds * 1000).toBeGreaterThan(Date.parse(expiresAt) + DEFAULT_TIMEOUTS.upload - 60_000);
    expect(await (await fetch(url, { headers: { ...HTML, cookie } })).text()).toContain('type="file"');
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(PNG)]), 'a.png');
    expect((await fetch(url, { method: 'POST', body: form, headers: { ...HTML, cookie } })).status).toBe(201);
    expect(JSON.parse(textOf(await call.result()))).toEqual({ file: PNG.toString('base64') });
    for (const one of [wharf, other]) {
      expect(one.logged()).not.toContain(code);
      expect(one.logged()).not.toContain(code.replace('-', ''));
    }
  });

  it('is locked for everybody after three wrong codes, over all replicas (FB-09)', async () => {
    const { url, code, decline } = await ask();
    const first = await give(url, WRONG);
    expect([first.status, await first.text()]).toEqual([403, expect.stringContaining('2 more tries are left')]);
    expect((await put(elsewhere(url), { 'wharf-code': WRONG })).status).toBe(403);
    const third = await give(elsewhere(url), WRONG);
    expect([third.status, await third.text()]).toEqual([403, expect.stringContaining('for another person')]);
    expect((await give(url, code)).status).toBe(403);
    expect((await put(url, { 'wharf-code': code })).status).toBe(403);
    expect(await stateOf(url)).toEqual({ status: 'locked' });
    await decline();
  });

  it('counts tries that come at the same time (FB-09)', async () => {
    const { url, code, decline } = await ask();
    const tries = await Promise.all(
      Array.from({ length: 30 }, async (_, at) => (await give(at % 2 ? url : elsewhere(url), `${WRONG}${at}`)).text()),
    );
    expect(tries.filter((text) => text.includes('left.'))).toHaveLength(2);
    expect((await give(url, code)).status).toBe(403);
    await decline();
  });

  it('is not locked by its right code, however many requests give it at a time (FB-09)', async () => {
    const { url, code, decline } = await ask();
    const burst = (times: number) =>
      Promise.all(
        Array.from({ length: times }, async (_, at) => (await give(at % 2 ? url : elsewhere(url), code)).status),
      );
    expect(new Set(await burst(30))).toEqual(new Set([303]));
    // a wrong code still counts, and the right one takes no place from it
    const first = await give(url, WRONG);
    expect(await first.text()).toContain('2 more tries are left');
    expect(new Set(await burst(10))).toEqual(new Set([303]));
    for (const at of [url, elsewhere(url)]) await give(at, WRONG);
    expect(new Set(await burst(10))).toEqual(new Set([403]));
    await decline();
  });

  it('needs the code for every request of a resumable upload (FB-09)', async () => {
    const { call, url, code } = await ask();
    const tus = { 'tus-resumable': '1.0.0' };
    const begin = { method: 'POST', headers: { ...tus, 'upload-length': String(PNG.length) } };
    expect((await fetch(url, begin)).status).toBe(403);
    const headers = { ...begin.headers, 'wharf-code': code };
    const begun = await fetch(url, { ...begin, headers });
    expect(begun.status).toBe(201);
    const place = new URL(String(begun.headers.get('location')), url);
    for (const method of ['HEAD', 'DELETE']) expect((await fetch(place, { method, headers: tus })).status).toBe(403);
    const sent = await fetch(place, {
      method: 'PATCH',
      headers: { ...tus, 'wharf-code': code, 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' },
      body: new Uint8Array(PNG),
    });
    expect(sent.status).toBe(204);
    await call.result();
  });
});

describe('a code that is sent while Wharf shuts down', () => {
  it('is a running exchange: it is taken before the end', async () => {
    const ending = await startGatewayFor(upstream, { config: AUTH });
    const client = await RawClient.connect(ending.mcp, '2025-11-25', { headers: ABOUT.headers });
    const text = textOf((await client.call('request_file_upload', {})).result);
    const [, code = '', url = ''] = /this page and the code (\S+) to the person .*: (http\S+)/.exec(text) ?? [];
    const rest = gate();
    const body = ReadableStream.from(
      (async function* () {
        yield new TextEncoder().encode('code=');
        await rest.opened;
        yield new TextEncoder().encode(code);
      })(),
    );
    const headers = { ...HTML, 'content-type': 'application/x-www-form-urlencoded' };
    const sent = fetch(`${url}?unlock`, {
      method: 'POST',
      body,
      headers,
      redirect: 'manual',
      duplex: 'half',
    } as RequestInit);
    const isOpen = async () => /wharf_open_exchanges 1/.test(await (await fetch(`${ending.adminUrl}/metrics`)).text());
    await until(isOpen);
    const stopped = ending.stop();
    await until(async () => (await fetch(`${ending.adminUrl}/readyz`)).status === 503);
    rest.open();
    expect((await sent).status).toBe(303);
    await stopped;
  });
});

describe('the text with a link', () => {
  it.each([
    ['of a call that lacks its file', 'take'],
    ['of request_file_upload', 'request_file_upload'],
  ])('%s has the code beside the link, and curl lines that work as they are (FB-09, FB-10)', async (_, tool) => {
    const client = await RawClient.connect(wharf.mcp, '2025-11-25', { headers: ABOUT.headers });
    const text = textOf((await client.call(tool, {})).result);
    const [, code, url] = /this page and the code (\S+) to the person .*: (http\S+)/.exec(text) ?? [];
    expect((await put(String(url))).status).toBe(403);
    const line = /curl -sSg -H .* -F \S+ \S+/.exec(text)?.[0] ?? '';
    expect(line).toContain(`'Wharf-Code: ${code}'`);
    const folder = await mkdtemp(join(tmpdir(), 'wharf-code-'));
    await writeFile(join(folder, 'FILE'), PNG);
    const { stdout } = await promisify(execFile)('sh', ['-c', line], { cwd: folder });
    expect(JSON.parse(stdout)).toMatchObject({ status: 'completed' });
    await rm(folder, { recursive: true });
  });
});
