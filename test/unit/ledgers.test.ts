import { describe, expect, it } from '@jest/globals';
import { UNSHARED } from '../../gateway/budget/ledger.js';
import { PROCESS_WIDE } from '../../gateway/config/schema/limits.js';
import { createLedgers, createWindowLedger, resizeLedgers, resizeWindowLedger } from '../../gateway/ledgers.js';
import { DEFAULT_LIMITS } from '../../gateway/policy/limits.js';

const MIB = 1024 * 1024;
const SERVERS = [
  { limits: { message: MIB, inlineArgument: MIB, response: 3 * MIB } },
  { limits: { message: MIB, inlineArgument: MIB, response: 40 * MIB } },
];

type Sized = Parameters<typeof createLedgers>[0];
const sized = (limits: Partial<Sized['limits']> = {}) =>
  ({ limits: { ...DEFAULT_LIMITS, ...limits }, servers: SERVERS, partSize: 8 * MIB }) as unknown as Sized;

/** Small enough that no share would have room without its unit. */
const SHARED = { ratio: 0.001, principals: true, servers: true };

describe('the totals of the process', () => {
  it('are counted one by one: all limits of the whole process but the share itself and the connections', () => {
    const counted = new Set(Object.keys(createLedgers(sized(), UNSHARED)));
    expect(counted).toEqual(new Set([...PROCESS_WIDE].filter((name) => name !== 'share' && name !== 'sockets')));
  });

  it('are named in refusals as they are in the config', () => {
    for (const [name, ledger] of Object.entries(createLedgers(sized(), UNSHARED))) {
      expect(ledger.limit).toBe(`limits.${name}`);
    }
  });

  it('leave a share room for one message of any server, one part, one list of tools', () => {
    const { held, partMemory, catalog } = createLedgers(sized(), SHARED);
    expect(held.allowed('principal')).toBe(40 * MIB);
    expect(partMemory.allowed('principal')).toBe(8 * MIB);
    expect(catalog.allowed('server')).toBe(DEFAULT_LIMITS.response);
  });

  it('are each taken over from a config that was read again', () => {
    const ledgers = createLedgers(sized(), UNSHARED);
    const doubled = Object.fromEntries(Object.entries(ledgers).map(([name, { total }]) => [name, 2 * total]));
    resizeLedgers(ledgers, sized(doubled));
    expect(Object.fromEntries(Object.entries(ledgers).map(([name, { total }]) => [name, total]))).toEqual(doubled);
  });
});

describe('the windows of decoders', () => {
  it('may take as much as messages, and a share has room for the largest', () => {
    const windows = createWindowLedger({ held: 40 * MIB }, SHARED);
    expect([windows.limit, windows.total, windows.allowed('server')]).toEqual(['limits.held', 40 * MIB, 16 * MIB]);
    resizeWindowLedger(windows, { held: 80 * MIB });
    expect([windows.total, windows.allowed('server')]).toEqual([80 * MIB, 16 * MIB]);
  });
});
