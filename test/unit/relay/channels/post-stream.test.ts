import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../../gateway/errors.js';
import { FewLines } from '../../../../gateway/few-lines.js';
import { ASSUMED_ERA } from '../../../../gateway/mcp/era.js';
import type { Asked } from '../../../../gateway/relay/caller.js';
import { CallFiles } from '../../../../gateway/relay/channels/calls/call-files.js';
import { PostStream } from '../../../../gateway/relay/channels/post-stream.js';
import { Heartbeats } from '../../../../gateway/relay/client/heartbeats.js';
import { HttpReply, type HttpResponse } from '../../../../gateway/relay/client/http-reply.js';
import { type Exchange, noFacts } from '../../../../gateway/relay/exchange.js';
import type { PendingRequest } from '../../../../gateway/relay/pending-request.js';
import { silentLog } from '../../../helpers/silent-log.js';
import { until } from '../../../helpers/wait.js';

/** A response that notes what it is told, in order. */
class Told extends EventEmitter implements HttpResponse {
  readonly words: string[] = [];
  headers: Record<string, unknown> = {};
  headersSent = false;
  writableEnded = false;
  destroyed = false;

  writeHead(status: number, headers: Record<string, unknown> = {}): void {
    this.headers = headers;
    this.headersSent = true;
    this.words.push(`head ${status}`);
  }

  flushHeaders(): void {
    this.words.push('flush');
  }

  write(bytes: Buffer): boolean {
    this.words.push(bytes.toString());
    return true;
  }

  end(bytes?: Buffer): void {
    this.words.push(`end ${bytes?.toString() ?? ''}`);
    this.writableEnded = true;
  }

  destroy(): void {
    this.destroyed = true;
  }

  setTimeout(): void {}
}

const DEPS = {
  server: 'docs',
  log: silentLog,
  fewLines: new FewLines({ ticks: () => 0 }),
  metrics: { count() {}, observe() {}, gauge() {} },
};
const EVENTS = 'application/json, text/event-stream';
const ANSWER = '{"result":{},"id":1}';
const OTHER = '{"result":{},"id":2}';
const PROGRESS = '{"method":"notifications/progress"}';

interface StreamOptions {
  accept?: string;
  ids?: string[];
  head?: 'soon' | 'later';
  files?: CallFiles;
}

function streamTo(told: Told, { accept = EVENTS, ids = ['1'], head = 'soon', files }: StreamOptions = {}): PostStream {
  const exchange = {
    headers: { accept },
    reply: new HttpReply(told, 1000, new Heartbeats()),
    facts: noFacts(),
  } as unknown as Exchange;
  const asked = { exchange, messages: { era: ASSUMED_ERA } } as Asked;
  return new PostStream(asked, new Map(ids.map((id) => [id, { id } as PendingRequest])), { head, files, deps: DEPS });
}

const pieces = (text: string) => [Buffer.from(text)];

describe('the answer to a POST on a channel', () => {
  it('is head, event and end in one, when nothing was said before', async () => {
    const told = new Told();
    const stream = streamTo(told);
    expect(stream.send(pieces(ANSWER), ['1'])).toBeUndefined();
    await stream.done;
    expect(told.words).toEqual(['head 200', `end data: ${ANSWER}\n\n`]);
    expect(told.headers).toMatchObject({ 'content-type': 'text/event-stream', 'content-length': '28' });
  });

  it('is head, JSON and end in one for a client that takes nothing else', async () => {
    const told = new Told();
    const stream = streamTo(told, { accept: 'application/json' });
    stream.send(pieces(PROGRESS), []);
    stream.send(pieces(ANSWER), ['1']);
    await stream.done;
    expect(told.words).toEqual(['head 200', `end ${ANSWER}`]);
    expect(told.headers).toMatchObject({ 'content-type': 'application/json', 'content-length': '20' });
  });

  it('has its head with the first event, when there are more', async () => {
    const told = new Told();
    const stream = streamTo(told, { ids: ['1', '2'] });
    stream.send(pieces(PROGRESS), []);
    stream.send(pieces(ANSWER), ['1']);
    expect(stream.gone).toBe(false);
    stream.send(pieces(OTHER), ['2']);
    await stream.done;
    expect(told.words).toEqual([
      'head 200',
      `data: ${PROGRESS}\n\n`,
      `data: ${ANSWER}\n\n`,
      `data: ${OTHER}\n\n`,
      'end ',
    ]);
  });

  it('has its head alone, when its server says nothing for a while', async () => {
    const told = new Told();
    const stream = streamTo(told);
    expect(told.words).toEqual([]);
    await until(() => told.words.length > 0);
    expect(told.words).toEqual(['head 200', 'flush']);
    stream.send(pieces(ANSWER), ['1']);
    await stream.done;
    expect(told.words).toEqual(['head 200', 'flush', `data: ${ANSWER}\n\n`, 'end ']);
  });

  it('is written piece by piece, when it is long', async () => {
    const told = new Told();
    const long = `{"result":"${'x'.repeat(70_000)}","id":1}`;
    const stream = streamTo(told);
    stream.send(pieces(long), ['1']);
    await stream.done;
    expect(told.words).toEqual(['head 200', `data: ${long}\n\n`, 'end ']);
  });

  it('is a JSON body, when it is longer than an event that every client takes', async () => {
    const long = `{"result":"${'x'.repeat(1024 * 1024)}","id":1}`;
    const told = new Told();
    const stream = streamTo(told);
    stream.send(pieces(long), ['1']);
    await stream.done;
    expect(told.words.join('') === `head 200${long}end `).toBe(true);
    expect(told.headers['content-type']).toBe('application/json');
  });

  it.each([
    ['for a client that takes events alone', { accept: 'text/event-stream' }, []],
    ['after another message', {}, [PROGRESS]],
    ['beside another answer', { ids: ['1', '2'] }, []],
  ])('is an event all the same %s', async (_when, options, before) => {
    const long = `{"result":"${'x'.repeat(1024 * 1024)}","id":1}`;
    const told = new Told();
    const stream = streamTo(told, options);
    for (const message of before) stream.send(pieces(message), []);
    stream.send(pieces(long), ['1']);
    expect(told.headers['content-type']).toBe('text/event-stream');
    expect(told.words.join('').includes(`data: ${long}\n\n`)).toBe(true);
    if (!stream.gone) stream.send(pieces(OTHER), ['2']);
    await stream.done;
  });

  it('has a status that no failure changes, from the beginning', async () => {
    const told = new Told();
    const stream = streamTo(told);
    expect(stream.begun).toBe(true);
    await stream.fail(new GatewayError('upstream_closed', { server: 's' }), (id) => id);
    await stream.done;
    expect(told.words[0]).toBe('head 200');
    expect(told.words[1]).toContain('"code":"upstream_closed"');
  });

  it('leaves its status to a failure, where the first message may affect it', async () => {
    const told = new Told();
    const stream = streamTo(told, { head: 'later' });
    expect(stream.begun).toBe(false);
    await stream.fail(new GatewayError('upstream_closed', { server: 's' }), (id) => id);
    await expect(stream.done).rejects.toMatchObject({ code: 'upstream_closed' });
    expect(told.words).toEqual([]);
  });

  it('comes after what existed only for its request has been removed', async () => {
    const told = new Told();
    const files = new CallFiles(['1'], async () => void told.words.push('removed'));
    const stream = streamTo(told, { files });
    await stream.send(pieces(ANSWER), ['1']);
    expect(told.words).toEqual(['removed', 'head 200', `end data: ${ANSWER}\n\n`]);
  });
});
