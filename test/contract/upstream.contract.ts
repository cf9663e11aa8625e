import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../gateway/errors.js';
import type { Upstream } from '../../gateway/ports/upstream.js';
import { sha256 } from '../helpers/bytes.js';
import { blobDigest } from '../helpers/fake-upstream-blob.js';
import { until } from '../helpers/wait.js';
import { calm, failureOf, type Overrides, POST_HEADERS, request } from './upstream/subject.js';

/** What the contract needs to know of one adapter. */
export interface UpstreamSubject {
  /** In front of a well-behaved MCP server of the test helpers. */
  healthy(overrides?: Overrides): Promise<Upstream>;
  /** In front of nothing. */
  unreachable(): Promise<Upstream>;
  /** In front of a server that writes `{"half":` of its answer to any request and dies. */
  dying(): Promise<Upstream>;
  /** Sets the limit on connections or processes to 1, and names the error that passing it gives. */
  limitOfOne: Overrides;
  limitError: 'connection_limit' | 'process_limit';
  /** Connections and processes that are left. */
  leftovers(): number | Promise<number>;
  /** Ends whatever `healthy`, `unreachable` and `dying` started. */
  clean(): Promise<void>;
}

/** Sends one message on a channel of its own and gives the body its answer comes in. */
async function ask(upstream: Upstream, message: Buffer, signal = calm()): Promise<Readable> {
  if (upstream.channel === 'exchange') {
    const answer = await upstream.open({ method: 'POST', headers: { ...POST_HEADERS }, body: message }, signal);
    return answer.body;
  }
  const connection = await upstream.connect(signal);
  await connection.send(message);
  return connection.body;
}

