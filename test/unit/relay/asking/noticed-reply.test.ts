import { describe, expect, it } from '@jest/globals';
import type { Piece } from '../../../../gateway/json/written.js';
import type { JsonPatch } from '../../../../gateway/ports/json.js';
import { NoticedReply } from '../../../../gateway/relay/asking/tasks/noticed-reply.js';
import { PassedReply } from '../../../../gateway/relay/passed-reply.js';
import type { MessageFacts, Reply } from '../../../../gateway/relay/reply.js';

const CHANGES: JsonPatch[] = [{ path: ['inputRequests'], value: { 'wharf-file-1': {} } }];
const WAITS: JsonPatch[] = [
  { path: ['inputRequests'], value: undefined },
  { path: ['status'], value: 'working' },
];

/** What a client is told of this message, and what was left out. */
async function told(text: string, changes: JsonPatch[] | undefined = CHANGES, id?: string) {
  const messages: string[] = [];
  const events: string[] = [];
  const client = {
    takesBodies: true,
    message: (pieces: readonly Piece[]) => void messages.push(Buffer.concat(pieces as Buffer[]).toString()),
    event: (frame: { id?: Buffer }) => void events.push(String(frame.id)),
  } as unknown as Reply;
  const seen: unknown[] = [];
  const errors: unknown[] = [];
  const reply = new NoticedReply(new PassedReply(client), {
    limits: { depth: 50, values: 1000 },
    changes: async (notice) => {
      seen.push(notice);
      return changes;
    },
    leftOut: (error) => errors.push(error),
  });
  expect(reply.takesBodies).toBe(false);
  await reply.message([Buffer.from(text)], {
    ...(id !== undefined && { frame: { id: Buffer.from(id) } }),
  } as MessageFacts);
  return { messages, events, seen, errors };
}

const notice = (params: string) => `{"jsonrpc":"2.0","method":"notifications/tasks","params":${params}}`;

describe('the stream on which a client is told of its tasks', () => {
  it('changes what a task asks, and no other byte', async () => {
    const before = notice('{ "taskId":"a","status":"input_required","x":1e400,"inputRequests":{"scan":{"n":1}} }');
    const { messages, seen } = await told(before);
    expect(messages).toEqual([before.replace('{"scan":{"n":1}}', '{"wharf-file-1":{}}')]);
    expect(seen).toEqual([{ taskId: 'a', requests: { scan: { n: 1 } } }]);
  });

  it('shows a task that its client can only wait for as one that works', async () => {
    const { messages } = await told(notice('{"taskId":"a","status":"input_required","inputRequests":{"s":{}}}'), WAITS);
    expect(messages).toEqual([notice('{"taskId":"a","status":"working"}')]);
  });

  it('reads it however it is spelled', async () => {
    const escaped = '{"m\\u0065thod":"notifications\\/tasks","params":{"taskId":"a","input\\u0052equests":{"s":{}}}}';
    expect((await told(escaped)).messages).toEqual([escaped.replace('{"s":{}}', '{"wharf-file-1":{}}')]);
  });

  it.each([
    ['a task that asks nothing', notice('{"taskId":"a","status":"completed","result":{"text":"inputRequests"}}')],
    ['a notification of another kind', '{"method":"notifications/x","params":{"taskId":"a","inputRequests":{"s":{}}}}'],
    ['a long request to the model', notice(`{"taskId":"a","inputRequests":{"s":{"m":"${'x'.repeat(300_000)}"}}}`)],
  ])('passes %s as it came', async (_what, text) => {
    const { messages, seen } = await told(text);
    expect([messages, seen]).toEqual([[text], []]);
  });

  it.each([
    ['asks too much', notice(`{"taskId":"a","inputRequests":{"s":{"elicitation":"${'x'.repeat(300_000)}"}}}`)],
    ['asks twice', notice('{"taskId":"a","inputRequests":{"s":{}},"inputRequests":{"t":{}}}')],
  ])('leaves one out that %s, and keeps its place on the stream', async (_what, text) => {
    const { messages, events, errors } = await told(text, CHANGES, '7');
    expect([messages, events, errors.length]).toEqual([[], ['7'], 1]);
  });
});
