import { describe, expect, it } from '@jest/globals';
import { ASSUMED_ERA } from '../../../../gateway/mcp/era.js';
import type { Asked } from '../../../../gateway/relay/caller.js';
import { PostStream } from '../../../../gateway/relay/channels/post-stream.js';
import { ChannelStreams } from '../../../../gateway/relay/channels/streams.js';
import { type Exchange, noFacts } from '../../../../gateway/relay/exchange.js';
import type { PendingRequest } from '../../../../gateway/relay/pending-request.js';
import type { Reply } from '../../../../gateway/relay/reply.js';
import { createReader, type HeldMessage } from '../../../../gateway/wire/json/reader.js';
import { call, RelayLab } from '../relay-lab.js';

const lab = new RelayLab();

function read(text: string): HeldMessage {
  const messages: HeldMessage[] = [];
  const handler = { message: (message: HeldMessage) => messages.push(message) };
  const reader = createReader('lines', { tree: lab.deps.cut.tree, handler });
  reader.feed(Buffer.from(`${text}\n`));
  return messages[0] as HeldMessage;
}

const progress = (token: number) =>
  read(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1}}`);

function channel({ isShared = false } = {}) {
  const streams = new ChannelStreams(isShared, { most: 10, ms: 1000, clock: { ticks: () => 0 }, givenUp: () => {} });
  const place = (request: PendingRequest) => {
    const reply = { gone: false, begun: false, written: 0, onClose() {}, end() {} } as unknown as Reply;
    const exchange = { headers: { accept: 'text/event-stream' }, reply, facts: noFacts() } as unknown as Exchange;
    const asked = { exchange, messages: { era: ASSUMED_ERA } } as unknown as Asked;
    const pending = new Map([[request.id, request]]);
    const stream = new PostStream(asked, pending, { head: 'later', deps: lab.deps });
    return { stream, place: streams.add(stream, pending) };
  };
  return { streams, place, post: (request: PendingRequest) => place(request).stream };
}

function withToken(id: string, progressToken: number): PendingRequest {
  const request = call(id);
  return { ...request, params: { ...request.params, _meta: { progressToken } } };
}

describe('the streams of a channel', () => {
  it('bring progress to its request when another one has been answered whose id is the progress token', async () => {
    const { streams, post } = channel();
    post(call('1'));
    const stream = post(withToken('2', 1));
    expect(streams.targetOf(progress(1))).toBe(stream);
    await streams.settle('1');
    expect(streams.targetOf(progress(1))).toBe(stream);
  });

  it('bring no progress to a request that was answered, on a channel of several clients', async () => {
    const { streams, post } = channel({ isShared: true });
    const stream = post(call('1'));
    expect(streams.targetOf(progress(1))).toBe(stream);
    await streams.settle('1');
    expect(streams.targetOf(progress(1))).toBeUndefined();
  });

  it('bring the progress of a call whose client has left to no other, though there is only one', () => {
    const { streams, place, post } = channel();
    const left = place(withToken('1', 7));
    const other = post(call('2'));
    streams.remove(left.place, ['1']);
    expect(streams.targetOf(progress(7))).toBeUndefined();
    // of what is not known at all it is the only one that may have asked for it
    expect(streams.targetOf(progress(8))).toBe(other);
  });

  it('keep a request whose id and token were those of an earlier one when that is over', async () => {
    const { streams, place, post } = channel();
    const earlier = place(withToken('1', 7));
    await streams.settle('1');
    const later = post(withToken('1', 7));
    post(call('2'));
    streams.remove(earlier.place, []);
    expect(streams.of('1')).toBe(later);
    expect(streams.targetOf(progress(7))).toBe(later);
  });
});
