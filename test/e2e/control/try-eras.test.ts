import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startFixtureServer, stdioCommand } from '../../conformance/fixture-server.js';
import { keyHash } from '../../helpers/bytes.js';
import { type SdkServer, startEverything } from '../../helpers/sdk-servers.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const OPERATOR = 'the-key-of-an-operator';

let sse: SdkServer;
let http: SdkServer;
let stateless: { url: string; stop(): void };
let wharf: Wharf;

beforeAll(async () => {
  [sse, http, stateless] = await Promise.all([
    startEverything('sse'),
    startEverything('http'),
    startFixtureServer('http-2026'),
  ]);
  wharf = await startWharf({
    servers: {
      sse: { url: sse.url },
      http: { url: http.url },
      stateless: { url: stateless.url },
      'stateless-stdio': { command: stdioCommand('stdio-2026') },
    },
    config: { console: { users: [{ name: 'ann', role: 'operator', hash: keyHash(OPERATOR) }] } },
  });
});

afterAll(async () => {
  await wharf?.stop();
  for (const server of [sse, http, stateless]) server?.stop();
});

interface Answer {
  result: { content?: { text?: string }[] };
  version: string;
  curl: string;
}

async function call(server: string, tool: string, args: object): Promise<Answer> {
  const answer = await fetch(`${wharf.adminUrl}/api/servers/${server}/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR}` },
    body: JSON.stringify({ tool, arguments: args, confirm: true }),
  });
  return (await answer.json()) as Answer;
}

const run = async (command: string) => (await promisify(execFile)('sh', ['-c', command])).stdout;

describe('trying a tool of a server', () => {
  it.each(['sse', 'http'])('with sessions, over %s, also once its session has ended', async (server) => {
    for (const _ of ['first', 'second']) {
      const { result, curl } = await call(server, 'echo', { message: 'Ahoy' });
      expect(result.content?.[0]?.text).toBe('Echo: Ahoy');
      expect(await run(curl)).toContain('Echo: Ahoy');
      const headers = { authorization: `Bearer ${OPERATOR}` };
      const open = (await (await fetch(`${wharf.adminUrl}/api/sessions`, { headers })).json()) as Record<
        string,
        string
      >[];
      const own = open.filter((one) => one.server === server && one.principal === 'console:ann');
      expect(own.map(({ client }) => client?.split(' ')[0])).toEqual(['wharf-console']);
      const body = new URLSearchParams({ session: String(own[0]?.tag) });
      await fetch(`${wharf.adminUrl}/sessions/end`, { method: 'POST', headers, body, redirect: 'manual' });
    }
  });

  it.each(['stateless', 'stateless-stdio'])('without sessions (%s), its arguments in headers too', async (server) => {
    const { result, version, curl } = await call(server, 'test_header_param', { region: 'é' });
    expect([version, result.content?.[0]?.text]).toEqual(['2026-07-28', 'region: é']);
    expect(await run(curl)).toContain('region: é');
  });

  it('without sessions, whose error is its own', async () => {
    const tool = 'test_input_required_result_elicitation';
    expect(await call('stateless', tool, {})).toMatchObject({ error: { code: -32021 }, version: '2026-07-28' });
  });
});
