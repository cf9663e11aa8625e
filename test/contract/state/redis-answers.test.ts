import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/state/redis.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import { failureText } from '../../../gateway/errors/causes.js';
import { isNotWritten } from '../../../gateway/errors/kept.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { LogFields } from '../../../gateway/ports/log.js';
import type { StateStore } from '../../../gateway/ports/state-store.js';
import { OwnRedis } from '../../helpers/own-redis.js';
import { ScriptedRedis } from '../../helpers/scripted-redis.js';
import { silentLog } from '../../helpers/silent-log.js';
import { until } from '../../helpers/wait.js';

const HOUR = 3_600_000;
/** Beside other suites an honest answer took longer than half a second. */
const STATE_TIMEOUT_MS = 1000;
/** For tests in which nothing is late: a busy machine may answer as late as it likes. */
const PATIENT_MS = 60_000;
const UNAVAILABLE = { code: 'state_unavailable', httpStatus: 503 };
/** Every command of Wharf's but those of the library's own when it connects. */
const ALL = /^(?!hello|info)/i;

let redis: OwnRedis;
let scripted: ScriptedRedis;
let store: StateStore;
let logged: [string, LogFields, string][];

/** Opens a store for each test, which waits so long for an answer. */
function storeWaiting(state: number): void {
  beforeEach(async () => {
    logged = [];
    redis = await OwnRedis.start();
    scripted = await ScriptedRedis.start(redis.port);
    const log = {
      ...silentLog,
      info: (fields: LogFields, text: string) => logged.push(['info', fields, text]),
      warn: (fields: LogFields, text: string) => logged.push(['warn', fields, text]),
    };
    store = await create(settings.parse({ url: scripted.url }), {
      timeouts: { state },
      log,
      clock: { ticks: () => performance.now() },
      sharing: UNSHARED,
    });
  });
  afterEach(async () => {
    await store.close();
    await scripted.close();
    await redis.stop();
  });
}

const works = () =>
  store.check().then(
    () => true,
    () => false,
  );

describe('redis state store behind a Redis that', () => {
  storeWaiting(STATE_TIMEOUT_MS);

  it('accepts connections and answers nothing on them: they are given up, and one that is answered is used', async () => {
    await store.check();
    scripted.isSilent = true;
    scripted.hangUp();
    const before = scripted.connections;
    await until(async () => {
      await expect(store.read('k')).rejects.toMatchObject(UNAVAILABLE);
      return scripted.connections > before + 1;
    });
    scripted.isSilent = false;
    await until(works);
    expect(logged.map(([level]) => level)).toEqual(['warn', 'info']);
    expect(logged[0]?.[1].err).toHaveProperty(
      'message',
      expect.stringMatching(/^Redis did not answer within \d+ ms\.$/),
    );
  });

  it.each(['hello', 'info'])('answers %s of a new connection byte by byte: that is given up', async (command) => {
    await store.check();
    scripted.rules = [{ command: new RegExp(`^${command}`, 'i'), dripMs: STATE_TIMEOUT_MS / 5 }];
    scripted.hangUp();
    const before = scripted.connections;
    await until(() => scripted.connections > before + 1);
    scripted.rules = [];
    await until(works);
    expect(logged.map(([level]) => level)).toEqual(['warn', 'info']);
    expect(logged[0]?.[1].err).toHaveProperty('message', expect.stringMatching(/^Redis did not answer within/));
    expect(logged[0]?.[1].err).not.toHaveProperty('stack');
  });

  it('answers byte by byte: the connection is given up with what is queued in it', async () => {
    await store.check();
    scripted.rules = [{ command: ALL, dripMs: 2 * STATE_TIMEOUT_MS }];
    const before = scripted.connections;
    await until(async () => {
      await expect(store.read('k')).rejects.toMatchObject(UNAVAILABLE);
      return scripted.connections > before;
    });
    scripted.rules = [];
    await until(works);
  });

  it.each([
    ['is gone behind a balancer, which closes each connection without a word', () => redis.kill()],
    [
      'answers nothing on new connections',
      async () => {
        scripted.isSilent = true;
      },
    ],
  ])('%s: readiness says where to look', async (_how, fail) => {
    await store.check();
    await fail();
    const { connections } = scripted;
    scripted.hangUp();
    await until(async () => {
      const error = await store.check().catch((thrown: unknown) => thrown);
      const isTriedAgain = scripted.connections > connections + 1;
      return (
        isTriedAgain && error instanceof GatewayError && failureText(error, '').includes('Look whether Redis runs')
      );
    });
  });

  it('ends each connection after an answer: the log tells it once, and again what stays away', async () => {
    await store.check();
    const before = scripted.connections;
    scripted.rules = [{ command: ALL, ends: true }];
    await until(async () => {
      await works();
      return scripted.connections > before + 5;
    });
    expect(logged.map(([level]) => level)).toEqual(['warn', 'info']);
    await scripted.close();
    await until(async () => {
      await works();
      return logged.length > 2;
    });
    expect(logged[2]).toEqual([
      'warn',
      { err: expect.any(Error), losses: expect.any(Number) },
      'the connection to the state store is lost',
    ]);
    scripted = await ScriptedRedis.start(redis.port);
  });
});

