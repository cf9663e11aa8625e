import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type AuthorizationServer, followLogin, startAuthorizationServer } from '../../helpers/authorization-server.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const MCP_REMOTE = fileURLToPath(new URL('../../../../node_modules/mcp-remote/dist/proxy.js', import.meta.url));

let idp: AuthorizationServer;
let fake: FakeUpstream;
let wharf: Wharf;
let folder: string;

beforeAll(async () => {
  idp = await startAuthorizationServer();
  fake = await startFakeUpstream({ transport: 'json', session: true });
  folder = await mkdtemp(join(tmpdir(), 'wharf-mcp-remote-'));
  wharf = await startWharf({
    servers: { hr: { url: fake.url }, web: { url: fake.url } },
    config: { auth: { use: 'jwt', jwt: { issuers: [{ issuer: idp.url }], scopes: { '*': ['mcp'] } } } },
  });
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
  await idp?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a stdio client behind mcp-remote', () => {
  it('logs in at the authorization server, in the browser to which mcp-remote sends its user', async () => {
    // no browser of this machine is opened
    const env = { HOME: folder, MCP_REMOTE_CONFIG_DIR: folder, PATH: folder };
    const args = [MCP_REMOTE, `${wharf.url}/hr/mcp`, '--allow-http', '--transport', 'http-only'];
    const transport = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'pipe' });
    let said = '';
    let login: Promise<unknown> | undefined;
    transport.stderr?.on('data', (chunk) => {
      said += String(chunk);
      const [url] = new RegExp(`${idp.url}/auth\\S+(?=\\s)`).exec(said) ?? [];
      if (url === undefined || login) return;
      const callback = new URL(url).searchParams.get('redirect_uri') ?? '';
      login = followLogin(url, callback).then((back) => fetch(back));
    });
    const client = new Client({ name: 'behind mcp-remote', version: '1' });
    await client.connect(transport, { timeout: 60_000 });
    await login;
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    expect(wharf.lines.map(({ fields }) => fields.principal)).toContain(`${idp.url}|ada`);
    await client.close();
  });
});
