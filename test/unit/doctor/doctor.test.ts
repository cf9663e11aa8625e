import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { adapters } from '../../../adapters/index.js';
import { create, settings } from '../../../adapters/state/memory.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import { doctor } from '../../../gateway/doctor/doctor.js';
import { doctorText } from '../../../gateway/doctor/report.js';
import { stateChecks } from '../../../gateway/doctor/stores.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { StateStore } from '../../../gateway/ports/state-store.js';
import { silentLog } from '../../helpers/silent-log.js';
import { configOf } from '../config/load-text.js';

const clock = { now: () => Date.now(), ticks: () => performance.now() };
const CONNECT_MS = 400;

describe('the doctor', () => {
  it('closes a store also when it has been opened too late for its checks', async () => {
    const config = await configOf('servers: { a: { url: "http://127.0.0.1:1/mcp" } }');
    const { limits, timeouts, inheritedEnv } = config;
    const interrupt = new AbortController();
    let open = () => {};
    let closed = 0;
    const store = { close: async () => void closed++ };
    const late = { create: () => new Promise((resolve) => (open = () => resolve(store))) };
    const examined = doctor({
      config,
      adapters: { ...adapters, state: { memory: late as never } },
      deps: {
        limits,
        timeouts,
        inheritedEnv,
        sharing: UNSHARED,
        clock,
        log: silentLog,
      },
      ...{ only: ['state'], isOffline: false, signal: interrupt.signal },
      fits: { sockets: Number.POSITIVE_INFINITY, processes: Number.POSITIVE_INFINITY },
      proof: () => undefined,
    });
    interrupt.abort();
    const found = await examined;
    expect(found.map(({ text }) => text)).toEqual(Array.from({ length: 4 }, () => 'interrupted'));
    // a check that was broken off has found nothing that there is something to do about
    expect(found.map(({ todo }) => todo)).toEqual([undefined, undefined, undefined, undefined]);
    open();
    await new Promise((resolve) => setImmediate(resolve));
    expect(closed).toBe(1);
  });
});

describe('the table of the doctor', () => {
  it('is not made wide by the one server with a long name', () => {
    const name = 'a'.repeat(60);
    const ok = { state: 'ok', ms: 1 } as const;
    const found = [
      { ...ok, group: 'machine', title: 'Node', text: 'v26' },
      { ...ok, group: 'servers', title: name, text: 'stdio, one tool' },
    ];
    expect(doctorText(found)).toBe(
      `machine\n  ✓ Node  v26\nservers\n  ✓ ${name}  stdio, one tool\n\n2 ok, 0 warnings, 0 failed\n`,
    );
  });
});

describe('the steps of a state store', () => {
  it('take the time of one of them, without that of the connection before the first', async () => {
    const inMemory = create(settings.parse({}), { clock, sharing: UNSHARED });
    let isConnected = false;
    const store: StateStore = {
      ...inMemory,
      async create(...args) {
        if (!isConnected) await sleep(CONNECT_MS);
        isConnected = true;
        return inMemory.create(...args);
      },
    };
    const check = stateChecks(async () => store, false).find(({ title }) => title.startsWith('create'));
    const { state, text } = (await check?.run(new AbortController().signal)) ?? {};
    expect([state, text]).toEqual(['ok', expect.stringMatching(/^memory: each step is atomic, and takes [\d.]+ ms$/)]);
    expect(Number(/[\d.]+/.exec(String(text))?.[0])).toBeLessThan(CONNECT_MS);
  });
});

it('warns of a state store that takes long for each step', async () => {
  const inMemory = create(settings.parse({}), { clock, sharing: UNSHARED });
  const late =
    <Arguments extends unknown[], Result>(verb: (...args: Arguments) => Promise<Result>) =>
    async (...args: Arguments) => {
      await sleep(150);
      return verb(...args);
    };
  const { replace, extend, take } = inMemory;
  const store: StateStore = {
    ...inMemory,
    create: late(inMemory.create.bind(inMemory)),
    replace: late(replace.bind(inMemory)),
    extend: late(extend.bind(inMemory)),
    take: late(take.bind(inMemory)),
  };
  const check = stateChecks(async () => store, false).find(({ title }) => title.startsWith('create'));
  expect(await check?.run(new AbortController().signal)).toMatchObject({
    state: 'warning',
    todo: expect.stringContaining('look at the load of Redis'),
  });
});

describe('the settings of a state store', () => {
  const settingsOf = async (about: () => Promise<never>, read: () => Promise<string | undefined>) => {
    const store = { name: 'Redis', about, read } as unknown as StateStore;
    const check = stateChecks(async () => store, false).find(({ title }) => title === 'settings');
    return check?.run(new AbortController().signal);
  };
  const away = async () => {
    throw new GatewayError('state_unavailable');
  };

  it('are not tried where it does not answer', async () => {
    expect(await settingsOf(away, away)).toMatchObject({ state: 'skipped' });
  });

  it('cannot be told by one that answers: its error is told', async () => {
    await expect(settingsOf(away, async () => undefined)).rejects.toMatchObject({ code: 'state_unavailable' });
  });

  it('cannot be told by one of another kind, which is told also where it reads nothing', async () => {
    const another = async () => {
      throw new Error('This is a Sentinel.');
    };
    await expect(settingsOf(another, away)).rejects.toThrow('This is a Sentinel.');
  });
});