describe('redis state store behind a Redis that answers in the end, and', () => {
  storeWaiting(PATIENT_MS);

  it.each([
    ['null', '$-1\r\n'],
    ['null, by RESP3', '_\r\n'],
    ['a text', '+OK\r\n'],
    ['an error', '-ERR\r\n'],
    ['null, behind what nothing was asked for', '+OK\r\n$-1\r\n_\r\n'],
    ['what is not RESP', 'HTTP/1.1 400\r\n\r\n'],
    ['a number of values that nothing holds', '*4294967296\r\n'],
  ])('gives an answer to nothing, %s: the process lives, and a new connection is used', async (_what, bytes) => {
    await store.check();
    const before = scripted.connections;
    scripted.say(bytes);
    await until(() => scripted.connections > before);
    await until(works);
    expect(logged.map(([level]) => level)).toEqual(['warn', 'info']);
  });

  it.each([
    ['create', 'a number', ':1\r\n', (state: StateStore) => state.create('k', 'v', HOUR)],
    ['create', 'that it is put off', '+QUEUED\r\n', (state: StateStore) => state.create('k', 'v', HOUR)],
    ['read', 'a list', '*1\r\n$1\r\nv\r\n', (state: StateStore) => state.read('k')],
    ['take', 'a number', ':1\r\n', (state: StateStore) => state.take('k')],
    ['extend', 'nothing', '_\r\n', (state: StateStore) => state.extend('k', HOUR)],
    ['replace', 'a text', '+OK\r\n', (state: StateStore) => state.replace('k', 'v', 'w', HOUR)],
    ['remove', 'a text', '+OK\r\n', (state: StateStore) => state.remove('k')],
    ['tally', 'nothing', '_\r\n', (state: StateStore) => state.tally('k', [{ part: 'a', by: 1, ttlMs: HOUR }], 5)],
    ['tally', 'a text', '+OK\r\n', (state: StateStore) => state.tally('k', [{ part: 'a', by: 1, ttlMs: HOUR }], 5)],
    ['time', 'a text', '+OK\r\n', (state: StateStore) => state.time?.()],
    [
      'time',
      'the hour of a clock that was never set',
      '*2\r\n$1\r\n0\r\n$6\r\n123456\r\n',
      (state: StateStore) => state.time?.(),
    ],
    ['time', 'words', '*2\r\n$2\r\nat\r\n$3\r\nten\r\n', (state: StateStore) => state.time?.()],
    ['check', 'nothing', '_\r\n', (state: StateStore) => state.check()],
  ])(
    'gives %s the answer of another command, %s: it fails, and a new connection is used',
    async (_verb, _what, answer, verb) => {
      await store.check();
      const before = scripted.connections;
      scripted.rules = [{ command: ALL, answer }];
      await expect(verb(store)).rejects.toMatchObject(UNAVAILABLE);
      scripted.rules = [];
      await until(works);
      expect(scripted.connections).toBeGreaterThan(before);
    },
  );

  it('holds a value that is longer than any of Wharf: it is not read, and the rest goes on', async () => {
    await redis.command('setrange', 'wharf:k', '20000000', 'a');
    const before = scripted.connections;
    await expect(store.read('k')).rejects.toMatchObject(UNAVAILABLE);
    await until(works);
    expect(scripted.connections).toBe(before + 1);
    expect(logged[0]?.[1].err).toHaveProperty('message', expect.stringContaining('of more than 16777216 bytes'));
    await expect(store.create('other', 'a'.repeat(5_000_000), HOUR)).rejects.toMatchObject({
      ...UNAVAILABLE,
      cause: { message: 'A value of 5000000 characters is longer than 4194304, and is not written.' },
    });
  });

  it.each([
    [
      'has become a replica, which a script says by Redis 7',
      "-READONLY You can't write against a read only replica. script: 1, on @user_script:3.",
    ],
    [
      'has become a replica, which a script says by Redis 6',
      "-ERR Error running script (call to f_1): @user_script:3: -READONLY You can't write against a read only replica.",
    ],
    ['was left by its replicas, as after a failover', '-NOREPLICAS Not enough good replicas to write.'],
  ])('%s: a new connection is made, once a second', async (_how, answer) => {
    await store.check();
    const before = scripted.connections;
    const started = performance.now();
    scripted.rules = [{ command: /^(evalsha|eval|set)\b/i, answer: `${answer}\r\n` }];
    await until(async () => {
      await expect(store.extend('k', HOUR)).rejects.toMatchObject(UNAVAILABLE);
      // what is asked while the connection is being ended is told why, and no word of a library
      const next = await store.read('k').catch(({ cause }: { cause: Error }) => cause.message);
      if (next !== undefined) expect(next).toMatch(/^The connection to Redis is "/);
      return scripted.connections > before + 2;
    });
    // three connections, and so at least two pauses between them
    expect(performance.now() - started).toBeGreaterThan(2000);
    expect(logged[0]?.[1].err).toHaveProperty('message', expect.stringMatching(/READONLY|NOREPLICAS/));
    expect(logged.map(([level]) => level)).toEqual(['warn', 'info']);
    scripted.rules = [];
    await until(works);
  });

  it.each([
    ['a message', '>3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n'],
    ['nothing', '>1\r\n_\r\n'],
    ['a subscription without a channel', '>1\r\n$9\r\nsubscribe\r\n'],
    ['the end of a subscription', '>3\r\n$12\r\nsunsubscribe\r\n$1\r\nc\r\n:0\r\n'],
  ])('publishes what Wharf has not asked for, %s: it is passed over', async (_what, bytes) => {
    await store.create('k', 'of k', HOUR);
    const before = scripted.connections;
    const read = store.read('k');
    scripted.say(bytes);
    expect(await read).toBe('of k');
    scripted.say(bytes.slice(0, 5));
    scripted.say(`${bytes.slice(5)}`);
    expect(await store.read('k')).toBe('of k');
    expect(scripted.connections).toBe(before);
    expect(logged).toEqual([]);
  });

  it('cannot write to its disk: the error says what to do about that, which the doctor shows apart', async () => {
    const said = '-MISCONF Errors writing to the AOF file: No space left on device';
    scripted.rules = [{ command: /^set wharf:check/, answer: `${said}\r\n` }];
    const cause = { why: `${said.slice(1)}.`, todo: expect.stringContaining('make room') };
    await expect(store.check()).rejects.toMatchObject({ ...UNAVAILABLE, cause });
    scripted.rules = [];
    await store.check();
  });

  it('is one part of a cluster: readiness says so, although it takes a key of its own', async () => {
    scripted.rules = [{ command: /^set wharf:check:7 /, answer: '-MOVED 12047 127.0.0.1:6717\r\n' }];
    const cause = { message: expect.stringMatching(/one part of a cluster/) };
    await expect(store.check()).rejects.toMatchObject({ ...UNAVAILABLE, cause });
    scripted.rules = [];
    await store.check();
    scripted.rules = [{ command: /^get wharf:k/, answer: '-MOVED 12047 127.0.0.1:6717\r\n' }];
    await expect(store.read('k')).rejects.toMatchObject({ ...UNAVAILABLE, cause });
    scripted.rules = [{ command: /^set wharf:check:7 /, answer: '-MOVED 12047 127.0.0.1:6717\r\n' }];
    await expect(store.check()).rejects.toMatchObject({ ...UNAVAILABLE, cause });
  });

  it.each([
    ['Redis', 'redis_version:7.0.15\r\nredis_mode:sentinel\r\n'],
    ['Valkey', 'redis_version:7.2.4\r\nvalkey_version:8.1.1\r\nserver_mode:sentinel\r\n'],
    ['Redict', 'redict_version:7.3.6\r\nredict_mode:sentinel\r\nredis_version:7.2.4\r\n'],
  ])('is a Sentinel of %s: what it says of itself names that', async (_, info) => {
    scripted.rules = [{ command: /^info/, answer: `$${info.length}\r\n${info}\r\n` }];
    await expect(store.about?.()).rejects.toThrow(/Sentinel/);
  });

  it.each([
    ['Redis 7.2.4', 'redis_version:7.2.4\r\n'],
    ['Valkey 8.1.1', 'redis_version:7.2.4\r\nvalkey_version:8.1.1\r\n'],
    ['Redict 7.3.6', 'redict_version:7.3.6\r\nredis_version:7.2.4\r\n'],
  ])('is called what it is: %s', async (version, info) => {
    scripted.rules = [{ command: /^info/, answer: `$${info.length}\r\n${info}\r\n` }];
    expect(await store.about?.()).toMatchObject({ version });
  });

  it('holds a value of another type under a key: it is known as not written by Wharf, and the rest goes on', async () => {
    await redis.command('hset', 'wharf:k', 'field', 'value');
    for (const verb of [() => store.read('k'), () => store.take('k'), () => store.replace('k', 'v', 'w', HOUR)])
      expect(isNotWritten(await verb().catch((error: unknown) => error))).toBe(true);
    await redis.command('set', 'wharf:sum', 'text');
    const tallied = store.tally('sum', [{ part: 'a', by: 1, ttlMs: HOUR }], 5);
    expect(isNotWritten(await tallied.catch((error: unknown) => error))).toBe(true);
    expect(await store.create('other', 'v', HOUR)).toBe(true);
    expect(scripted.connections).toBe(1);
  });
});
