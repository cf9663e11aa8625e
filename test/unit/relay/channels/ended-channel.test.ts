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

/** A client's POST, whose answer nothing is written to. */
function askedBy(message: object): Asked {
  const response = { headersSent: false, writableEnded: false, destroyed: false, setTimeout() {} };
  const messages = parseMessages(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })));
  const exchange = {
    headers: { accept: 'application/json, text/event-stream' },
    reply: new HttpReply(Object.assign(new EventEmitter(), response) as unknown as HttpResponse, 0, new Heartbeats()),
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
