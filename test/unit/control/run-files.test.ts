import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runFiles } from '../../../gateway/control/run-files.js';
import { digestIn } from '../../../gateway/files/control/digest-text.js';

const file = (id: string) => ({
  ...{ id, principal: 'ann', server: 'hr', tool: 'read', name: 'a.pdf', mimeType: 'application/pdf', size: 1 },
  createdAt: '2026-11-22T12:00:00.000Z',
});

describe('a list of files', () => {
  let admin: Server;
  let base: string;
  let asked: string[];
  let pages: object[];

  beforeEach(async () => {
    asked = [];
    admin = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.setHeader('content-type', 'application/json').end(JSON.stringify(pages[asked.length - 1]));
    });
    await new Promise<void>((resolve) => admin.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(admin.address() as AddressInfo).port}`;
  });

  afterEach(() => new Promise((resolve) => admin.close(resolve)));

  const list = (filter: Record<string, string> = {}, isJson = false) =>
    runFiles({ kind: 'files', verb: 'list', ids: [], filter, isJson }, base);

  it('goes on behind pages on which there is none that is meant', async () => {
    pages = [{ files: [], next: 'f_1' }, { files: [file('f_2')], next: 'f_3' }, { files: [] }];
    const { text } = await list({ principal: 'ann' });
    expect(text).toMatch(/^f_2 .*\n$/);
    expect(asked).toEqual([
      '/files?principal=ann&limit=100',
      '/files?principal=ann&limit=100&after=f_1',
      '/files?principal=ann&limit=99&after=f_3',
    ]);
  });

  it('says that there is none once all were looked at', async () => {
    pages = [{ files: [], next: 'f_1' }, { files: [] }];
    expect((await list()).text).toBe('No files.\n');
    expect(asked).toHaveLength(2);
  });

  it('ends with as many as are asked for, and says where the next ones are', async () => {
    pages = [
      { files: [file('f_1')], next: 'f_1' },
      { files: [file('f_2')], next: 'f_2' },
    ];
    expect(JSON.parse((await list({ limit: '2' }, true)).text)).toEqual({
      files: [file('f_1'), file('f_2')],
      next: 'f_2',
    });
    asked = [];
    expect((await list({ limit: '2' })).text).toMatch(/\/files\?limit=2&after=f_2\.\n$/);
  });

  it('is what has gone wrong where a page is refused', async () => {
    pages = [{ files: [file('f_1')], next: 'f_1' }, { error: { message: 'The state store is away.' } }];
    expect((await list()).text).toBe('The state store is away.\n');
  });
});

describe('the digest of a search', () => {
  const digest = 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg';

  it.each([
    digest,
    `sha-256:${digest}`,
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    ' 9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08\n',
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ])('may be written as lists and as sha256sum show it: %j', (text) => {
    expect(digestIn(text)).toBe(digest);
  });

  it.each(['', 'abc', `${digest}=`, '9f86d0', `${digest.slice(1)}!`])('is nothing else: %j', (text) => {
    expect(digestIn(text)).toBeUndefined();
  });
});
