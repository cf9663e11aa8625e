import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Piece } from '../../../../gateway/json/written.js';
import { AskedReply } from '../../../../gateway/relay/asking/asked-reply.js';
import type { MessageFacts, Reply, ReplyHead } from '../../../../gateway/relay/reply.js';

/** A client's reply that notes what is written. */
class NotedReply implements Reply {
  readonly heads: ReplyHead[] = [];
  readonly messages: string[] = [];
  readonly bodies: string[] = [];
  ended = 0;
  readonly written = 0;
  readonly pressure = undefined;
  readonly takesBodies = true;

  get begun(): boolean {
    return this.heads.length > 0;
  }
  get gone(): boolean {
    return this.ended > 0;
  }
  head(head: ReplyHead): void {
    this.heads.push(head);
  }
  message(pieces: readonly Piece[], _facts?: MessageFacts): undefined {
    this.messages.push(Buffer.concat(pieces as readonly Buffer[]).toString());
  }
  event(): undefined {}
  comment(): undefined {}
  space(): undefined {
    this.messages.push(' ');
  }
  all(head: ReplyHead, body?: Buffer): void {
    this.heads.push(head);
    this.bodies.push(String(body));
    this.ended += 1;
  }
  only(head: ReplyHead, pieces: readonly Buffer[]): void {
    this.all(head, Buffer.concat(pieces));
  }
  end(): void {
    this.ended += 1;
  }
  abort(): void {}
  onClose(): void {}
}

let noted: NotedReply;
let reply: AskedReply;

beforeEach(() => {
  noted = new NotedReply();
  reply = new AskedReply(noted, '1', 'docs');
});

const answer = Buffer.from('{"jsonrpc":"2.0","id":1,"result":{}}');

describe('the reply to a call on which nothing was asked', () => {
  it('is the client’s own', () => {
    expect([reply.begun, reply.takesBodies, reply.hasAsked]).toEqual([false, true, false]);
    reply.all({ status: 404, body: 'values' }, answer, ['1']);
    expect(noted.heads).toEqual([{ status: 404, body: 'values' }]);
    expect(noted.bodies).toEqual([answer.toString()]);
  });

  it('takes an answer that is all it ever says', () => {
    reply.only({ status: 200, body: 'events' }, [answer], { answers: ['1'] });
    expect(noted.heads).toEqual([{ status: 200, body: 'events' }]);
    expect(noted.bodies).toEqual([answer.toString()]);
  });
});

describe('the reply to a call on which something was asked', () => {
  beforeEach(() => {
    reply.say({ method: 'notifications/x' });
    reply.say({ method: 'notifications/y' });
  });

  it('is a stream that takes the answer as one more message, whatever head and blanks come with it', () => {
    expect([reply.begun, reply.takesBodies]).toEqual([false, false]);
    reply.head({ status: 200, body: 'values', headers: { 'content-type': 'application/json' } });
    expect(reply.begun).toBe(true);
    reply.space(Buffer.from(' '));
    reply.message([answer], { answers: ['1'] });
    reply.end();
    expect(noted.heads).toHaveLength(1);
    expect(noted.heads[0]).toMatchObject({ status: 200, body: 'events' });
    expect(noted.messages).toEqual([
      '{"jsonrpc":"2.0","method":"notifications/x"}',
      '{"jsonrpc":"2.0","method":"notifications/y"}',
      answer.toString(),
    ]);
    expect(noted.ended).toBe(1);
  });

  it('waits with its server where what was taken is still being dealt with', async () => {
    let done = () => {};
    const dealt = new Promise<void>((resolve) => {
      done = resolve;
    });
    reply.taker = { takes: (pieces) => (String(pieces[0]).includes('slow') ? dealt : true), over: () => {} };
    expect(reply.message([Buffer.from('{"id":"quick"}')])).toBeUndefined();
    const order: string[] = [];
    const written = Promise.resolve(reply.message([Buffer.from('{"id":"slow"}')])).then(() => order.push('written'));
    order.push('dealt');
    done();
    await written;
    expect(order).toEqual(['dealt', 'written']);
    expect(noted.messages).toHaveLength(2);
  });

  it('takes a whole answer the same way', () => {
    reply.all({ status: 400, body: 'values' }, answer, ['1']);
    expect(noted.messages.at(-1)).toBe(answer.toString());
    expect(noted.ended).toBe(1);
  });

  it('takes an answer that comes as the only message the same way', () => {
    reply.only({ status: 200, body: 'events' }, [answer], { answers: ['1'] });
    expect(noted.heads).toHaveLength(1);
    expect(noted.messages.at(-1)).toBe(answer.toString());
    expect(noted.ended).toBe(1);
  });

  it.each<[string, ReplyHead, string]>([
    ['a status', { status: 503, body: 'other' }, 'HTTP 503'],
    ['nothing', { status: 200, body: 'events' }, 'ended before its answer'],
  ])('owes its client an error where the server said %s', (_what, head, text) => {
    reply.head(head);
    reply.message([Buffer.from('<html>')]);
    reply.end();
    const error = JSON.parse(noted.messages.at(-1) ?? '') as { id: number; error: { message: string } };
    expect(error.id).toBe(1);
    expect(error.error.message).toContain(text);
    expect(noted.ended).toBe(1);
  });
});
