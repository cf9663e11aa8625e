import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { RawSocket } from '../../helpers/raw-socket.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

let wharf: Wharf;

beforeAll(async () => {
  const users = [{ name: 'ann', role: 'operator', hash: keyHash('ann-0123456789') }];
  wharf = await startWharf({
    servers: { absent: { url: 'http://127.0.0.1:9' } },
    config: { console: { users }, timeouts: { idle: '1s' } },
  });
});

afterAll(() => wharf?.stop());

const BROWSER = 'text/html,application/xhtml+xml';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

async function logIn(accept: string, key: string) {
  const headers = { ...FORM, accept };
  const answer = await fetch(`${wharf.adminUrl}/login`, { method: 'POST', headers, body: `key=${key}` });
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
}

it('a login that cannot be read is a page for a person, with the form, and data for a program', async () => {
  const long = 'a'.repeat(100_000);
  const page = await logIn(BROWSER, long);
  expect(page).toMatchObject({ status: 400, type: 'text/html; charset=utf-8' });
  expect(page.text).toContain('the form is too long');
  expect(page.text).toContain('<form method="post" action="/login"');
  const data = await logIn('application/json', long);
  expect(data).toMatchObject({ status: 400, type: 'application/json' });
  expect(JSON.parse(data.text)).toMatchObject({ error: { data: { code: 'request_invalid' } } });
});

it('a login that stops on its way is a page for a person too', async () => {
  const socket = await RawSocket.open(Number(new URL(wharf.adminUrl).port));
  socket.head('POST /login', { ...FORM, Accept: BROWSER, 'Content-Length': 100 });
  socket.send('key=a');
  const answer = await socket.until(/<\/html>/);
  expect(answer).toMatch(/^HTTP\/1\.1 504 /);
  expect(answer).toContain('5 of the 100 bytes');
  await socket.toEnd();
});

it('half logins leave the admin port to others, and are given up for further ones', async () => {
  const patient = await startWharf({
    servers: { absent: { url: 'http://127.0.0.1:9' } },
    config: { console: { users: [{ name: 'ann', hash: keyHash('ann-0123456789') }] } },
  });
  const sockets: RawSocket[] = [];
  try {
    for (let count = 0; count < 110; count++) {
      const socket = await RawSocket.open(Number(new URL(patient.adminUrl).port));
      sockets.push(socket);
      socket.head('POST /login', { ...FORM, Accept: BROWSER, 'Content-Length': 100 });
      socket.send('key=a');
    }
    const heard = () => Promise.all(sockets.map((socket) => socket.until(/^/)));
    await until(async () => (await heard()).filter((answer) => answer.startsWith('HTTP/1.1 503 ')).length === 90);
    expect(await sockets[0]?.toEnd()).toContain('20 logins are read at one time, and this one came too slowly.');
    await until(async () => (await fetch(`${patient.adminUrl}/healthz`)).status === 200);
    const whole = await fetch(`${patient.adminUrl}/login`, {
      method: 'POST',
      headers: FORM,
      body: 'key=ann-0123456789',
      redirect: 'manual',
    });
    expect(whole.status).toBe(303);
  } finally {
    await patient.stop();
    await Promise.all(sockets.map((socket) => socket.toEnd()));
  }
});
