import { describe, expect, it } from '@jest/globals';
import { type OpenExchange, OpenStreams } from '../../../gateway/http/open-streams.js';

/** An exchange of a session, and whether it was ended. */
function exchange(method: string, session?: string) {
  const one = { isEnded: false };
  const open = {
    incoming: { method },
    outgoing: {
      end() {
        one.isEnded = true;
      },
    },
    exchange: { facts: { session } },
  };
  return { one, open: open as unknown as OpenExchange };
}

describe('the streams of clients that listen', () => {
  it('tell their sessions, and those of a session that has ended are ended, and no call', async () => {
    const streams = new OpenStreams();
    const made = [exchange('GET', 'a'), exchange('POST', 'a'), exchange('GET', 'b'), exchange('GET')];
    for (const { open } of made) streams.add(open);
    const other = exchange('GET', 'c');
    const place = streams.add(other.open);
    expect([...streams.sessions()]).toEqual(['a', 'b', 'c']);
    streams.delete(place);
    for (const session of ['a', 'c', 'unknown']) streams.endOf(session);
    await new Promise((resolve) => setImmediate(resolve));
    expect([...made, other].map(({ one }) => one.isEnded)).toEqual([true, false, false, false, false]);
    streams.endOf('b');
    await new Promise((resolve) => setImmediate(resolve));
    expect(made[2]?.one.isEnded).toBe(true);
  });
});