/** Reads up to the end of the JSON-RPC answer, since a shared channel's body does not end with it. */
async function readAnswer(body: Readable, id: number, slowly = false): Promise<Buffer> {
  const end = Buffer.from(`,"jsonrpc":"2.0","id":${id}}`);
  const parts: Buffer[] = [];
  let tail = Buffer.alloc(0);
  for await (const part of body as AsyncIterable<Buffer>) {
    parts.push(part);
    tail = Buffer.concat([tail, part]).subarray(-2 * end.length);
    if (tail.includes(end)) break;
    if (slowly && parts.length % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const all = Buffer.concat(parts);
  const start = all.indexOf('{"result"');
  return all.subarray(start, all.indexOf(end, start) + end.length);
}

async function failureOfBody(body: Readable): Promise<{ failure: GatewayError; text: string }> {
  let text = '';
  const failure = await failureOf(
    (async () => {
      for await (const part of body) text += String(part);
    })(),
  );
  return { failure, text };
}

const blobCall = (id: number, size: number): Buffer =>
  request(id, 'tools/call', { name: 'blob', arguments: { size, seed: 7 } });

/** What every upstream adapter does, whatever its channel. */
export function describeUpstream(name: string, makeSubject: () => UpstreamSubject): void {
  describe(`${name} as an upstream`, () => {
    let subject: UpstreamSubject;
    const made: Upstream[] = [];
    const keep = async (upstream: Promise<Upstream>): Promise<Upstream> => {
      made.push(await upstream);
      return upstream;
    };

    beforeEach(() => {
      subject = makeSubject();
    });
    afterEach(async () => {
      for (const upstream of made.splice(0)) await upstream.close();
      await subject.clean();
    });

    it('hands over the bytes of an answer as the server wrote them', async () => {
      const upstream = await keep(subject.healthy());
      const answer = await readAnswer(await ask(upstream, request(5, 'ping')), 5);
      expect(answer.toString()).toBe('{"result":{},"jsonrpc":"2.0","id":5}');
    });

    it('hands over a big answer whole to a slow reader', async () => {
      const size = 6_000_001;
      const upstream = await keep(subject.healthy());
      const answer = await readAnswer(await ask(upstream, blobCall(1, size)), 1, true);
      const { result } = JSON.parse(answer.toString()) as { result: { content: { data: string }[] } };
      const data = Buffer.from(result.content[0]?.data ?? '', 'base64');
      expect(sha256(data)).toBe(blobDigest({ size, seed: 7 }));
    });

    it('holds the server back while its answer is not read', async () => {
      const upstream = await keep(subject.healthy());
      const body = await ask(upstream, blobCall(1, 64 * 1024 * 1024));
      // a listener that takes nothing: the stream fills its buffer and waits
      body.on('readable', () => undefined);
      await until(() => body.readableLength > 0);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(body.readableLength).toBeLessThanOrEqual(256 * 1024);
      body.destroy();
    });

    it('keeps answers under way at the same time apart', async () => {
      const upstream = await keep(subject.healthy());
      const ids = [...Array(8).keys()];
      const answers = await Promise.all(
        ids.map(async (id) => {
          const call = request(id, 'tools/call', { name: 'echo', arguments: { text: `mine is ${id}` } });
          return readAnswer(await ask(upstream, call), id);
        }),
      );
      for (const id of ids) expect(answers[id]?.toString()).toContain(`mine is ${id}`);
    });

    it('says that a server cannot be reached, and nothing about where it is', async () => {
      const upstream = await keep(subject.unreachable());
      const failure = await failureOf(ask(upstream, request(1, 'ping')));
      expect(failure.code).toBe('upstream_unreachable');
      expect(failure.message).toMatch(
        /^The server "subject" cannot be reached: (?:connection refused|its command was not found)\.$/,
      );
      expect(failure.cause).toHaveProperty('message');
    });

    it('checks whether the server can be reached', async () => {
      await (await keep(subject.healthy())).check();
      const failure = await failureOf((await keep(subject.unreachable())).check());
      expect(failure.code).toBe('upstream_unreachable');
    });

    it('gives up when the signal was aborted before, with its reason', async () => {
      const upstream = await keep(subject.healthy());
      const failure = await failureOf(
        ask(upstream, request(1, 'ping'), AbortSignal.abort(new GatewayError('draining'))),
      );
      expect(failure.code).toBe('draining');
    });

    it('errs when the server dies in the middle of an answer, after the bytes that came', async () => {
      const upstream = await keep(subject.dying());
      const { failure, text } = await failureOfBody(await ask(upstream, request(1, 'ping')));
      expect(failure.code).toBe('upstream_closed');
      expect(text).toContain('{"half":');
    });

    it('lets no more run than its limit, and goes on when one is over', async () => {
      const upstream = await keep(subject.healthy(subject.limitOfOne));
      const first = await ask(upstream, blobCall(1, 16 * 1024 * 1024));
      const failure = await failureOf(ask(upstream, request(2, 'ping')));
      expect(failure.code).toBe(subject.limitError);
      expect(failure.facts).toMatchObject({ allowed: 1 });
      first.destroy();
      // a place is free again once its connection, or its process, has gone
      let body: Readable | undefined;
      await until(async () => {
        body = await ask(upstream, request(3, 'ping')).catch(() => undefined);
        return body !== undefined;
      });
      expect((await readAnswer(body as Readable, 3)).toString()).toContain('"result":{}');
    });

    it('leaves nothing behind when it is closed, and then takes nothing more', async () => {
      const upstream = await keep(subject.healthy());
      const body = await ask(upstream, blobCall(1, 64 * 1024 * 1024));
      body.on('error', () => undefined);
      await upstream.close();
      await until(async () => (await subject.leftovers()) === 0);
      const failure = await failureOf(ask(upstream, request(2, 'ping')));
      expect(failure.code).toBe('upstream_closed');
      await upstream.close();
    });
  });
}

/** What the adapters with one channel per session do besides. */
export function describeSharedUpstream(name: string, makeSubject: () => UpstreamSubject): void {
  describe(`${name} as a shared channel`, () => {
    let subject: UpstreamSubject;
    let upstream: Upstream | undefined;
    const open = async () => {
      upstream = await subject.healthy();
      if (upstream.channel !== 'shared') throw new Error('not a shared channel');
      return upstream.connect(calm());
    };

    beforeEach(() => {
      subject = makeSubject();
    });
    afterEach(async () => {
      await upstream?.close();
      await subject.clean();
    });

    it('carries many messages of one session', async () => {
      const connection = await open();
      for (let id = 0; id < 20; id++) {
        await connection.send(request(id, 'ping'));
        await readAnswerKeepingOpen(connection.body, id);
      }
      expect(connection.body.destroyed).toBe(false);
    });

    it('closes without an error on the body, however often it is told to', async () => {
      const connection = await open();
      const errors: Error[] = [];
      connection.body.on('error', (error) => errors.push(error));
      connection.body.resume();
      await connection.send(request(1, 'ping'));
      await Promise.all([connection.close(), connection.close()]);
      expect((await failureOf(connection.send(request(2, 'ping')))).code).toBe('upstream_closed');
      await upstream?.close();
      await until(async () => (await subject.leftovers()) === 0);
      expect(errors).toEqual([]);
    });

    it('is not closed by the signal that opened it', async () => {
      upstream = await subject.healthy();
      if (upstream.channel !== 'shared') throw new Error('not a shared channel');
      const opening = new AbortController();
      const connection = await upstream.connect(opening.signal);
      opening.abort();
      await connection.send(request(1, 'ping'));
      await readAnswerKeepingOpen(connection.body, 1);
      expect(connection.body.destroyed).toBe(false);
    });
  });
}

/** Waits for one answer without an iterator, whose end would destroy the body. */
function readAnswerKeepingOpen(body: Readable, id: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    const read = (chunk: Buffer): void => {
      text += chunk.toString();
      if (!text.includes(`"id":${id}}`)) return;
      body.off('data', read);
      body.off('error', reject);
      resolve();
    };
    body.on('data', read);
    body.on('error', reject);
  });
}
