import { createServer } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { CredentialsTimeout, inTime } from '../../../adapters/objects/s3/credentials.js';
import { toStoreError } from '../../../adapters/objects/s3/errors.js';
import { create, settings } from '../../../adapters/objects/s3.js';
import { adviceIn } from '../../../gateway/errors/causes.js';
import { close, listen } from '../../helpers/loopback.js';

const URI = 'AWS_CONTAINER_CREDENTIALS_FULL_URI';
const KEYS = { accessKeyId: 'key', secretAccessKey: 'secret' };
const MINUTE = 60_000;
const never = () => new Promise<never>(() => undefined);
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('credentials of the SDK', () => {
  it('are what its chain finds', async () => {
    const provider = inTime(() => async () => KEYS, 1000);
    expect([await provider(), await provider()]).toEqual([KEYS, KEYS]);
  });

  it('are missing, with the reason, where its chain finds none', async () => {
    const provider = inTime(() => () => Promise.reject(new Error('none')), 1000);
    await expect(provider()).rejects.toThrow('none');
  });

  it('are searched for anew, once a minute, while a search has no end', async () => {
    let now = 0;
    let made = 0;
    const found = [never, never, async () => KEYS];
    const provider = inTime(
      () => {
        made += 1;
        return found[made - 1] ?? never;
      },
      1,
      () => now,
    );
    for (const _ of [1, 2, 3]) await expect(provider()).rejects.toThrow(CredentialsTimeout);
    expect(made).toBe(1);
    now += MINUTE;
    await expect(provider()).rejects.toThrow(CredentialsTimeout);
    expect(made).toBe(2);
    now += MINUTE;
    expect([await provider(), made]).toEqual([KEYS, 3]);
  });

  it('are searched for by at most sixteen searches without an end, and the last of them is heard all the same', async () => {
    let now = 0;
    const answers: ((keys: typeof KEYS) => void)[] = [];
    const provider = inTime(
      () => {
        const search = new Promise<typeof KEYS>((resolve) => answers.push(resolve));
        return () => search;
      },
      1,
      () => now,
    );
    for (let at = 0; at < 20; at += 1) {
      await expect(provider()).rejects.toThrow(CredentialsTimeout);
      now += MINUTE;
    }
    expect(answers.length).toBe(16);
    answers[15]?.(KEYS);
    await settled();
    expect(await provider()).toEqual(KEYS);
  });

  it('are asked for once while a search hangs, so that nothing is kept for each request that fails', async () => {
    let asked = 0;
    const provider = inTime(
      () => () => {
        asked += 1;
        return never();
      },
      1,
      () => 0,
    );
    for (let at = 0; at < 100; at += 1) await expect(provider()).rejects.toThrow(CredentialsTimeout);
    expect(asked).toBe(1);
  });

  it.each<[string, () => Promise<typeof KEYS>]>([
    ['do not come', never],
    ['are a page', async () => JSON.parse('<html>') as typeof KEYS],
  ])('that %s are told as what they are', async (_what, search) => {
    const thrown = await inTime(() => search, 1)().catch((error: unknown) => error);
    const error = toStoreError(thrown, 30_000);
    expect(error.cause).toMatchObject({ message: expect.stringMatching(/^What gives the credentials /) });
    expect(error).toMatchObject({ code: 'store_unavailable', facts: {} });
    expect(adviceIn([error.cause])).toContain('AWS_CONTAINER_CREDENTIALS_FULL_URI');
  });

  it('of a container say when links end that they sign', async () => {
    const until = Date.now() + 3_600_000;
    const found = { AccessKeyId: 'key', SecretAccessKey: 'secret', Token: 'token' };
    const server = createServer((_, response) =>
      response.end(JSON.stringify({ ...found, Expiration: new Date(until).toISOString() })),
    );
    const before = process.env;
    process.env = { PATH: before.PATH, HOME: '/nonexistent', [URI]: `http://127.0.0.1:${await listen(server)}/` };
    const given = { bucket: 'any', endpoint: 'http://127.0.0.1:1' };
    const deps = { timeouts: { store: 30_000 } };
    const store = await create(settings.parse(given), deps);
    const fixed = await create(settings.parse({ ...given, accessKeyId: 'key', secretAccessKey: 'secret' }), deps);
    try {
      expect(await store.presignsUntil?.()).toBe(until);
      expect(await fixed.presignsUntil?.()).toBeUndefined();
    } finally {
      process.env = before;
      await Promise.all([store.close(), fixed.close(), close(server)]);
    }
  });
});
