import { describe, expect, it } from '@jest/globals';
import type { AuditEntry } from '../../../gateway/ports/audit.js';
import type { Server } from '../../../gateway/relay/server.js';
import { PresentConfig } from '../../../gateway/reload/present-config.js';
import { type MakeServer, RunningServers } from '../../../gateway/reload/running-servers.js';
import { configOf } from '../config/load-text.js';

const of = (name: string) => configOf(`servers: { ${name}: { url: "http://127.0.0.1:1/mcp" } }`);

/** A reload whose servers cannot be made, or whose line of the audit log cannot be written. */
async function failing({ make, record }: { make?: Error; record?: Error }) {
  const recorded: AuditEntry[] = [];
  const closed: string[] = [];
  const audit = {
    isOn: true,
    note() {},
    record: async (entry: AuditEntry) => {
      if (record) throw record;
      recorded.push(entry);
    },
  };
  const ways = { know() {} };
  const present = new PresentConfig(await of('one'), {
    running: new RunningServers(() => {}),
    makerFor: () => async (config) => {
      if (make) throw make;
      return { server: { close: async () => void closed.push(config.name) } as unknown as Server, login: undefined };
    },
    waysIn: { now: ways, authenticate: async () => ({}), put() {} } as never,
    openWays: async () => ways as never,
    putRules: () => {},
    audit: audit as never,
  });
  await expect(present.replace(await of('two'))).rejects.toThrow('as the test says');
  expect(present.config.servers.map(({ name }) => name)).toEqual(['one']);
  return { recorded, closed };
}

describe('a config that cannot take the place of the present one', () => {
  it('is not in the audit log as if it had', async () => {
    expect(await failing({ make: new Error('as the test says') })).toEqual({ recorded: [], closed: [] });
  });

  it('leaves no server behind when the audit log cannot name it', async () => {
    expect(await failing({ record: new Error('as the test says') })).toEqual({ recorded: [], closed: ['two'] });
  });
});

describe('keys that need a restart', () => {
  const keysFor = async (before: string, after: string) => {
    const parts = { audit: { isOn: false }, waysIn: {}, running: {} };
    const present = new PresentConfig(await configOf(before), parts as never);
    const reload = await present.replace(await configOf(after));
    return 'keys' in reload ? reload.keys : [];
  };
  const SERVERS = 'servers: { one: { url: "http://127.0.0.1:1/mcp" } }';

  it('are named as the file spells them', async () => {
    const one = `${SERVERS}\nsecret: ${'a'.repeat(32)}\nretention: 7h`;
    const other = `${SERVERS}\nsecret: ${'b'.repeat(32)}\nretention: 8h`;
    expect(await keysFor(one, other)).toEqual(['retention', 'secret']);
  });

  it('say so where they are not in the file, and have another default since another key has changed', async () => {
    const at = (host: string, more = '') =>
      `${SERVERS}\npublicUrl: https://mcp.example\nauth: { use: none, allowPublic: true }\nlisten: ${host}:8080\n${more}`;
    expect(await keysFor(at('127.0.0.1'), at('0.0.0.0'))).toEqual(['listen', 'adminListen (its default)']);
    const admin = 'adminListen: 127.0.0.1:9090';
    expect(await keysFor(at('127.0.0.1', admin), at('0.0.0.0', admin))).toEqual(['listen']);
    expect(await keysFor(at('127.0.0.1'), at('127.0.0.1', admin))).toEqual(['adminListen']);
  });
});

describe('a config that takes the place of the present one', () => {
  const ONE = 'servers: { one: { url: "http://127.0.0.1:1/mcp" } }';

  /** One that runs, with the servers that are made from now on, and those that are closed. */
  async function running() {
    const made: string[] = [];
    const closed: string[] = [];
    const idle = { idle: async () => undefined };
    const make: MakeServer = async ({ name }) => {
      made.push(name);
      const server = { serve() {}, posts: idle, gets: idle, close: async () => void closed.push(name) };
      return { server: server as unknown as Server, login: undefined };
    };
    const config = await configOf(ONE);
    const servers = new RunningServers(() => {});
    (await servers.prepare(config.servers, make, 'all')).put();
    made.length = 0;
    const ways = { know() {} };
    const present = new PresentConfig(config, {
      running: servers,
      makerFor: () => make,
      waysIn: { now: ways, authenticate: async () => ({}), put() {} } as never,
      openWays: async () => ways as never,
      putRules: () => {},
      audit: { isOn: false, note() {} } as never,
    });
    return { present, made, closed };
  }

  it('leaves a server as it is of which nothing has changed', async () => {
    const { present, made, closed } = await running();
    expect(await present.replace(await configOf(`${ONE}\nlogLevel: debug`))).toMatchObject({ changed: [] });
    await new Promise((resolve) => setImmediate(resolve));
    expect({ made, closed }).toEqual({ made: [], closed: [] });
  });

  it('makes every server anew from which it must know now where short files come from', async () => {
    const { present, made, closed } = await running();
    const text = `${ONE}\nflow: [{ deny: { from: one } }]`;
    expect(await present.replace(await configOf(text))).toMatchObject({ changed: ['one'] });
    await new Promise((resolve) => setImmediate(resolve));
    expect({ made, closed }).toEqual({ made: ['one'], closed: ['one'] });
  });

  it('says no longer why another one was refused, also where it is what is in force', async () => {
    const { present } = await running();
    present.refuse('the config has problems');
    expect(present.whyRefused).toBe('the config has problems');
    expect(await present.replace(await configOf(ONE))).toEqual({ kind: 'same' });
    expect(present.whyRefused).toBeUndefined();
  });
});
