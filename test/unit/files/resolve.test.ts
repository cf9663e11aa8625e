import { beforeEach, describe, expect, it } from '@jest/globals';
import { createLab, HELLO, HOUR, type Lab, RETENTION, TTL } from './upload-lab.js';

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
