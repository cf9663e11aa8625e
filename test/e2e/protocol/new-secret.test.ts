import { afterEach, describe, expect, it } from '@jest/globals';
import { followLogin } from '../../helpers/authorization-server.js';
import { keyHash } from '../../helpers/bytes.js';
import { startFakeUpstream } from '../../helpers/fake-upstream.js';
import { freePort } from '../../helpers/gateway-process-ports.js';
import { comeBack, openLogin } from '../../helpers/person.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { RotatingServer } from '../../helpers/rotating-server.js';
import { freshName } from '../../helpers/services.js';
import { startWharf, type Wharf, type WharfOptions } from '../../helpers/wharf.js';
import { announced } from '../files/handoff-lab.js';

const OLD = 'the secret of last year, of many bytes';
const NEW = 'the secret of this year, of many bytes';
const KEY = 'a-key-of-ada';
const BASE = 'https://wharf.example';

let wharf: Wharf;
const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await wharf.stop();
  for (const end of ends.splice(0)) await end();
});

/** A gateway whose state outlives it; each call starts it anew, with other secrets. */
function lasting(servers: WharfOptions['servers'], config: object = {}) {
  const shared = {
    servers,
    stores: 's3+redis' as const,
    bucket: freshName('e2e'),
    keyPrefix: `${freshName('secret')}:`,
  };
  return async (secret: string | string[]) => {
    wharf = await startWharf({ ...shared, config: { ...config, secret } });
    return wharf;
  };
}

describe('after a secret was replaced by a new one in front of it', () => {
  it('a handle that a server has only named means the same bytes from its first use on', async () => {
    let count = 0;
    const upstream = await RecordingUpstream.start({
      tools: [
        { name: 'link', inputSchema: { type: 'object' } },
        { name: 'read', inputSchema: { type: 'object', properties: { file: { type: 'string' } } } },
      ],
      methods: {
        'tools/call': ({ name }) =>
          name === 'link'
            ? { content: [{ type: 'resource_link', uri: 'doc://r/it', name: 'it.txt' }] }
            : { content: [] },
        'resources/read': ({ uri }) => {
          count += 1;
          return { contents: [{ uri, mimeType: 'text/plain', blob: Buffer.from(`read ${count}`).toString('base64') }] };
        },
      },
    });
    ends.push(() => upstream.stop());
    const tools = { read: { files: { file: { encoding: 'base64' } } } };
    const started = lasting({ s: { url: upstream.url, transport: 'streamable-http', tools } });
    const { uri } = announced((await (await RawClient.connect((await started(OLD)).mcp)).call('link'))?.result);
    await wharf.stop();
    const client = await RawClient.connect((await started([NEW, OLD])).mcp);
    for (const _ of [1, 2]) expect((await client.call('read', { file: uri })).result).not.toHaveProperty('isError');
    const handed = upstream
      .with('tools/call')
      .flatMap(({ params }) => (params.arguments as { file?: string } | undefined)?.file ?? []);
    expect(handed.map((text) => Buffer.from(text, 'base64').toString())).toEqual(['read 1', 'read 1']);
  });

  it('a login that its authorization server has ended is not tried again with each call', async () => {
    const idp = await RotatingServer.start();
    const crm = await startFakeUpstream({ transport: 'json', session: true });
    ends.push(
      () => idp.close(),
      () => crm.close(),
    );
    crm.respond = ({ headers: { authorization = '' }, body }) =>
      body.includes('tools/call') && !idp.good.has(authorization.replace('Bearer ', '')) ? { status: 401 } : undefined;
    const port = await freePort();
    const started = lasting(
      { crm: { url: crm.url, upstreamAuth: { perUser: { issuer: idp.url, scope: 'mcp' } } } },
      {
        listen: `127.0.0.1:${port}`,
        publicUrl: BASE,
        auth: { use: 'apiKeys', keys: [{ name: 'ada', hash: keyHash(KEY) }] },
      },
    );
    const local = `http://127.0.0.1:${port}`;
    const connected = () =>
      RawClient.connect(`${local}/mcp`, '2025-06-18', { headers: { authorization: `Bearer ${KEY}` } });
    await started(OLD);
    const { answer } = await (await connected()).call('echo', { text: 'x' });
    const link = new RegExp(`${BASE}/oauth/login/[\\w-]{43}`).exec(answer.text)?.[0] ?? '';
    const { href, cookie } = await openLogin(link.replace(BASE, local));
    const back = await followLogin(href, `${BASE}/oauth/callback`);
    expect((await comeBack(back.href.replace(BASE, local), cookie)).status).toBe(200);
    await wharf.stop();
    await started([NEW, OLD]);
    const client = await connected();
    idp.revoke('all');
    for (const _ of [1, 2, 3])
      expect((await client.call('echo', { text: 'x' })).answer.text).toContain('/oauth/login/');
    expect(idp.grants('refresh_token')).toHaveLength(1);
  });
});
