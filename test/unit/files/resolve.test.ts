import { beforeEach, describe, expect, it } from '@jest/globals';
import { createLab, HELLO, HOUR, type Lab, RETENTION, TTL } from './uploads/upload-lab.js';

let lab: Lab;

beforeEach(() => {
  lab = createLab();
});

describe('a handle', () => {
  it('is pending until its file is uploaded (2631-69)', async () => {
    const { id, uri, ticket } = await lab.authorize();
    expect(await lab.library.resolve(uri, 'ann')).toEqual({ kind: 'pending' });
    const record = await lab.send(ticket, HELLO);
    expect(await lab.library.resolve(uri, 'ann')).toEqual({ kind: 'ready', record });
    expect(await lab.library.resolve(id, 'ann')).toEqual({ kind: 'ready', record });
  });

  it('is unknown to everybody else, in every state (2631-51, HO-06)', async () => {
    const { uri, ticket } = await lab.authorize();
    const seen = [await lab.library.resolve(uri, 'bob')];
    await lab.send(ticket, HELLO);
    seen.push(await lab.library.resolve(uri, 'bob'));
    lab.time.now += RETENTION;
    seen.push(await lab.library.resolve(uri, 'bob'));
    expect(seen).toEqual([{ kind: 'unknown' }, { kind: 'unknown' }, { kind: 'unknown' }]);
  });

  it('is expired to its owner when it was never uploaded, for a while', async () => {
    const { uri } = await lab.authorize();
    lab.time.now += TTL - 1;
    expect(await lab.library.resolve(uri, 'ann')).toEqual({ kind: 'pending' });
    lab.time.now += 1;
    expect(await lab.library.resolve(uri, 'ann')).toEqual({ kind: 'expired' });
    lab.time.now += RETENTION + HOUR;
    expect(await lab.library.resolve(uri, 'ann')).toEqual({ kind: 'unknown' });
  });

  it('is expired to its owner when its file is over, counted from its last use (HO-15)', async () => {
    const { uri, id, ticket } = await lab.authorize();
    await lab.send(ticket, HELLO);
    lab.time.now += RETENTION - 1;
    expect(await lab.library.touch(id)).toBe(true);
    lab.time.now += RETENTION - 1;
    expect(await lab.library.resolve(uri, 'ann')).toMatchObject({ kind: 'ready' });
    lab.time.now += 1;
    expect(await lab.library.resolve(uri, 'ann')).toEqual({ kind: 'expired' });
    lab.time.now += HOUR - 1;
    expect(await lab.library.resolve(uri, 'ann')).toEqual({ kind: 'expired' });
    lab.time.now += 1;
    expect(await lab.library.resolve(uri, 'ann')).toEqual({ kind: 'unknown' });
  });

  it('leads to no bytes where the store has others of another length', async () => {
    const { ticket } = await lab.authorize();
    const { key, size } = await lab.send(ticket, HELLO);
    const { signal } = new AbortController();
    expect(await lab.library.read({ key, size }, signal)).toMatchObject({ kind: 'found' });
    const range = { start: 0, end: 1 };
    await expect(lab.library.read({ key, size: size + 1 }, signal, range)).rejects.toMatchObject({
      code: 'file_gone',
      facts: { reason: 'changed' },
    });
  });

  it('of a file cut out of a result resolves and expires just so', async () => {
    const { id, key } = { id: `f_${'A'.repeat(22)}`, key: `f/f_${'A'.repeat(22)}` };
    const record = await lab.library.publish(
      { id, key, size: 1, digest: 'd', head: Buffer.alloc(0) },
      { principal: 'ann', server: 's', name: 'n', mimeType: 'text/plain' },
    );
    expect(await lab.library.resolve(`mcp-file://wharf/${id}`, 'ann')).toEqual({ kind: 'ready', record });
    lab.time.now += RETENTION;
    expect(await lab.library.resolve(id, 'ann')).toEqual({ kind: 'expired' });
    expect(await lab.library.resolve(id, 'bob')).toEqual({ kind: 'unknown' });
  });
});

