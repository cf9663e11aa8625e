import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { STATELESS_VERSIONS, VERSIONS_WITH_SESSIONS } from '../../../gateway/mcp/era.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

/** A server that takes any version for one of its own. */
let server: RecordingUpstream;
let wharf: Wharf;

beforeAll(async () => {
  server = await RecordingUpstream.start({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
  wharf = await startWharf({ servers: { s: { url: server.url, transport: 'streamable-http' } } });
});

afterAll(async () => {
  await wharf?.stop();
  await server?.stop();
});

beforeEach(() => {
  server.requests.length = 0;
});

describe('a version of the protocol that is not known', () => {
  it.each(['2026-07-29', '2027-01-01', '9999-99-99', 'draft', `2026-07-28${'x'.repeat(5000)}`])(
    'is refused with those that are known, and the server hears nothing: %.20s',
    async (version) => {
      const client = RawClient.stateless(wharf.mcp, version, {});
      const { error, answer } = await client.request('tools/list');
      expect(answer.status).toBe(400);
      expect(error).toMatchObject({ code: -32022, data: { supported: STATELESS_VERSIONS } });
      expect(JSON.stringify(error).length).toBeLessThan(500);
      expect(server.requests).toEqual([]);
    },
  );

  it('is refused by its header alone just so (G20)', async () => {
    const headers = { 'mcp-protocol-version': '2027-01-01', 'mcp-method': 'tools/list' };
    const client = RawClient.stateless(wharf.mcp, '2026-07-28');
    const answer = await client.post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', headers);
    expect([answer.status, answer.messages[0]?.error]).toMatchObject([400, { code: -32022 }]);
  });

  it('is a mismatch first where the header names another one', async () => {
    const meta = { 'io.modelcontextprotocol/protocolVersion': '9999-99-99' };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
    const answer = await RawClient.stateless(wharf.mcp, '2026-07-28').post(JSON.stringify(message), headers);
    expect([answer.status, answer.messages[0]?.error]).toMatchObject([400, { data: { code: 'header_mismatch' } }]);
  });

  it('opens no view of its own where a request names it without a session', async () => {
    for (let day = 10; day < 40; day++) {
      const client = RawClient.stateless(wharf.mcp, `2025-07-${day}`);
      await client.call('echo');
    }
    // one list for all of them: each is of the same era
    expect(server.with('tools/list').length).toBe(1);
  });
});

describe('a request in the session of a server without HTTP', () => {
  let stdio: Wharf;

  beforeAll(async () => {
    const command = [process.execPath, 'test/helpers/task-stdio.fixture.mjs'];
    stdio = await startWharf({ servers: { s: { command } } });
  });

  afterAll(() => stdio?.stop());

  const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const by = (version: string) => ({ 'mcp-protocol-version': version });

  it('is refused with a version that is not known, as a server behind HTTP refuses it', async () => {
    const client = await RawClient.connect(stdio.mcp, '2025-11-25');
    for (const version of ['1999-01-01', 'x', '', '2025-11-25, 2025-11-25', '2026-07-29']) {
      const told = await client.post({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' }, by(version));
      expect([version, told.status]).toEqual([version, 400]);
    }
    const refused = await client.post(LIST, by('1999-01-01'));
    expect([refused.status, refused.messages[0]]).toMatchObject([
      400,
      { id: 1, error: { code: -32022, data: { requested: '1999-01-01', supported: VERSIONS_WITH_SESSIONS } } },
    ]);
    for (const method of ['GET', 'DELETE']) {
      const headers = { ...client.headers(), ...by('1999-01-01') };
      expect((await fetch(stdio.mcp, { method, headers })).status).toBe(400);
    }
    expect((await client.post(LIST)).status).toBe(200);
    expect(await client.delete()).toBe(204);
  });

  it('is taken without a version, with another one that is known, and with what client and server have agreed on', async () => {
    const client = await RawClient.connect(stdio.mcp, '2025-01-01');
    for (const version of ['2025-01-01', '2025-03-26', '2024-11-05']) {
      expect((await client.post(LIST, by(version))).status).toBe(200);
    }
    const { 'mcp-protocol-version': _, ...own } = client.headers();
    const headers = { ...own, 'content-type': 'application/json' };
    const answer = await fetch(stdio.mcp, { method: 'POST', headers, body: JSON.stringify(LIST) });
    expect(answer.status).toBe(200);
    await answer.text();
    await client.delete();
  });
});
