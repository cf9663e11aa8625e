import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash, sha256 } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { readAnswer } from '../../helpers/raw-client.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const KEYS = { ada: 'ada-0123456789', bob: 'bob-0123456789' };

let fake: FakeUpstream;
let wharf: Wharf;

beforeAll(async () => {
  fake = await startFakeUpstream({ transport: 'json', session: true });
  const keys = Object.entries(KEYS).map(([name, key]) => ({
    name,
    hash: keyHash(key),
  }));
  wharf = await startWharf({ servers: { fake: { url: fake.url } }, config: { auth: { use: 'apiKeys', keys } } });
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
});

async function post(body: object, headers: Record<string, string>) {
  const response = await fetch(wharf.mcp, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', ...body }),
  });
  return readAnswer(response);
}

const INITIALIZE = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
};
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe('API keys', () => {
  it.each([
    ['no key', {}],
    ['a wrong one', bearer('eve-0123456789')],
    ['a part of one', bearer(KEYS.ada.slice(0, -1))],
    ['its hash', bearer(sha256(KEYS.ada))],
    ['another scheme', { authorization: `Basic ${KEYS.ada}` }],
  ])('are required: %s is 401', async (_what, headers) => {
    const before = fake.requests.length;
    const answer = await post(INITIALIZE, headers as Record<string, string>);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(fake.requests.length).toBe(before);
  });

  it('let their callers in, and go no further', async () => {
    expect((await post(INITIALIZE, bearer(KEYS.ada))).status).toBe(200);
    expect(JSON.stringify(fake.requests.at(-1)?.rawHeaders)).not.toContain(KEYS.ada);
    expect(wharf.logged()).not.toContain(KEYS.ada);
  });

  it('own sessions: for another caller they do not exist', async () => {
    const opened = await post(INITIALIZE, bearer(KEYS.ada));
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    expect((await post({ id: 2, method: 'ping' }, { ...bearer(KEYS.ada), ...session })).status).toBe(200);
    const foreign = await post({ id: 2, method: 'ping' }, { ...bearer(KEYS.bob), ...session });
    const missing = await post({ id: 2, method: 'ping' }, { ...bearer(KEYS.bob), 'mcp-session-id': 'none' });
    expect([foreign.status, foreign.text]).toEqual([missing.status, missing.text]);
    expect(foreign.status).toBe(404);
  });

  it('own files: the same bytes of another caller are another file', async () => {
    const uris = [];
    for (const key of [KEYS.ada, KEYS.bob, KEYS.ada]) {
      const opened = await post(INITIALIZE, bearer(key));
      const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
      const params = { name: 'blob', arguments: { size: 1_000_000, seed: 77 } };
      const answer = await post({ id: 3, method: 'tools/call', params }, { ...bearer(key), ...session });
      uris.push(answer.text.match(/mcp-file:[^"\\]+/)?.[0]);
    }
    expect(uris[0]).toBe(uris[2]);
    expect(uris[0]).not.toBe(uris[1]);
  });
});
