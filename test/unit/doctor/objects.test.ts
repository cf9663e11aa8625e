import { createServer } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/objects/memory.js';
import { runAll } from '../../../gateway/doctor/check.js';
import { objectChecks } from '../../../gateway/doctor/objects.js';
import type { ObjectStore } from '../../../gateway/ports/object-store.js';
import { close, listen } from '../../helpers/loopback.js';

const clock = { now: () => Date.now(), ticks: () => performance.now() };
const inMemory = create(settings.parse({}), { clock });
const signal = new AbortController().signal;

const found = (store: Partial<ObjectStore>, title: string) =>
  objectChecks(async () => ({ ...inMemory, ...store }), { origins: [], style: 'presigned' })
    .find((check) => check.title === title)
    ?.run(signal);

describe('a list of files', () => {
  it('in another order than that of their names is a fault, because the sweep and `wharf files` need this one', async () => {
    const keysAfter: ObjectStore['keysAfter'] = async (...args) => (await inMemory.keysAfter(...args)).reverse();
    await expect(found({ keysAfter }, 'list and clear up')).rejects.toThrow('in another order');
  });

  it('in the order of words is one too: a is then before B', async () => {
    const keysAfter: ObjectStore['keysAfter'] = async (...args) =>
      (await inMemory.keysAfter(...args)).sort((one, other) => one.localeCompare(other, 'en'));
    await expect(found({ keysAfter }, 'list and clear up')).rejects.toThrow('in another order');
  });

  it('leaves nothing that the doctor has stored', async () => {
    await expect(found({}, 'list and clear up')).resolves.toMatchObject({ state: 'ok' });
    expect(await inMemory.keysAfter('f/', '', 10)).toEqual([]);
  });
});

describe('an upload of several requests', () => {
  it('is tried, and nothing of it stays', async () => {
    await expect(found({}, 'uploads that go on')).resolves.toMatchObject({ state: 'ok' });
    expect(await inMemory.removeUnfinished(Date.now() + 1000)).toBe(0);
    expect(await inMemory.keysAfter('f/', '', 10)).toEqual([]);
  });

  it('whose parts the store forgets is a fault', async () => {
    const { resumable } = inMemory;
    if (!resumable) throw new Error('it can go on');
    const forgetful = {
      begin: resumable.begin.bind(resumable),
      resume: async () => undefined,
      discard: resumable.discard.bind(resumable),
    };
    await expect(found({ resumable: forgetful }, 'uploads that go on')).rejects.toThrow('is not found when it goes on');
  });
});

describe('a file that cannot be stored', () => {
  const broken = new Error('The bucket cannot be created.');

  it('by one check alone is a fault of that check', async () => {
    let isFirst = true;
    const prepare = async () => {
      if (!isFirst) return;
      isFirst = false;
      throw broken;
    };
    await expect(found({ prepare }, 'list and clear up')).rejects.toBe(broken);
  });

  it('by the first check either is a fault of that one alone', async () => {
    const prepare = () => Promise.reject(broken);
    await expect(found({ prepare }, 'store, read and remove')).rejects.toBe(broken);
    await expect(found({ prepare }, 'list and clear up')).resolves.toMatchObject({ state: 'skipped' });
  });
});

describe('presigned links', () => {
  /** A store that gives good links what they ask for, or no names and types. */
  const server = createServer(async ({ url = '' }, answer) => {
    const { pathname, searchParams: asked } = new URL(url, 'http://store');
    const isForged = asked.get('Signature') !== 'good' && !asked.has('unsigned');
    if (isForged || (asked.get('ttl') === '1' && !asked.has('endless'))) return void answer.writeHead(403).end();
    const read = await inMemory.get(pathname.slice(1), { signal });
    if (read.kind !== 'found') return void answer.writeHead(404).end();
    const isDeaf = asked.has('deaf');
    answer.writeHead(200, {
      'content-type': isDeaf ? 'application/octet-stream' : (asked.get('type') ?? ''),
      ...(isDeaf ? {} : { 'content-disposition': asked.get('disposition') ?? '' }),
    });
    answer.end(await textOf(read.body));
  });
  let port = 0;
  beforeAll(async () => {
    port = await listen(server);
  });
  afterAll(() => close(server));

  const linked = (more: string): Pick<ObjectStore, 'presign'> => ({
    presign: async (key, { ttlSeconds, contentType, contentDisposition }) =>
      `http://127.0.0.1:${port}/${key}?${new URLSearchParams({
        ttl: String(ttlSeconds),
        type: contentType,
        disposition: contentDisposition,
        Signature: 'good',
      })}${more}`,
  });

  it('of a store that ignores which name and type they ask for are a warning: people get files without either', async () => {
    await expect(found(linked('&deaf'), 'presigned links')).resolves.toMatchObject({
      state: 'warning',
      text: `127.0.0.1:${port} serves them without the names and types of files`,
      todo: expect.stringContaining('links.style: gateway'),
    });
  });

  it.each([
    ['signature', '&unsigned', 'accepts a link with a wrong signature'],
    ['end', '&endless', 'accepts a link that has expired'],
  ])('of a store that checks no %s are a fault, and what helps is no other address', async (_, more, text) => {
    await expect(found(linked(more), 'presigned links')).resolves.toMatchObject({
      state: 'failed',
      text: `127.0.0.1:${port} ${text}`,
      todo: expect.stringContaining('links.style: gateway'),
    });
  });

  it('that clients seldom get, because links lead to Wharf, are worth a warning', async () => {
    const store = { ...inMemory, ...linked('&unsigned') };
    const state = async (style: 'presigned' | 'gateway') => {
      const checks = objectChecks(async () => store, { origins: ['https://app.example'], style });
      const links = checks.filter(({ title }) => title.includes('links'));
      return (await runAll(links, signal)).map((found) => found.state);
    };
    expect(await state('presigned')).toEqual(['failed', 'failed']);
    expect(await state('gateway')).toEqual(['warning', 'warning']);
  });

  it('of a store that follows both are good', async () => {
    await expect(found(linked(''), 'presigned links')).resolves.toMatchObject({ state: 'ok' });
  });
});
