import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { LineReply } from '../../../gateway/stdio/line-reply.js';
import { LineOutput } from '../../../gateway/stdio/output.js';
import { outcomesIn } from '../../../gateway/telemetry/outcome.js';
import { WatchedReply } from '../../../gateway/telemetry/watched-reply.js';

/** A reply that a client reads at once. */
function watched(): WatchedReply {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reply = new LineReply({ output: new LineOutput(nowhere), answered: () => undefined, dropped: () => undefined });
  reply.head({ status: 200, body: 'events' });
  return new WatchedReply(reply, () => undefined);
}

const answer = (id: number, more: string) => [Buffer.from(`{"jsonrpc":"2.0","id":${id},${more}}`)];

describe('what telemetry keeps of an exchange', () => {
  it('is how its requests ended', () => {
    const reply = watched();
    void reply.message(answer(1, '"result":{}'), { answers: ['1'] });
    void reply.message(answer(2, '"error":{"code":-32602,"message":"no such file"}'), { answers: ['2'] });
    expect(reply.outcomes.get('1')).toEqual({});
    expect(reply.outcomes.get('2')).toMatchObject({ status: '-32602', failure: { message: 'no such file' } });
  });

  it.each(['\u2028', '\u2029'])(
    'is a failure also where the words of the server, in an event, hold %j',
    (separator) => {
      const [message] = answer(1, `"error":{"code":-32602,"message":"no such${separator}file"}`);
      const found = outcomesIn(Buffer.from(`event: message\r\ndata: ${message}\r\n\r\n`));
      expect(found.get('1')).toMatchObject({ status: '-32602' });
    },
  );

  it('is bounded, however many answers a server sends on one stream, and however long its words are', () => {
    const reply = watched();
    const words = 'w'.repeat(100_000);
    for (let id = 0; id < 5000; id++)
      void reply.message(answer(id, `"error":{"code":1,"message":"${id < 10 ? words : 'short'}"}`), {
        answers: [`${id}`],
      });
    expect(reply.outcomes.size).toBe(2000);
    const longest = [...reply.outcomes.values()].map(({ failure }) => failure?.message?.length ?? 0);
    expect(Math.max(...longest)).toBeLessThan(10_000);
  });

  it('is not an id that only its server has written, which may be as long as a message', () => {
    const reply = watched();
    const other = JSON.stringify('i'.repeat(100_000));
    const batch = `[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":${other},"error":{"code":1,"message":"m"}}]`;
    void reply.message([Buffer.from(batch)], { answers: ['1'] });
    expect([...reply.outcomes.keys()]).toEqual(['1']);
  });
});
