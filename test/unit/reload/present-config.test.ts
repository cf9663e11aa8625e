import { describe, expect, it } from '@jest/globals';
import type { AuditEntry } from '../../../gateway/ports/audit.js';
import type { Server } from '../../../gateway/relay/server.js';
import { PresentConfig } from '../../../gateway/reload/present-config.js';
import { RunningServers } from '../../../gateway/reload/running-servers.js';
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
