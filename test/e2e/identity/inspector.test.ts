import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type OutsideTools, outsideTools } from '../../conformance/outside-tools.js';
import { type AuthorizationServer, followLogin, startAuthorizationServer } from '../../helpers/authorization-server.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { freePorts } from '../../helpers/gateway-process-ports.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const DOCUMENT = 'https://client.example/inspector.json';

/** Milliseconds one run may take; it takes 2 s on a quiet machine. */
const RUN_MS = 60_000;

let tools: OutsideTools;
let callback: string;
let idp: AuthorizationServer;
let fake: FakeUpstream;
let wharf: Wharf;
const homes: string[] = [];

beforeAll(async () => {
  tools = await outsideTools();
  callback = `http://127.0.0.1:${(await freePorts(1))[0]}/oauth/callback`;
  const about = { client_id: DOCUMENT, client_name: 'Inspector', redirect_uris: [callback] };
  const grants = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };
  idp = await startAuthorizationServer({ [DOCUMENT]: { ...about, ...grants, token_endpoint_auth_method: 'none' } });
  fake = await startFakeUpstream({ transport: 'json', session: true });
  wharf = await startWharf({
    servers: { hr: { url: fake.url }, web: { url: fake.url } },
    config: {
      auth: { use: 'jwt', jwt: { issuers: [{ issuer: idp.url }], scopes: { '*': ['mcp'], 'hr.blob': ['hr:files'] } } },
    },
  });
}, 400_000);

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
  await idp?.stop();
  for (const home of homes) await rm(home, { recursive: true, force: true });
});

async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'wharf-inspector-'));
  homes.push(home);
  return home;
}

/** Runs the command line, and does in the browser what its user is asked to. */
async function inspect(home: string, server: string, args: string[]) {
  const url = `${wharf.url}/${server}/mcp`;
  const line = [
    tools.inspector,
    '--cli',
    '--server-url',
    url,
    '--transport',
    'http',
    '--callback-url',
    callback,
    '--format',
    'json',
  ];
  // without a terminal it wants to open a browser, which it does not find
  const env = { HOME: home, PATH: home, MCP_AUTO_OPEN_ENABLED: 'true', MCP_INSPECTOR_SECRET_STORE: 'file' };
  const child = spawn(process.execPath, [...line, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: RUN_MS,
  });
  let out = '';
  let said = '';
  const logins: string[] = [];
  child.stdout.on('data', (chunk) => {
    out += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    said += String(chunk);
    const asked = [...said.matchAll(new RegExp(`${idp.url}/auth\\S+(?=\\s)`, 'g'))].map(([address]) => address);
    const next = asked.find((one) => !logins.includes(one));
    if (next === undefined) return;
    logins.push(next);
    void followLogin(next, callback).then((back) => fetch(back));
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`the Inspector ended with ${code}: ${said}${out}`);
  return { result: JSON.parse(out) as Record<string, unknown>, logins: logins.map((one) => new URL(one).searchParams) };
}

describe("the MCP Inspector's command line", () => {
  it.each([
    ['by dynamic registration', []],
    ['by a client ID metadata document', ['--client-metadata-url', DOCUMENT]],
  ])(
    'logs in by itself at the authorization server, %s',
    async (_how, args) => {
      const home = await newHome();
      const { result, logins } = await inspect(home, 'hr', ['--method', 'tools/list', ...args]);
      expect(JSON.stringify(result)).toContain('"blob"');
      expect(logins.map((params) => params.get('resource'))).toEqual([`${wharf.url}/hr/mcp`]);
      expect(logins[0]?.get('scope')?.split(' ')).toEqual(expect.arrayContaining(['mcp', 'hr:files']));
      if (args.length > 0) expect(logins[0]?.get('client_id')).toBe(DOCUMENT);
      // all scopes were in the first challenge, so this needs no other login
      const call = ['--method', 'tools/call', '--tool-name', 'blob', '--tool-arg', 'size=10', '--use-stored-auth'];
      const again = await inspect(home, 'hr', [...call, ...args]);
      expect([again.logins, again.result]).toEqual([[], expect.anything()]);
      expect(wharf.lines.map(({ fields }) => fields.principal)).toContain(`${idp.url}|ada`);
    },
    2 * RUN_MS,
  );

  it(
    'logs in again for another server, whose tokens are others',
    async () => {
      const home = await newHome();
      await inspect(home, 'hr', ['--method', 'tools/list']);
      const { logins } = await inspect(home, 'web', ['--method', 'tools/list']);
      expect(logins.map((params) => params.get('resource'))).toEqual([`${wharf.url}/web/mcp`]);
    },
    2 * RUN_MS,
  );
});
