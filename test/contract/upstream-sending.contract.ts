import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../gateway/errors.js';
import type { OutgoingMessage, Upstream } from '../../gateway/ports/upstream.js';
import type { Pace, Taken } from '../helpers/taking-server.js';
import { until } from '../helpers/wait.js';
import { source } from './upstream/streamed.js';
import { calm, failureOf, type Overrides, POST_HEADERS, request } from './upstream/subject.js';

/** An upstream in front of a server that tells how messages reached it. */
interface Taking {
  upstream: Upstream;
  taken(): readonly Taken[] | Promise<readonly Taken[]>;
}

export interface SendingSubject {
  taking(pace: Pace, overrides?: Overrides): Promise<Taking>;
  /** The time-out that a server runs into when it takes nothing more. */
  stall: 'idle' | 'upstream';
  clean(): Promise<void>;
}

interface Sender {
  send(message: OutgoingMessage, signal?: AbortSignal): Promise<void>;
  /** Ends what is being sent. */
  end(): Promise<void>;
}

async function senderOf(upstream: Upstream): Promise<Sender> {
  if (upstream.channel === 'shared') {
    const connection = await upstream.connect(calm());
    connection.body.on('error', () => undefined).resume();
    return { send: (message) => connection.send(message), end: () => connection.close() };
  }
  const leaving = new AbortController();
  return {
    send: async (body) => {
      const answer = await upstream.open({ method: 'POST', headers: { ...POST_HEADERS }, body }, leaving.signal);
      for await (const _ of answer.body);
    },
    end: async () => leaving.abort(),
  };
}

/** How messages reach an upstream, whatever its channel. */
export function describeSending(name: string, makeSubject: () => SendingSubject): void {
  describe(`${name} as a receiver of streamed messages`, () => {
    let subject: SendingSubject;
    let taking: Taking;
    let sender: Sender;
    const start = async (pace: Pace = 'eager', overrides: Overrides = {}) => {
      taking = await subject.taking(pace, overrides);
      sender = await senderOf(taking.upstream);
    };
    const takenOf = async (count: number): Promise<readonly Taken[]> => {
      await until(async () => (await taking.taken()).length >= count);
      return taking.taken();
    };

    beforeEach(() => {
      subject = makeSubject();
    });
    afterEach(async () => {
      await taking?.upstream.close();
      await subject.clean();
    });

    it.each([
      ['an empty file', 0, 100],
      ['pieces of one byte', 500, 1],
      ['one piece', 1000, 1000],
      ['many pieces', 3_000_001, 9_999],
      ['pieces longer than any buffer', 9_000_000, 4_000_000],
    ])('gets the exact bytes: %s', async (_what, size, piece) => {
      await start();
      const message = source(size, { piece });
      await sender.send(message);
      expect(await takenOf(1)).toEqual([{ bytes: message.length, digest: message.digest, whole: true }]);
      expect([message.reads, message.ended]).toEqual([1, 1]);
    });

    it('gets the exact bytes though it reads slowly', async () => {
      await start('slow');
      const message = source(4_000_000);
      await sender.send(message);
      expect(await takenOf(1)).toEqual([{ bytes: message.length, digest: message.digest, whole: true }]);
    });

    it('gets messages whole that are sent while a long one is under way', async () => {
      await start();
      let inside: Promise<unknown> | undefined;
      const short = [2, 3, 4].map((id) => request(id, 'ping', { pad: 'p'.repeat(id * 10_000) }));
      const second = source(300_000, { id: 5 });
      const message = source(2_000_000, {
        before: (piece) => {
          if (piece === 3) inside = Promise.all([...short, second].map((one) => sender.send(one)));
          return piece > 3 ? new Promise((resolve) => setTimeout(resolve, 5)) : undefined;
        },
      });
      await sender.send(message);
      await inside;
      const taken = await takenOf(5);
      expect(taken.map(({ whole }) => whole)).toEqual([true, true, true, true, true]);
      const bytes = [message.length, ...short.map(({ length }) => length), second.length];
      expect(taken.map((one) => one.bytes).sort()).toEqual(bytes.sort());
      expect(taken.map(({ digest }) => digest)).toEqual(expect.arrayContaining([message.digest, second.digest]));
    });

    it('holds the source back while it does not read, and ends it when the sending ends', async () => {
      await start('deaf');
      const size = 256 * 1024 * 1024;
      const message = source(size, { piece: 1024 * 1024 });
      const sending = failureOf(sender.send(message));
      let before = -1;
      await until(async () => {
        if (message.pulled === before) return true;
        before = message.pulled;
        await new Promise((resolve) => setTimeout(resolve, 200));
        return false;
      });
      // what the kernel's buffers hold
      expect(message.pulled).toBeLessThan(size / 4);
      await sender.end();
      expect((await sending).code).toBe('upstream_closed');
      await until(() => message.ended === 1);
    });

    it('is given up when it takes nothing for too long', async () => {
      await start('deaf', { timeouts: { [subject.stall]: 300 } });
      const message = source(64 * 1024 * 1024);
      const failure = await failureOf(sender.send(message));
      expect([failure.code, failure.facts.limit]).toEqual(['upstream_timeout', `timeouts.${subject.stall}`]);
      await until(() => message.ended === 1);
    });

    it.each([
      ['before its first byte', 0, new GatewayError('store_unavailable')],
      ['in the middle', 5, new GatewayError('store_timeout', { limit: 'timeouts.store', allowed: 1 })],
      ['after its last byte', 13, new GatewayError('file_gone')],
      ['with an error of its own', 2, new TypeError('no such object')],
    ])('takes no message whose source fails %s, and the next one works', async (_when, failAfter, failure) => {
      await start();
      const message = source(1_000_000, { failAfter, failure });
      await expect(sender.send(message)).rejects.toBe(failure);
      expect([message.reads, message.ended]).toEqual([1, 1]);
      const next = request(2, 'ping');
      await sender.send(next);
      await until(async () => (await taking.taken()).some(({ whole }) => whole));
      const whole = (await taking.taken()).filter((one) => one.whole);
      expect(whole.map(({ bytes }) => bytes)).toEqual([next.length]);
    });

    it.each([
      ['shorter', 1],
      ['longer', -1],
    ])('takes no message that is %s than it says', async (_what, lie) => {
      await start();
      const message = source(200_000, { lie });
      const failure = await failureOf(sender.send(message));
      expect([failure.code, failure.message]).toEqual(['internal', 'Internal error.']);
      expect(message.ended).toBe(1);
      await sender.send(request(2, 'ping'));
      await until(async () => (await taking.taken()).some(({ whole }) => whole));
      expect((await taking.taken()).filter(({ whole }) => whole).length).toBe(1);
    });

    it('is left alone when the sending is ended before the source is ready', async () => {
      await start();
      let ready: () => void = () => undefined;
      const message = source(1000, { before: () => new Promise((resolve) => (ready = resolve)) });
      const sending = failureOf(sender.send(message));
      await until(() => message.reads === 1);
      await sender.end();
      expect((await sending).code).toBe('upstream_closed');
      ready();
      await until(() => message.ended === 1);
      expect((await taking.taken()).filter(({ whole }) => whole)).toEqual([]);
    });
  });
}
