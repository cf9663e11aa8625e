import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { absentCaller } from '../../../../gateway/identity/identities.js';
import { parseMessages } from '../../../../gateway/mcp/request.js';
import type { SharedConnection } from '../../../../gateway/ports/upstream.js';
import type { Asked } from '../../../../gateway/relay/caller.js';
import { SharedSession } from '../../../../gateway/relay/channels/shared-session.js';
import { Heartbeats } from '../../../../gateway/relay/client/heartbeats.js';
import { HttpReply, type HttpResponse } from '../../../../gateway/relay/client/http-reply.js';
import type { RelayDeps } from '../../../../gateway/relay/deps.js';
import { noFacts } from '../../../../gateway/relay/exchange.js';
import { gate } from '../../../helpers/gate.js';
import { until } from '../../../helpers/wait.js';
import { RelayLab } from '../relay-lab.js';

const clock = { now: () => Date.now(), ticks: () => performance.now() };
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
const NOTE = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello"}}\n';

/** A channel of one session to a server of lines, which takes each message once `taken` resolves. */
function channelOf({ taken = Promise.resolve(), more }: { taken?: Promise<void>; more?: Partial<RelayDeps> } = {}) {
  const lab = new RelayLab();
  const body = new PassThrough();
  const sent: string[] = [];
  const connection: SharedConnection = {
    kind: 'lines',
    body,
    send: async (message) => {
      sent.push(String(message));
      await taken;
    },
    close: async () => void body.destroy(),
  };
  const deps = { ...lab.deps, clock, ...more };
  const channel = new SharedSession({ deps, connection, principal: 'ann', isShared: false, closed: () => {} });
  return { lab, body, sent, channel };
}

/** An answer to which nothing is written. */
const UNWRITTEN = { headersSent: false, writableEnded: false, destroyed: false, setTimeout() {} };

/** The answer of a client that has stopped reading. */
function unread(): { response: EventEmitter & HttpResponse; written: string[] } {
  const written: string[] = [];
  const response: EventEmitter & HttpResponse = Object.assign(new EventEmitter(), UNWRITTEN, {
    writeHead: () => Object.assign(response, { headersSent: true }),
    flushHeaders() {},
    write: (bytes: Buffer) => {
      written.push(String(bytes));
      return false;
    },
    end: () => Object.assign(response, { writableEnded: true }),
    destroy: () => Object.assign(response, { destroyed: true }),
  });
  return { response, written };
}

/** A client's POST. */
function askedBy(message: object, response: object = Object.assign(new EventEmitter(), UNWRITTEN)): Asked {
  const said = Array.isArray(message) ? message : { jsonrpc: '2.0', ...message };
  const messages = parseMessages(Buffer.from(JSON.stringify(said)));
  const exchange = {
    headers: { accept: 'application/json, text/event-stream' },
    reply: new HttpReply(response as HttpResponse, 0, new Heartbeats()),
    identity: absentCaller('ann'),
    principal: 'ann',
    signal: new AbortController().signal,
    facts: noFacts(),
  };
  const client = { protocolVersion: '2025-06-18', capabilities: {} };
  return { exchange, messages, client, inquire: async () => undefined } as unknown as Asked;
}

describe('a channel that ends', () => {
  it('refuses a call that was prepared meanwhile: nothing would read its answer', async () => {
    const prepared = gate();
    const asked: string[] = [];
    const tool = async (_view: string, name: string) => {
      asked.push(name);
      await prepared.opened;
    };
    const catalog = { known: () => undefined, isSettled: () => false, tool } as unknown as RelayDeps['catalog'];
    const { body, sent, channel } = channelOf({ more: { catalog } });
    const call = askedBy({ id: 7, method: 'tools/call', params: { name: 'look', arguments: {} } });
    const answered = channel.post(call, {}).then(
      () => 'answered',
      ({ code }: { code?: string }) => code,
    );
    await until(() => asked.length > 0);
    body.end();
    await until(() => channel.isOver);
    prepared.open();
    const waiting = until(() => sent.length > 0).then(() => 'sent');
    expect(await Promise.race([answered, waiting])).toBe('upstream_closed');
    sent.push('the test is over');
  });

  it('is over, and with it its process, before a client that has stopped reading has read why its call fails', async () => {
    const { body, sent, channel } = channelOf();
    const { response, written } = unread();
    const pings = [7, 8].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
    const call = channel.post(askedBy(pings, response), {});
    await until(() => sent.length > 0);
    body.write('{"jsonrpc":"2.0","id":7,"result":{}}\n');
    await until(() => written.length > 0);
    await channel.close();
    expect([channel.isOver, body.destroyed]).toEqual([true, true]);
    expect(written.join('')).toContain('"code":"upstream_closed"');
    response.emit('close');
    await call;
  });

  it('keeps nothing of what it has read and not brought to its client', async () => {
    const taken = gate();
    const { lab, body, sent, channel } = channelOf({ taken: taken.opened });
    // the second message waits until the first is answered
    body.write(PING + NOTE);
    await until(() => sent.length > 0);
    await channel.close();
    taken.open();
    await until(() => lab.held.used === 0);
  });
});
