import { freshSession, type HostilePeer, outcomeOf, repeat } from './target.js';

const BATCH = 1_000;

/** Ids that are no safe integers have to be found in the text. */
const batch = `[${Array.from({ length: BATCH }, (_, n) => `{"jsonrpc":"2.0","id":${n}.5e1,"method":"ping"}`).join(',')}]`;

export const batchIds: HostilePeer = {
  name: 'batch ids',
  does: 'a batch of 1000 requests with ids that are no integers every 15 s',
  async run(target, note) {
    const session = freshSession(target, 'bad');
    return repeat(1, 15_000, note, async () => {
      const { status, text } = await (await session()).post(batch);
      return outcomeOf(text) ?? `answered ${status}`;
    });
  },
};

/** 300,000 members in 3.5 MB. */
const wide = `{${Array.from({ length: 300_000 }, (_, n) => `"k${n}":[]`).join(',')}}`;

export const wideArguments: HostilePeer = {
  name: 'wide arguments',
  does: 'a call with 300,000 arguments every 15 s',
  async run(target, note) {
    const session = freshSession(target, 'bad');
    return repeat(1, 15_000, note, async () => {
      const message = `{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"echo","arguments":${wide}}}`;
      const { status, text } = await (await session()).post(message);
      return outcomeOf(text) ?? `answered ${status}`;
    });
  },
};

const HUGE_ID = 'x'.repeat(3_000_000);

export const hugeIds: HostilePeer = {
  name: 'huge ids',
  does: 'a call whose id has 3 MB every 2 s',
  async run(target, note) {
    const session = freshSession(target, 'bad-stdio');
    return repeat(1, 2_000, note, async () => {
      const params = { name: 'echo', arguments: {} };
      const { status, text } = await (await session()).post({
        jsonrpc: '2.0',
        id: HUGE_ID,
        method: 'tools/call',
        params,
      });
      return outcomeOf(text) ?? `answered ${status}`;
    });
  },
};
