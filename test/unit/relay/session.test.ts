import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { adapters } from '../../../adapters/index.js';
import { create as createState, settings as stateSettings } from '../../../adapters/state/memory.js';
import { Ledger, UNSHARED } from '../../../gateway/budget/ledger.js';
import { parseMessages } from '../../../gateway/mcp/request.js';
import type { Session, SessionRecord } from '../../../gateway/relay/session.js';
import { Sessions } from '../../../gateway/relay/session.js';
import { StateKeys } from '../../../gateway/secrets/state-keys.js';
import { silentLog } from '../../helpers/silent-log.js';

const TTL_MS = 60_000;
const metrics = { count() {}, observe() {}, gauge() {} };

function lab({ most = 4, principals = false, ratio = 1 } = {}) {
  const time = { now: 0 };
  const clock = { now: () => time.now, ticks: () => time.now };
  const state = createState(stateSettings.parse({}), { clock, sharing: UNSHARED });
  const keys = new StateKeys([]);
  const replica = (own = keys) => {
    const sharing = { ratio, principals, servers: false };
    const ledger = new Ledger({ limit: 'limits.sessions', total: most, sharing });
    const sessions = new Sessions({ state, keys: own, clock, log: silentLog, metrics, ttlMs: TTL_MS, ledger });
    const ended: Session[] = [];
    sessions.watch('one', (session) => ended.push(session));
    return { sessions, ended, ledger };
  };
  const stored = (id: string) => state.read(keys.of('session', id));
  return { time, state, keys, stored, replica, ...replica() };
}

const record = (principal: string, more: Partial<SessionRecord> = {}): SessionRecord => ({
  principal,
  server: 'one',
  channel: 'exchange',
  version: '2025-06-18',
  capabilities: {},
  ...more,
});

