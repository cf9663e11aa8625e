import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { CredentialsTimeout, inTime, RenewedCredentials } from '../../../adapters/objects/s3/credentials.js';
import { toStoreError } from '../../../adapters/objects/s3/errors.js';
import { create, settings } from '../../../adapters/objects/s3.js';
import { adviceIn } from '../../../gateway/errors/causes.js';
import { close, listen } from '../../helpers/loopback.js';

const URI = 'AWS_CONTAINER_CREDENTIALS_FULL_URI';
const KEYS = { accessKeyId: 'key', secretAccessKey: 'secret' };
const MINUTE = 60_000;
const MIB = 1024 * 1024;
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

  it('are searched for anew where those before are refused, as long as few searches hang', async () => {
    let made = 0;
    const chain = () => {
      made += 1;
      const accessKeyId = `key ${made}`;
      return made < 3 ? async () => ({ ...KEYS, accessKeyId }) : never;
    };
    const provider = inTime(chain, 1, () => 0);
    expect((await provider()).accessKeyId).toBe('key 1');
    expect((await provider({ forceRefresh: true })).accessKeyId).toBe('key 2');
    expect((await provider()).accessKeyId).toBe('key 2');
    for (let at = 0; at < 20; at += 1) {
      await expect(provider({ forceRefresh: true })).rejects.toThrow(CredentialsTimeout);
    }
    expect(made).toBe(2 + 16);
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

  it.each<[string, (url: string, token: string) => Record<string, string>]>([
    ['a container', (url) => ({ [URI]: `${url}/` })],
    ['a machine', (url) => ({ AWS_EC2_METADATA_SERVICE_ENDPOINT: url })],
    [
      'a service that takes a token for them',
      (url, token) => ({
        AWS_ENDPOINT_URL_STS: url,
        AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/any',
        AWS_WEB_IDENTITY_TOKEN_FILE: token,
      }),
    ],
  ])('of %s are given up once they are longer than any', async (_, variables) => {
    const folder = await mkdtemp(join(tmpdir(), 'wharf-token-'));
    const token = join(folder, 'token');
    await writeFile(token, 'token');
    const piece = Buffer.alloc(64 * 1024, ' ');
    let largest = 0;
    const server = createServer((request, response) => {
      // the machine's own first step is short
      if (request.method === 'PUT') {
        response.end('token');
        return;
      }
      request.resume();
      let sent = 0;
      const send = () => {
        while (!response.destroyed && sent < 256 * MIB) {
          sent += piece.length;
          largest = Math.max(largest, sent);
          if (!response.write(piece)) return;
        }
        response.end();
      };
      response.on('drain', send);
      send();
    });
    const before = process.env;
    const url = `http://127.0.0.1:${await listen(server)}`;
    const alone = { AWS_CONFIG_FILE: '/nonexistent', AWS_SHARED_CREDENTIALS_FILE: '/nonexistent' };
    process.env = { PATH: before.PATH, HOME: '/nonexistent', ...alone, ...variables(url, token) };
    const given = settings.parse({ bucket: 'any', endpoint: 'http://127.0.0.1:1' });
    const store = await create(given, { timeouts: { store: 60_000 } });
    try {
      const failure = await store.remove('f/a').catch((error: unknown) => error as Error);
      const told = { message: 'What gives the credentials answers with more than 1048576 bytes.' };
      expect((failure as Error).cause).toMatchObject(told);
      expect(adviceIn([(failure as Error).cause])).toContain('AWS_CONTAINER_CREDENTIALS_FULL_URI');
      expect(largest).toBeGreaterThan(MIB);
      // what the system's own buffers take on the way
      expect(largest).toBeLessThan(64 * MIB);
    } finally {
      process.env = before;
      await Promise.all([store.close(), close(server), rm(folder, { recursive: true })]);
    }
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

describe('credentials that the store refuses', () => {
  const refused = Object.assign(new Error('refused'), { name: 'ExpiredToken' });

  /** What the SDK keeps of the keys that may be found, and a step that takes only the newest. */
  function lab(code = refused) {
    const seen = { newest: 0, searches: 0, steps: 0 };
    let kept = 0;
    const provider = async (asked?: { forceRefresh?: boolean }) => {
      if (asked?.forceRefresh) {
        seen.searches += 1;
        kept = seen.newest;
      }
      return { ...KEYS, sessionToken: `token ${kept}` };
    };
    const step = async () => {
      seen.steps += 1;
      const { sessionToken } = await provider();
      if (sessionToken !== `token ${seen.newest}`) throw code;
      return sessionToken;
    };
    return { seen, provider, step };
  }

  it('are replaced by those that are found now, and the step is made again', async () => {
    const { seen, provider, step } = lab();
    const renewed = new RenewedCredentials([provider], () => 0);
    expect(await renewed.around(step)).toBe('token 0');
    seen.newest = 1;
    expect([await renewed.around(step), seen.searches, seen.steps]).toEqual(['token 1', 1, 3]);
  });

  it('are searched for once by all steps that are refused together', async () => {
    const { seen, provider, step } = lab();
    const renewed = new RenewedCredentials([provider], () => 0);
    seen.newest = 1;
    const all = await Promise.all([1, 2, 3].map(() => renewed.around(step)));
    expect([...all, seen.searches]).toEqual(['token 1', 'token 1', 'token 1', 1]);
  });

  it('are searched for once in ten seconds while only they are found', async () => {
    let now = 0;
    const { seen, provider } = lab();
    const renewed = new RenewedCredentials([provider], () => now);
    const step = () => Promise.reject(refused);
    for (let at = 0; at < 5; at += 1) await expect(renewed.around(step)).rejects.toBe(refused);
    expect(seen.searches).toBe(1);
    now = 10_000;
    await expect(renewed.around(step)).rejects.toBe(refused);
    expect(seen.searches).toBe(2);
  });

  it('are not searched for where the store refuses something else', async () => {
    const { seen, provider, step } = lab(Object.assign(new Error('denied'), { name: 'AccessDenied' }));
    seen.newest = 1;
    await expect(new RenewedCredentials([provider], () => 0).around(step)).rejects.toThrow('denied');
    expect([seen.searches, seen.steps]).toEqual([0, 1]);
  });

  it('are told as refused where nothing gives others', async () => {
    const search = (asked?: { forceRefresh?: boolean }) =>
      asked?.forceRefresh ? Promise.reject(new Error('none')) : Promise.resolve(KEYS);
    const step = () => Promise.reject(refused);
    await expect(new RenewedCredentials([search], () => 0).around(step)).rejects.toBe(refused);
  });

  it('are read again from the file of a profile that was written anew, for requests and for links', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wharf-profile-'));
    const file = join(folder, 'credentials');
    const write = (name: string) =>
      writeFile(file, `[default]\naws_access_key_id=${name}\naws_secret_access_key=secret\n`);
    let known = 'KEY1';
    const server = createServer((request, response) => {
      const isKnown = request.headers.authorization?.includes(`Credential=${known}/`);
      const refusal = '<Error><Code>InvalidAccessKeyId</Code><Message>It is not known.</Message></Error>';
      if (isKnown) response.writeHead(204).end();
      else response.writeHead(403, { 'content-type': 'application/xml' }).end(refusal);
    });
    const before = process.env;
    const alone = {
      AWS_SHARED_CREDENTIALS_FILE: file,
      AWS_CONFIG_FILE: '/nonexistent',
      AWS_EC2_METADATA_DISABLED: 'true',
    };
    process.env = { PATH: before.PATH, HOME: '/nonexistent', ...alone };
    await write('KEY1');
    const endpoint = `http://127.0.0.1:${await listen(server)}`;
    const given = settings.parse({ bucket: 'any', endpoint, publicEndpoint: 'http://files.example.com' });
    const store = await create(given, { timeouts: { store: 30_000 } });
    const link = () =>
      store.presign?.('f/a', { contentType: 'text/plain', contentDisposition: 'inline', ttlSeconds: 60 });
    try {
      await store.remove('f/a');
      expect(await link()).toContain('Credential=KEY1');
      await write('KEY2');
      known = 'KEY2';
      await store.remove('f/a');
      expect(await link()).toContain('Credential=KEY2');
    } finally {
      process.env = before;
      await Promise.all([store.close(), close(server), rm(folder, { recursive: true })]);
    }
  });
});
