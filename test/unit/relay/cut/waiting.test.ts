import { describe, expect, it } from '@jest/globals';
import type { MessageCuts } from '../../../../gateway/relay/cut/message-cuts.js';
import { CutReader } from '../../../../gateway/relay/cut/reader.js';
import { OWNER, RelayLab } from '../relay-lab.js';

const PART = 1024 * 1024;
const CHUNK = 64 * 1024;
const never = new AbortController().signal;

/** An answer with one image, in chunks as they come from a socket. */
function answer(base64Chars: number): Buffer[] {
  const text = `{"id":1,"result":{"content":[{"type":"image","mimeType":"image/png","data":"${'A'.repeat(base64Chars)}"}]}}`;
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / CHUNK) }, (_, at) =>
    bytes.subarray(at * CHUNK, (at + 1) * CHUNK),
  );
}

/** A lab whose only part is taken, and a reader. */
function crowded() {
  const lab = new RelayLab({ partSize: PART, limits: { partMemory: PART } });
  lab.budget.reserve(PART, OWNER, never);
  const arrived: MessageCuts[] = [];
  const reader = new CutReader(
    'json',
    lab.deps.cut,
    { message: (_, cuts) => arrived.push(cuts) },
    { owner: OWNER, signal: never },
  );
  return { lab, reader, arrived };
}

describe('a string that finds no part memory free', () => {
  it('stops its source after one chunk, and holds no more than that', async () => {
    const { lab, reader } = crowded();
    const [first] = answer(4 * PART);
    reader.feed(first as Buffer);
    expect(reader.settle()).toBeInstanceOf(Promise);
    expect(lab.held.used).toBeLessThanOrEqual(CHUNK + 1024);
    lab.budget.release(PART, OWNER);
    await reader.settle();
    reader.abandon();
    expect(await lab.leaks()).toMatchObject({ held: 0, parts: 0, queued: 0 });
  });

  it('goes on when a part is free, and gives it back when it stays inline after all', async () => {
    const { lab, reader, arrived } = crowded();
    const [first, ...rest] = answer(300_000);
    reader.feed(first as Buffer);
    const wait = reader.settle();
    lab.budget.release(PART, OWNER);
    await wait;
    expect(lab.budget.used).toBe(PART);
    for (const chunk of rest) {
      reader.feed(chunk);
      expect(reader.settle()).toBeUndefined();
    }
    expect(arrived).toHaveLength(1);
    expect(arrived[0]?.cuts[0]?.inline).toBeDefined();
    expect(lab.budget.used).toBe(0);
    await arrived[0]?.discardFiles();
  });

  it('does not wait at all when it ends in the same chunk', async () => {
    const { lab, reader, arrived } = crowded();
    const [whole] = answer(50_000);
    reader.feed(whole as Buffer);
    expect(reader.settle()).toBeUndefined();
    expect(arrived[0]?.failure).toBeUndefined();
    lab.budget.release(PART, OWNER);
    // what it had asked for comes, and goes back
    await new Promise((resolve) => setImmediate(resolve));
    expect(await lab.leaks()).toMatchObject({ parts: 0, queued: 0 });
  });
});

describe('a body that is given up in the midst of a packet of many messages', () => {
  it('is read no further: the message that then begins would be held for ever', async () => {
    const lab = new RelayLab({ partSize: PART, limits: { partMemory: PART } });
    const reader = new CutReader(
      'lines',
      lab.deps.cut,
      { message: (_, cuts) => cuts.release() },
      { owner: OWNER, signal: never },
    );
    const [unfinished] = answer(64);
    const packet = Buffer.from('{"jsonrpc":"2.0","method":"m"}\n'.repeat(1500) + unfinished?.toString().slice(0, -9));
    const rest = reader.feed(packet);
    expect(rest).toBeInstanceOf(Promise);
    reader.abandon();
    await rest;
    expect(reader.inMessage).toBe(false);
    expect(await lab.leaks()).toMatchObject({ held: 0, parts: 0, queued: 0 });
  });
});