describe('sessions', () => {
  it('end the longest unused one of a principal that has as many as it may', async () => {
    const { sessions, ended, stored, time } = lab({ most: 8, principals: true, ratio: 0.25 });
    const other = await sessions.open(record('other'));
    const first = await sessions.open(record('many'));
    const second = await sessions.open(record('many'));
    time.now += 1;
    await sessions.find(first.id, 'many', 'one');
    const third = await sessions.open(record('many'));
    expect(ended.map(({ id }) => id)).toEqual([second.id]);
    expect(await stored(second.id)).toBeUndefined();
    expect(await sessions.find(second.id, 'many', 'one')).toBeUndefined();
    for (const { id, principal } of [other, first, third]) {
      expect((await sessions.find(id, principal, 'one'))?.id).toBe(id);
    }
  });

  it('exist for their own principal, at their own server, alone; where the server judges each request, for any', async () => {
    const { sessions, replica } = lab();
    const { id } = await sessions.open(record('me'));
    for (const known of [sessions, replica().sessions]) {
      expect(await known.find(id, 'other', 'one')).toBeUndefined();
      expect(await known.find(id, 'me', 'two')).toBeUndefined();
      expect(await known.find(id, undefined, 'two')).toBeUndefined();
      expect((await known.find(id, undefined, 'one'))?.id).toBe(id);
      expect((await known.find(id, 'me', 'one'))?.id).toBe(id);
    }
  });

  it('end the longest unused ones of a principal that may have fewer than others', async () => {
    const { sessions, ended } = lab({ most: 8 });
    const opened = [];
    for (let at = 0; at < 3; at++) opened.push(await sessions.open(record('few'), 2));
    await sessions.open(record('few'), 1);
    await sessions.open(record('other'));
    expect(ended.map(({ id }) => id)).toEqual(opened.map(({ id }) => id));
    expect(sessions.size).toBe(2);
  });

  it('end one of the principal that has most when there are as many as may be in all', async () => {
    const { sessions, ended } = lab({ most: 4, principals: true, ratio: 0.75 });
    await sessions.open(record('few'));
    const many = [await sessions.open(record('many')), await sessions.open(record('many'))];
    await sessions.open(record('many'));
    await sessions.open(record('new'));
    expect(ended.map(({ id }) => id)).toEqual([many[0]?.id]);
  });

  it('are neither listed nor remembered for ever once they are over, though none makes room for another', async () => {
    const { sessions, ended, time } = lab({ most: 100 });
    for (let at = 0; at < 20; at++) await sessions.open(record(`p${at}`));
    time.now = TTL_MS + 1;
    expect(sessions.list()).toEqual([]);
    for (let at = 0; at < 5; at++) await sessions.open(record('new'));
    expect([sessions.size, sessions.list().length]).toEqual([5, 5]);
    expect(ended).toEqual([]);
  });

  it('are ended at their servers once they are over, unless another replica goes on with them', async () => {
    const { sessions, ended, time, replica } = lab({ most: 100 });
    const other = replica();
    const opened = [];
    for (let at = 0; at < 7; at++) opened.push(await sessions.open(record('me', { upstreamSession: `u${at}` })));
    const [none, moved] = [await sessions.open(record('me')), opened[0]?.id ?? ''];
    time.now = TTL_MS / 2;
    await other.sessions.find(moved, 'me', 'one');
    time.now = TTL_MS + 1;
    // what is asked for, and four more with each that opens
    expect(await sessions.find(opened[6]?.id ?? '', 'me', 'one')).toBeUndefined();
    expect(await sessions.find(none.id, 'me', 'one')).toBeUndefined();
    for (let at = 0; at < 2; at++) await sessions.open(record('new', { upstreamSession: 'new' }));
    await new Promise((resolve) => setImmediate(resolve));
    expect([ended, other.ended].map((list) => list.map(({ upstreamSession }) => upstreamSession).sort())).toEqual([
      ['u1', 'u2', 'u3', 'u4', 'u5', 'u6'],
      [],
    ]);
  });

  it('stay alive while their clients listen at a replica that has forgotten them, and end there with those streams', async () => {
    const { sessions, replica, stored, state, keys, time } = lab({ most: 1 });
    const other = replica();
    const { id } = await sessions.open(record('me'));
    await other.sessions.find(id, 'me', 'one');
    const streamsEnded: string[] = [];
    other.sessions.listening = () => [id];
    other.sessions.endStreams = (session) => streamsEnded.push(session);
    await other.sessions.open(record('other'));
    expect(other.sessions.list().map(({ principal }) => principal)).toEqual(['other']);
    for (let at = 0; at < 3; at++) {
      time.now += TTL_MS * 0.6;
      await other.sessions.keepUsed();
    }
    expect(await stored(id)).toBeDefined();
    expect(streamsEnded).toEqual([]);
    await state.remove(keys.of('session', id));
    await other.sessions.keepUsed();
    expect(streamsEnded).toEqual([id]);
  });

  it('end the one unused longest where all principals have as many', async () => {
    const { sessions, ended, time } = lab({ most: 3, principals: true, ratio: 0.75 });
    const [busy, idle] = [await sessions.open(record('busy')), await sessions.open(record('idle'))];
    await sessions.open(record('last'));
    time.now += 1;
    await sessions.find(busy.id, 'busy', 'one');
    await sessions.open(record('new'));
    expect(ended.map(({ id }) => id)).toEqual([idle.id]);
  });

  it('do not end for being unused while a request of theirs is under way, nor at once when it is over', async () => {
    const { sessions, stored, time } = lab();
    const [used, other] = [await sessions.open(record('me')), await sessions.open(record('me'))];
    const over = sessions.begin(used);
    for (let part = 0; part < 20; part++) {
      time.now += TTL_MS / 8;
      await sessions.keepUsed();
    }
    expect(await stored(used.id)).toBeDefined();
    time.now += TTL_MS / 8;
    over();
    time.now += TTL_MS * 0.95;
    expect(await sessions.find(used.id, 'me', 'one')).toBe(used);
    expect(await sessions.find(other.id, 'me', 'one')).toBeUndefined();
    time.now += TTL_MS + 1;
    await sessions.keepUsed();
    expect(await sessions.find(used.id, 'me', 'one')).toBeUndefined();
  });

  it('do not end either while their clients listen, unless they have ended at another replica: then their streams do', async () => {
    const { sessions, stored, replica, time } = lab();
    const [one, other] = [await sessions.open(record('me')), await sessions.open(record('me'))];
    sessions.listening = () => [one.id, one.id];
    const endedStreams: string[] = [];
    sessions.endStreams = (id) => endedStreams.push(id);
    for (let part = 0; part < 20; part++) {
      time.now += TTL_MS / 8;
      await sessions.keepUsed();
    }
    expect(await sessions.find(one.id, 'me', 'one')).toBe(one);
    expect([await stored(one.id), await stored(other.id)]).toEqual([expect.any(String), undefined]);
    await replica().sessions.end(one.id);
    expect(endedStreams).toEqual([]);
    time.now += TTL_MS / 8;
    await sessions.keepUsed();
    await new Promise((resolve) => setImmediate(resolve));
    expect(endedStreams).toEqual([one.id]);
  });

  it('end with their streams where they make room for others: their clients would listen for ever', async () => {
    const { sessions } = lab({ most: 2 });
    const endedStreams: string[] = [];
    sessions.endStreams = (id) => endedStreams.push(id);
    const [first, second] = [await sessions.open(record('me')), await sessions.open(record('me'))];
    await sessions.open(record('me'));
    // not sooner than its session: its client would open it again
    expect(endedStreams).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(endedStreams).toEqual([first.id]);
    await sessions.open(record('me'), 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(endedStreams).toEqual([first.id, second.id, expect.any(String)]);
  });

  it('pass over those with a request under way, while there are others', async () => {
    const { sessions, ended } = lab({ most: 3 });
    const [first, second] = [await sessions.open(record('me')), await sessions.open(record('me'))];
    await sessions.open(record('me'));
    sessions.begin(first);
    await sessions.open(record('me'));
    expect(ended.map(({ id }) => id)).toEqual([second.id]);
    await sessions.open(record('me'), 2);
    expect(await sessions.find(first.id, 'me', 'one')).toBe(first);
    await sessions.open(record('me'), 1);
    expect(await sessions.find(first.id, 'me', 'one')).toBeUndefined();
  });

  it('pass over 32 of those at the most: no search is as long as a caller’s sessions are many', async () => {
    const { sessions, ended } = lab({ most: 34 });
    const opened: Session[] = [];
    for (let index = 0; index < 34; index++) opened.push(await sessions.open(record('me')));
    for (const session of opened.slice(0, 33)) sessions.begin(session);
    await sessions.open(record('me'));
    expect(ended).toEqual([opened[0]]);
  });

  it('count one that keeps much several times', async () => {
    const { sessions, ended } = lab({ most: 8 });
    for (let index = 0; index < 4; index++) await sessions.open(record('me'));
    await sessions.open(record('me', { capabilities: { files: 'x'.repeat(12 * 1024) } }));
    expect(sessions.size).toBe(2);
    expect(ended).toHaveLength(3);
  });

  it('make room by those whose time is over before any other', async () => {
    const { sessions, ended, time } = lab({ most: 2 });
    await sessions.open(record('me'));
    time.now += TTL_MS + 1;
    await sessions.open(record('me'));
    await sessions.open(record('me'));
    expect(ended).toEqual([]);
    expect(sessions.size).toBe(2);
  });

  it('make room by as many of those as it takes, though another principal has more', async () => {
    const { sessions, ended, time } = lab({ most: 20 });
    for (let index = 0; index < 8; index++) await sessions.open(record('gone'));
    time.now += TTL_MS;
    for (let index = 0; index < 9; index++) await sessions.open(record('busy'));
    time.now += 1;
    await sessions.open(record('large', { capabilities: { files: 'x'.repeat(15 * 1024) } }));
    expect(ended).toEqual([]);
    expect(sessions.list().map(({ principal }) => principal)).toEqual([...Array(9).fill('busy'), 'large']);
  });

  it('of another replica are only forgotten, not ended', async () => {
    const { sessions, replica } = lab({ most: 2 });
    const theirs = [await sessions.open(record('me')), await sessions.open(record('me'))];
    const own = replica();
    for (const { id } of theirs) await own.sessions.find(id, 'me', 'one');
    await own.sessions.open(record('me'));
    await own.sessions.open(record('me'));
    expect(own.ended).toEqual([]);
    for (const { id } of theirs) expect(await sessions.find(id, 'me', 'one')).toBeDefined();
  });

  it('of another replica are not ended at their servers here once they are over', async () => {
    const { sessions, ended, replica, time } = lab();
    const own = replica();
    const { id } = await sessions.open(record('me', { upstreamSession: 'u' }));
    await own.sessions.find(id, 'me', 'one');
    time.now = TTL_MS + 1;
    for (const one of [own, { sessions }]) expect(await one.sessions.find(id, 'me', 'one')).toBeUndefined();
    await new Promise((resolve) => setImmediate(resolve));
    expect([ended.map(({ upstreamSession }) => upstreamSession), own.ended]).toEqual([['u'], []]);
  });

  it('are forgotten when the store no longer has them, as after a sleep of the machine, and their streams end', async () => {
    const { sessions, state, time, keys } = lab();
    const { id } = await sessions.open(record('me'));
    const endedStreams: string[] = [];
    sessions.endStreams = (session) => endedStreams.push(session);
    await state.remove(keys.of('session', id));
    expect(await sessions.find(id, 'me', 'one')).toBeDefined();
    time.now += TTL_MS / 2;
    await sessions.find(id, 'me', 'one');
    await new Promise((resolve) => setImmediate(resolve));
    expect(await sessions.find(id, 'me', 'one')).toBeUndefined();
    expect(endedStreams).toEqual([id]);
  });

  it('of a replica that has another secret first are found, and end, while the secret is replaced', async () => {
    const { replica } = lab();
    const [before, after] = [
      ['old', 'new'],
      ['new', 'old'],
    ].map((secrets) => replica(new StateKeys(secrets)).sessions);
    const { id } = (await before?.open(record('me', { upstreamSession: 'u' }))) ?? { id: '' };
    expect(await after?.find(id, 'me', 'one')).toMatchObject({ upstreamSession: 'u' });
    expect([await before?.hasEnded(id), await after?.hasEnded(id)]).toEqual([false, false]);
    await after?.end(id);
    expect([await before?.hasEnded(id), await after?.hasEnded(id)]).toEqual([true, true]);
  });

  it('that a state store could not extend are extended with their next request', async () => {
    const { sessions, state, time } = lab();
    const { id } = await sessions.open(record('me'));
    const { extend } = state;
    let tries = 0;
    state.extend = (...of) => {
      tries += 1;
      return tries === 1 ? Promise.reject(new Error('away')) : extend(...of);
    };
    time.now += TTL_MS / 2;
    for (const tried of [1, 2, 2]) {
      await sessions.find(id, 'me', 'one');
      await new Promise((resolve) => setImmediate(resolve));
      expect(tries).toBe(tried);
    }
  });

  it('that are closed are told to their server, end their streams, and keep no request', async () => {
    const { sessions, ended, stored } = lab();
    const session = await sessions.open(record('me'));
    const endedStreams: string[] = [];
    sessions.endStreams = (id) => endedStreams.push(id);
    const [request] = parseMessages(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}')).requests;
    sessions.resumable.unanswered.keep(session, request ? [request] : []);
    expect(sessions.resumable.unanswered.used).toBeGreaterThan(0);
    await sessions.close(session.id);
    expect([ended, endedStreams]).toEqual([[session], [session.id]]);
    expect(await stored(session.id)).toBeUndefined();
    expect(sessions.resumable.unanswered.used).toBe(0);
  });

  it('give their places back', async () => {
    const { sessions, ledger } = lab();
    const { id } = await sessions.open(record('me'));
    await sessions.end(id);
    await sessions.end(id);
    expect(ledger.used).toBe(0);
  });
});

describe('what dialects read of a client', () => {
  const ROOT = join(import.meta.dirname, '..', '..', '..', '..', 'adapters', 'dialects');
  /** `const { a, b } = capabilities` and `capabilities.a`; of an argument of that name as well. */
  const namesIn = (text: string): string[] => [
    ...[...text.matchAll(/const \{ ([^}]+) \} = (?:client\.)?capabilities\b/g)].flatMap(([, names = '']) =>
      names.split(',').map((name) => name.split(':')[0]?.trim() ?? ''),
    ),
    ...[...text.matchAll(/client\.capabilities\.(\w+)/g)].map(([, name = '']) => name),
  ];

  it.each(adapters.dialects.map((dialect) => [dialect.name, dialect] as const))(
    'is named by %s, so that sessions keep it',
    (name, { reads = [] }) => {
      const files = readdirSync(join(ROOT, name)).filter((file) => file.endsWith('.ts'));
      const read = new Set(files.flatMap((file) => namesIn(readFileSync(join(ROOT, name, file), 'utf8'))));
      expect([...read].sort()).toEqual([...reads].sort());
    },
  );
});
