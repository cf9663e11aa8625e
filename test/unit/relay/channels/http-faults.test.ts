import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../../gateway/errors.js';
import { absentCaller } from '../../../../gateway/identity/identities.js';
import { parseMessages } from '../../../../gateway/mcp/request.js';
import type { ExchangeUpstream } from '../../../../gateway/ports/upstream.js';
import type { Asked } from '../../../../gateway/relay/caller.js';
import { EarlyMessages } from '../../../../gateway/relay/channels/early-messages.js';
import { AnswerRelay } from '../../../../gateway/relay/channels/http-answer.js';
import { HttpServer } from '../../../../gateway/relay/channels/http-server.js';
import { noFacts } from '../../../../gateway/relay/exchange.js';
import type { Reply } from '../../../../gateway/relay/reply.js';
import type { Session, Sessions } from '../../../../gateway/relay/session.js';
import { gate } from '../../../helpers/gate.js';
import { unhandledDuring } from '../../../helpers/this-process.js';
import { RelayLab } from '../relay-lab.js';

const SESSION = { id: 's', upstreamSession: 'u', version: '2025-06-18' } as Session;

/** A client's POST that is answered with `reply`. */
function asked(reply: Partial<Reply>): Asked {
  const messages = parseMessages(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/list"}'));
  const exchange = {
    headers: { accept: 'application/json, text/event-stream' },
    reply,
    identity: absentCaller('ann'),
    principal: 'ann',
    signal: new AbortController().signal,
    facts: noFacts(),
  };
  const client = { protocolVersion: '2025-06-18', capabilities: {} };
  return { exchange, messages, session: SESSION, client, inquire: async () => undefined } as unknown as Asked;
}

/** A state store that is away, as its sessions see it. */
const away = {
  end: () => Promise.reject(new GatewayError('state_unavailable')),
  resumable: { unanswered: { of: () => new Map() }, of: () => () => undefined, answered() {} },
} as unknown as Sessions;

describe('an answer whose client gets an error of Wharf’s own instead', () => {
  it.each([
    ['the end of a session', 200, (server: HttpServer) => server.remove(asked({}), SESSION)],
    ['a session that its server has forgotten', 404, (server: HttpServer) => server.post(asked({}))],
  ])('does not keep its connection: %s', async (_what, status, run) => {
    const body = new PassThrough();
    const open = async () => ({ status, headers: {}, kind: 'json', body }) as const;
    const upstream = { channel: 'exchange', transport: 'streamable-http', open } as unknown as ExchangeUpstream;
    const server = new HttpServer({ ...new RelayLab().deps, sessions: away }, upstream);
    await expect(run(server)).rejects.toMatchObject({ code: 'state_unavailable' });
    expect(body.destroyed).toBe(true);
  });
});

describe('messages before the answer that opens a session', () => {
  it('are dropped behind one that cannot be brought to the client', async () => {
    const said: string[] = [];
    const early = new EarlyMessages();
    const forward = async () => void said.push('first');
    early.add({ forward, drop: async () => void said.push('first dropped') });
    early.add({ forward: () => Promise.reject(new Error('broken off')), drop: async () => void said.push('dropped') });
    early.add({ forward, drop: async () => void said.push('third dropped') });
    await expect(early.forward()).rejects.toThrow('broken off');
    expect(said).toEqual(['first', 'third dropped']);
  });
});

describe('a packet with very many messages', () => {
  it('is given up whole where a message of it fails, and there is no room for what is beside them', async () => {
    const comment = ': comment\n\n';
    const note = 'data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n';
    const failing = gate();
    const { deps } = new RelayLab();
    // what comes besides messages is counted where a client does not read
    const look = { isNext: false };
    const held = {
      add: (bytes: number) => {
        if (bytes > 0 && look.isNext) throw new GatewayError('held_full', {});
        look.isNext = false;
      },
    };
    const reply = {
      begun: true,
      gone: false,
      written: 0,
      get pressure() {
        look.isNext = true;
        return failing.opened;
      },
      head() {},
      comment() {},
      abort() {},
      message: () => failing.opened.then(() => Promise.reject(new Error('the client has gone'))),
    } as unknown as Reply;
    const body = new PassThrough();
    const cut = { ...deps.cut, held: held as unknown as typeof deps.cut.held };
    const context = { deps: { ...deps, cut, sessions: away }, caller: asked(reply) };
    const relay = new AnswerRelay({ status: 200, headers: {}, kind: 'sse', body }, 'sse', context);
    const unhandled = await unhandledDuring(async () => {
      const run = relay.run().catch(() => undefined);
      body.write(comment + note.repeat(1100));
      await new Promise(setImmediate);
      failing.open();
      await run;
    });
    expect(unhandled).toEqual([]);
  });
});
