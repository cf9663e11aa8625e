import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { ConsoleLogins } from '../../../gateway/http/console/console-logins.js';
import type { AuditEntry } from '../../../gateway/ports/audit.js';
import type { ConsoleUser } from '../../../gateway/ports/console.js';
import { Seal } from '../../../gateway/secrets/seal.js';

const HOUR = 3_600_000;
const ADDRESS = '192.0.2.1';
const KEY = 'the key of ann';
const SECRET = 'the secret of this test';

const user = (name: string, key: string): ConsoleUser => ({
  name,
  role: 'operator',
  digest: createHash('sha256').update(key).digest(),
});

let now: number;
let recorded: AuditEntry[];
let noted: AuditEntry[];

beforeEach(() => {
  now = 1_800_000_000_000;
  recorded = [];
  noted = [];
});

const open = (users = [user('ann', KEY)], secret = SECRET) =>
  new ConsoleLogins(users, {
    seal: new Seal([secret]),
    clock: { now: () => now, ticks: () => now },
    audit: { record: async (entry) => void recorded.push(entry), note: (entry) => void noted.push(entry) },
  });

/** What a browser sends back of a `Set-Cookie`. */
const sentBack = (set: string) => ({ cookie: `theme=dark; ${set.split(';')[0]}` });
const found = (logins: ConsoleLogins, headers: { cookie?: string; authorization?: string }) => {
  try {
    return logins.find(headers, ADDRESS).name;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('a login at the console', () => {
  it('is good for eight hours (G41)', async () => {
    const logins = open();
    const set = await logins.logIn(KEY, ADDRESS);
    expect(set).toContain(`; Max-Age=${8 * 3600}`);
    now += 8 * HOUR - 1;
    expect(found(logins, sentBack(set))).toBe('ann');
    now += 1;
    expect(found(logins, sentBack(set))).toBe('console_login');
  });

  it('is a cookie that no script reads and no other site sends (G41)', async () => {
    const attributes = (await open().logIn(KEY, ADDRESS)).split('; ').slice(1);
    expect(attributes).toEqual(expect.arrayContaining(['HttpOnly', 'SameSite=Strict', 'Path=/']));
  });

  it('ends with the key that it was made with, and with its user', async () => {
    const cookie = sentBack(await open().logIn(KEY, ADDRESS));
    expect(found(open(), cookie)).toBe('ann');
    expect(found(open([user('ann', 'a new key')]), cookie)).toBe('console_login');
    expect(found(open([user('bob', KEY)]), cookie)).toBe('console_login');
    expect(found(open([user('ann', KEY)], 'a new secret of the gateway'), cookie)).toBe('console_login');
  });

  it('is nothing that a browser could make or change', async () => {
    const logins = open([user('ann', KEY), user('bob', 'the key of bob')]);
    const set = await logins.logIn(KEY, ADDRESS);
    const [pair = ''] = set.split(';');
    const [name = '', sealed = ''] = pair.split('=');
    const bob = JSON.stringify({ name: 'bob', digest: '', until: now + HOUR });
    const elsewhere = new Seal([SECRET]).close('another place', bob);
    const flipped = (sealed[20] === 'A' ? 'B' : 'A') + sealed.slice(21);
    for (const made of ['', bob, Buffer.from(bob).toString('base64url'), elsewhere, sealed.slice(0, 20) + flipped])
      expect([made, found(logins, { cookie: `${name}=${made}` })]).toEqual([made, 'console_login']);
    expect(found(logins, { cookie: `not-${pair}` })).toBe('console_login');
    expect(found(logins, {})).toBe('console_login');
  });

  it('of a viewer lets it do nothing, and each try is in the audit log', () => {
    const logins = open();
    const ann = user('ann', KEY);
    logins.checkRole(ann, ADDRESS, '/stored/change');
    expect(noted).toEqual([]);
    expect(() => logins.checkRole({ ...ann, role: 'viewer' }, ADDRESS, '/stored/change')).toThrow('only an operator');
    expect(noted).toEqual([
      {
        ...{ what: 'control', allowed: false, actor: 'ann', address: ADDRESS, subject: '/stored/change' },
        ...{ rule: 'console.users, ann: role', code: 'console_role' },
      },
    ]);
  });

  it('is recorded before its cookie is given, and a wrong key gets none', async () => {
    const logins = open();
    await expect(logins.logIn('the key of bob', ADDRESS)).rejects.toMatchObject({ code: 'console_login' });
    expect(recorded).toEqual([]);
    await logins.logIn(KEY, ADDRESS);
    expect(recorded).toMatchObject([{ what: 'login', actor: 'ann', address: ADDRESS, allowed: true }]);
    const users = [user('ann', KEY)];
    const unwritten = new ConsoleLogins(users, {
      seal: new Seal([SECRET]),
      clock: { now: () => now, ticks: () => now },
      audit: { record: () => Promise.reject(new Error('the disk is full')), note: () => {} },
    });
    await expect(unwritten.logIn(KEY, ADDRESS)).rejects.toThrow('the disk is full');
  });

  it.each([
    ['in hex', '3f9d1c47a0be5526d8e1f0937b6a42c5'],
    ['in base64', 'q7Zk/2VtN0+dYwR4sHu1LbXe9JmCgA6oTf3Pi8KyEjU='],
    ['in base64url', 'q7Zk_2VtN0-dYwR4sHu1LbXe9JmCgA6oTf3Pi8KyEjU'],
  ])('by a random key %s passes although others guess at its address', async (_how, key) => {
    const logins = open([user('ann', key), user('bob', 'bobs-own-key')]);
    for (let tries = 0; tries < 10; tries += 1)
      expect(found(logins, { authorization: `Bearer guess-${tries}` })).toBe('console_login');
    expect(found(logins, { authorization: `Bearer ${key}` })).toBe('ann');
    expect(await logins.logIn(key, ADDRESS)).toContain('wharf-console=');
    // what could be guessed is not looked at, and a wrong key is told nothing by it
    expect(found(logins, { authorization: 'Bearer bobs-own-key' })).toBe('console_tries');
    expect(found(logins, { authorization: `Bearer ${key.toLowerCase()}0A` })).toBe('console_tries');
  });

  it.each(['correct-horse-battery-staple-and-more-of-it', '12345678901234567890123456789012', 'a'.repeat(64)])(
    'by a long key that is not random, %s, is bounded like any other',
    (key) => {
      const logins = open([user('ann', key)]);
      for (let tries = 0; tries < 10; tries += 1) found(logins, { authorization: `Bearer guess-${tries}` });
      expect(found(logins, { authorization: `Bearer ${key}` })).toBe('console_tries');
    },
  );

  it('may be tried again a minute after the first wrong key', () => {
    const logins = open();
    for (let tries = 0; tries < 10; tries += 1) found(logins, { authorization: `Bearer guess-${tries}` });
    now += 59_000;
    expect(found(logins, { authorization: 'Bearer other' })).toBe('console_tries');
    expect(() => logins.userOf('other', ADDRESS)).toThrow(expect.objectContaining({ facts: { retryAfter: 1 } }));
    now += 1000;
    expect(found(logins, { authorization: 'Bearer other' })).toBe('console_login');
  });

  it('is not needed by a program that sends the key itself', () => {
    expect(found(open(), { authorization: `Bearer ${KEY.replaceAll(' ', '-')}` })).toBe('console_login');
    expect(found(open([user('ci', 'key-of-ci')]), { authorization: 'bearer key-of-ci' })).toBe('ci');
  });
});