describe('what another caller can learn about a file', () => {
  const READS = ['read', 'extend'] as const;
  const MISSING = `f_${'A'.repeat(22)}`;

  /** A store whose addresses are written as those of S3, and what is asked of the state store. */
  function watchedLab() {
    const asked: string[] = [];
    const counted = createLab({
      objects: (real) =>
        Object.assign(real, { presign: async (key: string) => `http://store.example/bucket/${key}?sig` }),
      state: (real) => {
        for (const verb of READS) {
          const original = real[verb].bind(real) as (...args: never[]) => Promise<never>;
          real[verb] = (...args: never[]) => {
            asked.push(verb);
            return original(...args);
          };
        }
        return real;
      },
    });
    const during = async <Value>(work: () => Promise<Value>) => {
      asked.length = 0;
      const answer = await work();
      return { answer, asked: [...asked] };
    };
    return { lab: counted, during };
  }

  it('is the same of one that is there, awaited or only named, and of one that never was (2631-51, G13)', async () => {
    const { lab: counted, during } = watchedLab();
    const { library } = counted;
    const awaited = await counted.authorize();
    const stored = await counted.authorize();
    await counted.send(stored.ticket, HELLO);
    const named = await library.announce({ principal: 'ann', server: 's', uri: 'doc://r/report' });
    const ofMissing = await during(() => library.resolve(MISSING, 'bob'));
    expect(ofMissing.answer).toEqual({ kind: 'unknown' });
    for (const handle of [awaited.uri, stored.uri, named])
      expect(await during(() => library.resolve(handle, 'bob'))).toEqual(ofMissing);
  });

  it('is nothing from an address in the store, which can be written from the handle (2631-51, G13)', async () => {
    const { lab: counted, during } = watchedLab();
    const { library } = counted;
    const { id, ticket } = await counted.authorize();
    const { key } = await counted.send(ticket, HELLO);
    const ofMissing = await during(() => library.readLink(`http://store.example/bucket/f/${MISSING}`, 'bob'));
    for (const path of [key, `f/${id}`, `f/${id}-other`]) {
      const ofFile = await during(() => library.readLink(`http://store.example/bucket/${path}`, 'bob'));
      expect(JSON.stringify(ofFile).replace(id, MISSING)).toBe(JSON.stringify(ofMissing));
    }
    expect(await library.readLink(`http://store.example/bucket/${key}`, 'ann')).toMatchObject({ kind: 'ok' });
    expect(await library.readLink(`http://store.example/bucket/f/${id}-other`, 'ann')).toEqual({ kind: 'unknown' });
  });

  it('does not keep a file alive that a server has named', async () => {
    const { library, time } = lab;
    const handle = await library.announce({ principal: 'ann', server: 's', uri: 'doc://r/report' });
    time.now += RETENTION - 1;
    expect(await library.resolve(handle, 'bob')).toEqual({ kind: 'unknown' });
    time.now += 1;
    expect(await library.resolve(handle, 'ann')).toEqual({ kind: 'expired' });
  });
});

describe('the spelling of a handle', () => {
  it.each([
    ['MCP-FILE://WHARF/ID', 'scheme and authority are case-insensitive'],
    ['mcp-file://wharf/ID?', 'an empty query'],
    ['mcp-file://wharf/ID#', 'an empty fragment'],
    ['mcp-file://wharf/ID?#', 'both'],
  ])('%s is fine: %s', async (spelling) => {
    const { id } = await lab.authorize();
    expect(await lab.library.resolve(spelling.replace('ID', id), 'ann')).toEqual({ kind: 'pending' });
  });

  it.each([
    'mcp-file://wharf/ID?x',
    'mcp-file://wharf/ID#x',
    'mcp-file://wharf/ID?#x',
    'mcp-file://wharf/ID/',
    'mcp-file://wharf//ID',
    'mcp-file://wharf/x/ID',
    'mcp-file://other/ID',
    'mcp-file://wharf:80/ID',
    'mcp-file://me@wharf/ID',
    'mcp-file:///ID',
    'mcp-file:wharf/ID',
    'mcp-file:',
    'https://wharf/ID',
    ' mcp-file://wharf/ID',
    'mcp-file://wharf/ID\n',
    'IDx',
    'ID\n',
    '',
  ])('%j stands for nothing (2631-19)', async (spelling) => {
    const { id } = await lab.authorize();
    expect(await lab.library.resolve(spelling.replace('ID', id), 'ann')).toEqual({ kind: 'unknown' });
  });

  it('has a path that is case-sensitive', async () => {
    const { uri } = await lab.authorize();
    const swapped = uri.replace(/f_.*/, (id) =>
      id.replace(/[a-z]/gi, (c) => (c < 'a' ? c.toLowerCase() : c.toUpperCase())),
    );
    expect(await lab.library.resolve(swapped, 'ann')).toEqual({ kind: 'unknown' });
  });
});
