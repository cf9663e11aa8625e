import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { freshName } from '../../helpers/services.js';
import { STORES, startWharf, type Wharf } from '../../helpers/wharf.js';

interface Listed {
  uri: string;
  url: string;
  name: string;
  mimeType: string;
  contentIndex: number;
}

const BYTES = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(100_000)]);
const NAMES = ['one.pdf', 'two.pdf', 'three.bin'];
const block = (name: string) => ({
  type: 'resource',
  resource: { uri: `docs://shelf/${name}`, mimeType: 'application/pdf', blob: BYTES.toString('base64') },
});

describe.each(STORES)('the same bytes more than once, %s', (stores) => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  let client: RawClient;
  let names: string[] = NAMES;
  let nameless: object[] | undefined;
  const folder = join(tmpdir(), freshName('same'));

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      tools: [{ name: 'give', inputSchema: { type: 'object' } }],
      methods: { 'tools/call': () => ({ content: nameless ?? names.map(block) }) },
    });
    const onDisk = { objects: { use: 'filesystem', path: folder } };
    wharf = await startWharf({
      servers: { s: { url: upstream.url, transport: 'streamable-http' } },
      stores,
      ...(stores === 'filesystem+memory' && { config: onDisk }),
    });
    client = await RawClient.connect(wharf.mcp);
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function given(): Promise<{ files: Listed[]; content: Record<string, unknown>[] }> {
    const { result } = await client.call('give');
    const meta = (result?._meta ?? {}) as Record<string, Listed[]>;
    return { files: meta['dev.wharf/files'] ?? [], content: result?.content ?? [] };
  }

  it('in one result are one file, each called what its server calls it there', async () => {
    names = NAMES;
    const { files, content } = await given();
    expect(new Set(files.map(({ uri }) => uri)).size).toBe(1);
    expect(files.map(({ name }) => name)).toEqual(NAMES);
    for (const { contentIndex, name, url } of files) {
      expect(content[contentIndex]?.text).toContain(`${name} · `);
      expect(content[contentIndex + 1]).toMatchObject({ type: 'resource_link', uri: url, name });
      const answer = await fetch(url);
      expect(answer.headers.get('content-disposition')).toMatch(new RegExp(`filename="?${name}`));
      expect(Buffer.from(await answer.arrayBuffer()).equals(BYTES)).toBe(true);
    }
  });

  it('under one name are one link', async () => {
    names = ['one.pdf', 'one.pdf'];
    const { files } = await given();
    expect(new Set(files.map(({ url }) => url)).size).toBe(1);
  });

  it('without a name are one link, but for each type that their server says they are of', async () => {
    const data = Buffer.alloc(100_000, 7).toString('base64');
    nameless = ['audio/x-one', 'audio/x-two', 'audio/x-one'].map((mimeType) => ({ type: 'audio', data, mimeType }));
    const { files, content } = await given();
    nameless = undefined;
    expect(files.map(({ mimeType }) => mimeType)).toEqual(['audio/x-one', 'audio/x-two', 'audio/x-one']);
    const [one, two, again] = files;
    expect([two?.uri, again?.uri, again?.url]).toEqual([one?.uri, one?.uri, one?.url]);
    expect(content[two?.contentIndex ?? 0]?.text).toMatch(/^give-2\S* · audio\/x-two · /);
    expect((await fetch(String(two?.url))).headers.get('content-type')).toBe('audio/x-two');
  });

  if (stores === 'filesystem+memory') {
    it('are stored again where the store has lost them, so that what is announced is there', async () => {
      names = ['one.pdf'];
      const [before] = (await given()).files;
      const [again] = (await given()).files;
      expect(again?.uri).toBe(before?.uri);
      // as a lifecycle rule of the store does, or an operator
      for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
        if (entry.isFile() && entry.name.startsWith('f_')) await rm(join(entry.parentPath, entry.name));
      }
      const refused = await client.request('files/authorizeDownload', { uri: before?.uri });
      expect(refused.error?.data).toMatchObject({ reason: 'fileExpired' });
      const [after] = (await given()).files;
      expect(after?.uri).not.toBe(before?.uri);
      const answer = await fetch(String(after?.url));
      expect(Buffer.from(await answer.arrayBuffer()).equals(BYTES)).toBe(true);
      const [later] = (await given()).files;
      expect(later?.uri).toBe(after?.uri);
    });
  }
});
