import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { Heartbeats } from '../../../../gateway/relay/client/heartbeats.js';
import { HttpReply, type HttpResponse } from '../../../../gateway/relay/client/http-reply.js';
import { HEAD_WAIT_MS, LateHead, MAX_WHOLE_BYTES } from '../../../../gateway/relay/client/late-head.js';
import type { Reply, ReplyHead } from '../../../../gateway/relay/reply.js';

const ANSWER = Buffer.from('{"jsonrpc":"2.0","id":1,"result":{}}');
const LINE_FEED = Buffer.from('\n');

/** A client's response that notes each write, and takes everything. */
class NotedResponse extends EventEmitter implements HttpResponse {
  headersSent = false;
  writableEnded = false;
  destroyed = false;
  status = 0;
  readonly writes: string[] = [];

  writeHead(status: number): void {
    this.headersSent = true;
    this.status = status;
  }
  flushHeaders(): void {
    this.writes.push('');
  }
  write(bytes: Buffer): boolean {
    if (!this.destroyed) this.writes.push(bytes.toString());
    return true;
  }
  end(bytes?: Buffer): void {
    if (bytes) this.writes.push(bytes.toString());
    this.writableEnded = true;
  }
  destroy(): void {
    this.destroyed = true;
  }
  setTimeout(): void {}
}

function begun(body: ReplyHead['body']): { response: NotedResponse; reply: LateHead } {
  const response = new NotedResponse();
  const reply = new LateHead(new HttpReply(response, 1000, new Heartbeats()));
  reply.head({ status: 200, body, isEarly: true });
  return { response, reply };
}

describe('the head of an answer that is complete', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it.each([
    ['values', ANSWER.toString()],
    ['events', `event: message\ndata: ${ANSWER}\n\n`],
  ] as const)('goes out with the only message and the end: %s', (body, expected) => {
    const { response, reply } = begun(body);
    reply.message([ANSWER], {
      answers: ['1'],
      frame: body === 'events' ? { event: Buffer.from('message') } : undefined,
    });
    expect(response.writes).toEqual([]);
    reply.end();
    expect(response.writes).toEqual([expected]);
    expect(response.writableEnded).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('goes out with the line feed after the message, too', () => {
    const { response, reply } = begun('values');
    reply.message([ANSWER], { answers: ['1'] });
    reply.space(LINE_FEED);
    reply.end();
    expect(response.writes).toEqual([`${ANSWER}\n`]);
  });

  it('is said to be given before it is', () => {
    const { response, reply } = begun('values');
    expect(reply.begun).toBe(true);
    expect(response.headersSent).toBe(false);
    reply.end();
    expect(response.headersSent).toBe(true);
  });

  it('goes out alone when its message takes long', () => {
    const { response, reply } = begun('events');
    jest.advanceTimersByTime(HEAD_WAIT_MS - 1);
    expect(response.headersSent).toBe(false);
    jest.advanceTimersByTime(1);
    expect(response.writes).toEqual(['']);
    reply.message([ANSWER], { answers: ['1'] });
    expect(response.writes.join('')).toBe(`data: ${ANSWER}\n\n`);
    reply.end();
  });

  it('goes out before a message that is too long to be copied', () => {
    const { response, reply } = begun('values');
    reply.message([Buffer.alloc(MAX_WHOLE_BYTES, ' '), ANSWER], { answers: ['1'] });
    expect(response.headersSent).toBe(true);
    expect(response.writes.join('').length).toBe(MAX_WHOLE_BYTES + ANSWER.length);
    reply.end();
  });

  it('is not sent to a client that has gone', () => {
    const { response, reply } = begun('values');
    reply.message([ANSWER], { answers: ['1'] });
    response.destroyed = true;
    reply.end();
    expect(response.headersSent).toBe(false);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('goes out with the message that came before the connection is cut', () => {
    const { response, reply } = begun('values');
    reply.message([ANSWER], { answers: ['1'] });
    reply.abort();
    expect(response.writes).toEqual([ANSWER.toString()]);
    expect(response.destroyed).toBe(false);
    jest.runAllTimers();
    expect(response.destroyed).toBe(true);
  });
});

type Step = (reply: Reply) => unknown;

const bytes = fc.string({ maxLength: 20 }).map((text) => Buffer.from(JSON.stringify(text)));
const step: fc.Arbitrary<Step> = fc.oneof(
  bytes.map(
    (message): Step =>
      (reply) =>
        reply.message([message], { answers: ['1'] }),
  ),
  bytes.map(
    (message): Step =>
      (reply) =>
        reply.message([message], { frame: { id: Buffer.from('7') } }),
  ),
  bytes.map(
    (message): Step =>
      (reply) =>
        reply.message([LINE_FEED, message], { answers: ['2'], frame: {} }),
  ),
  fc.constant<Step>((reply) => reply.comment(Buffer.from('beat'))),
  fc.constant<Step>((reply) => reply.event({ id: Buffer.from('8'), data: true })),
);
const blank = fc.constant<Step>((reply) => reply.space(LINE_FEED));

describe('whatever is said on it', () => {
  it.each([
    ['values', fc.oneof(step, blank)],
    ['events', step],
  ] as const)('reaches the client as if its head had gone out at once: %s', async (body, steps) => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { maxLength: 6 }), fc.boolean(), async (all, isCut) => {
        const direct = new NotedResponse();
        const late = new NotedResponse();
        for (const response of [direct, late]) {
          const client = new HttpReply(response, 1000, new Heartbeats());
          const reply = response === late ? new LateHead(client) : client;
          reply.head({ status: 200, body });
          for (const one of all) await one(reply);
          if (isCut) reply.abort();
          else reply.end();
        }
        await new Promise(setImmediate);
        expect(late.writes.join('')).toBe(direct.writes.join(''));
        expect([late.writableEnded, late.destroyed]).toEqual([direct.writableEnded, direct.destroyed]);
      }),
    );
  });
});
