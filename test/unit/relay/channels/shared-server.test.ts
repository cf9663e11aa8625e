import { PassThrough } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import { absentCaller } from '../../../../gateway/identity/identities.js';
import type { SharedConnection, SharedUpstream } from '../../../../gateway/ports/upstream.js';
import type { Sender } from '../../../../gateway/relay/caller.js';
import { SharedServer } from '../../../../gateway/relay/channels/shared-server.js';
import type { Session } from '../../../../gateway/relay/session.js';
import { silentLog } from '../../../helpers/silent-log.js';
import { until } from '../../../helpers/wait.js';
import { RelayLab } from '../relay-lab.js';

const clock = { now: () => Date.now(), ticks: () => performance.now() };

/** A server whose first channel cannot be closed; each other one is. */
function lab(session: number, endAnn: () => Promise<void> = () => Promise.reject(new Error('it cannot be ended'))) {
  const { deps } = new RelayLab();
  const warned: unknown[] = [];
  const closed: string[] = [];
  const connect = async (_signal: AbortSignal, principal = ''): Promise<SharedConnection> => ({
    kind: 'lines',
    body: new PassThrough(),
    send: () => Promise.reject(new Error('it reads nothing')),
    close: async () => {
      closed.push(principal);
      if (principal === 'ann') await endAnn();
    },
  });
  const upstream = { transport: 'legacy-sse', connect, check: async () => {}, close: async () => {} } as SharedUpstream;
  const log = { ...silentLog, warn: ({ err }: { err?: unknown }) => warned.push((err as Error | undefined)?.message) };
  const server = new SharedServer({ ...deps, log, clock, timeouts: { ...deps.timeouts, session } }, upstream);
  const open = async (principal: string) => {
    const exchange = { identity: absentCaller(principal), principal };
    const inquire = server.inquire({ exchange, messages: { era: { hasSessions: false } } } as unknown as Sender);
    await inquire('tools/list', {}).catch(() => undefined);
  };
  return { server, open, warned, closed };
}

describe('a channel that cannot be ended', () => {
  it('keeps no other open when both have been idle for too long, and is told to the operator', async () => {
    const { server, open, warned, closed } = lab(20);
    await open('ann');
    await open('bob');
    await until(() => closed.includes('bob'));
    expect(closed.slice(0, 2)).toEqual(['ann', 'bob']);
    expect(warned).toContain('it cannot be ended');
    await server.close();
  });

  it('keeps no other open while it takes its time to end', async () => {
    jest.useFakeTimers();
    try {
      let end: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      const { server, open, closed } = lab(1000, () => ended);
      await open('ann');
      await open('bob');
      // the first look finds nothing that has been idle for longer than the limit
      await jest.advanceTimersByTimeAsync(2000);
      expect(closed.slice(0, 2)).toEqual(['ann', 'bob']);
      end();
      await server.close();
    } finally {
      jest.useRealTimers();
    }
  });

  it('keeps none open when its server is closed', async () => {
    const { server, open, warned, closed } = lab(60_000);
    await open('ann');
    await open('bob');
    await server.close();
    expect(closed).toContain('bob');
    expect(warned).toContain('it cannot be ended');
    await server.forget({ id: 'gone' } as Session);
  });
});
