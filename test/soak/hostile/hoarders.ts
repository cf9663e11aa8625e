import { setTimeout as sleep } from 'node:timers/promises';
import { connect, freshSession, type HostilePeer, repeat, uploadPath } from './target.js';

export const unusedTickets: HostilePeer = {
  name: 'unused tickets',
  does: '20 links to upload a second, none of which is used',
  async run(target, note) {
    const session = freshSession(target, 'http');
    return repeat(4, 200, note, async () => {
      await uploadPath(target, await session());
      return 'granted';
    });
  },
};

export const openStreams: HostilePeer = {
  name: 'open streams',
  does: '40 sessions with a GET stream each, never ended',
  run: (target, note) =>
    repeat(40, 2_000, note, async () => {
      const client = await connect(target, 'everything');
      const stream = await fetch(`${target.url}/everything/mcp`, {
        headers: { ...client.headers(), accept: 'text/event-stream' },
      });
      return `stream ${stream.status}, ended: ${(await stream.text()).length > 0 ? 'with words' : 'empty'}`;
    }),
};

export const idleProcesses: HostilePeer = {
  name: 'idle processes',
  does: 'a session with a stdio server every 10 s, each a process, none ever ended',
  run: (target, note) =>
    repeat(1, 10_000, note, async () => {
      await connect(target, 'stdio');
      return 'opened';
    }),
};

const DECLARED = { experimental: Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`key-${n}`, {}])) };
const TOO_LARGE = { experimental: { key: 'x'.repeat(3_000_000) } };

export const largeCapabilities: HostilePeer = {
  name: 'large capabilities',
  does: '2 sessions a second that are never ended, with much declared, every 10th with 3 MB of it',
  async run(target, note) {
    let opened = 0;
    return repeat(1, 500, note, async () => {
      opened += 1;
      await connect(target, 'everything', { capabilities: opened % 10 === 0 ? TOO_LARGE : DECLARED });
      return 'opened';
    });
  },
};

const ARGUMENT = 'x'.repeat(1_000_000);

export const abandonedCalls: HostilePeer = {
  name: 'abandoned calls',
  does: '2 calls of 1 MB a second that a server never answers, left after 50 ms; over HTTP and stdio in turn',
  async run(target, note) {
    const sessions = [freshSession(target, 'bad'), freshSession(target, 'bad-stdio')];
    let calls = 0;
    return repeat(1, 450, note, async () => {
      const gone = new AbortController();
      const client = await sessions[calls++ % 2]?.();
      const call = client?.open('tools/call', { name: 'silent', arguments: { ARGUMENT } }, {}, gone.signal);
      await Promise.race([call, sleep(50)]);
      gone.abort();
      await call?.catch(() => undefined);
      return 'left';
    });
  },
};
