import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { parseCommandLine } from '../../../gateway/cli.js';
import { runFiles } from '../../../gateway/control/run-files.js';
import type { FileRecord } from '../../../gateway/files/file.js';
import { keyHash } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { freshName, redisUrl } from '../../helpers/services.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { announced, image } from '../files/handoff-lab.js';

const SHOT = image();
const KEY = 'the-key-of-a-viewer';

/** What the first release wrote, and nothing that came later. */
const FIRST = ['id', 'principal', 'server', 'name', 'mimeType', 'size', 'digest', 'key', 'createdAt'] as const;

let upstream: RecordingUpstream;
let redis: Redis;

beforeAll(async () => {
  upstream = await RecordingUpstream.start({
    tools: [
      { name: 'give', inputSchema: { type: 'object' } },
      { name: 'take', inputSchema: { type: 'object', properties: { file: { type: 'string' } } } },
    ],
    methods: {
      'tools/call': ({ name }) =>
        name === 'give'
          ? { content: [{ type: 'image', mimeType: 'image/png', data: SHOT.toString('base64') }] }
          : { content: [{ type: 'text', text: 'taken' }] },
    },
  });
  redis = new Redis(redisUrl());
});

afterAll(async () => {
  await redis?.quit();
  await upstream?.stop();
});

describe('A file that an older release has stored', () => {
  let wharf: Wharf;
  let file: { uri: string; url: string; id: string };

  beforeEach(async () => {
    const shared = { bucket: freshName('older'), keyPrefix: `${freshName('older')}:` };
    const lab = {
      url: upstream.url,
      transport: 'streamable-http',
      tools: { take: { files: { file: { encoding: 'base64' } } } },
    };
    const config = { links: { style: 'gateway' }, console: { users: [{ name: 'bob', hash: keyHash(KEY) }] } };
    const start = () => startWharf({ servers: { lab }, stores: 's3+redis', config, ...shared });
    const before = await start();
    const { uri, url } = announced((await (await RawClient.connect(before.mcp)).call('give')).result);
    const id = uri.slice(uri.lastIndexOf('/') + 1);
    await before.stop();
    const key = `${shared.keyPrefix}file:${id}`;
    const record = JSON.parse((await redis.get(key)) ?? '') as FileRecord;
    expect(record.tool).toBe('give');
    const older = Object.fromEntries(FIRST.map((member) => [member, record[member]]));
    await redis.set(key, JSON.stringify(older), 'KEEPTTL');
    // another process, which has nothing of it in memory
    wharf = await start();
    file = { uri, url: String(url), id };
  });

  afterEach(() => wharf?.stop());

  const status = async () => {
    const answer = await fetch(new URL(new URL(file.url).pathname, wharf.url));
    return { code: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
  };
  const run = async (...args: string[]) => {
    const action = parseCommandLine(['files', ...args, '--admin', wharf.adminUrl], '1');
    if (action.kind !== 'files') throw new Error('that is not a call of wharf files');
    return runFiles(action, wharf.adminUrl);
  };

  it('is served by its link, and reaches a server by its handle', async () => {
    expect(await status()).toEqual({ code: 200, bytes: SHOT });
    const client = await RawClient.connect(wharf.mcp);
    expect((await client.call('take', { file: file.uri })).result?.isError ?? false).toBe(false);
    expect(upstream.lastArguments.file).toBe(SHOT.toString('base64'));
  });

  it('is listed, shown, held and revoked, without the tool, which was not written down then', async () => {
    expect((await run('list')).text).toMatch(new RegExp(`^${file.id}  .*  anonymous  lab  .*  image/png  "`));
    const shown = JSON.parse((await run('show', file.id, '--json')).text) as object;
    expect(shown).toMatchObject({ id: file.id, server: 'lab' });
    expect(shown).not.toHaveProperty('tool');
    expect((await run('hold', file.id)).text).toMatch(/ {2}held\n$/);
    expect((await run('revoke', file.id)).isDone).toBe(true);
    expect((await status()).code).toBe(410);
  });

  it('is found in the console, and becomes one with the same bytes that come again', async () => {
    const search = async (query: string) =>
      (await (
        await fetch(`${wharf.adminUrl}/api/stored?${query}`, { headers: { authorization: `Bearer ${KEY}` } })
      ).json()) as { files: { id: string; tool?: string }[] };
    const { files } = await search('server=lab');
    expect(files.map(({ id, tool }) => [id, tool])).toEqual([[file.id, undefined]]);
    expect(files[0]).toEqual(JSON.parse((await run('show', file.id, '--json')).text));
    const again = announced((await (await RawClient.connect(wharf.mcp)).call('give')).result);
    expect(again.uri).toBe(file.uri);
  });
});
