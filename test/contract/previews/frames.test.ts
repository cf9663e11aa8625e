import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { encodeData, encodeFrame, type Frame, FrameReader, KINDS } from '../../../adapters/previews/local/frames.js';

const frame = fc.record({
  kind: fc.constantFrom(...KINDS),
  payload: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
});

/** What is in the pieces of data that follow each other; all other frames are whole. */
function joined(frames: readonly Frame[]): Frame[] {
  const all: Frame[] = [];
  for (const { kind, payload } of frames) {
    const last = all.at(-1);
    if (kind !== 'data' || last?.kind !== 'data') all.push({ kind, payload });
    else last.payload = Buffer.concat([last.payload, payload]);
  }
  return all.filter(({ kind, payload }) => kind !== 'data' || payload.length > 0);
}

describe('frames on the pipe to a render process', () => {
  it('come out as they went in, however the pipe cuts them', () => {
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (frames, cuts) => {
          const bytes = Buffer.concat(frames.map(({ kind, payload }) => encodeFrame(kind, payload)));
          const reader = new FrameReader();
          const read: Frame[] = [];
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const size = cuts[turn % cuts.length] ?? 1;
            read.push(...reader.push(bytes.subarray(at, at + size)));
            at += size;
          }
          expect(joined(read)).toEqual(joined(frames));
        },
      ),
    );
  });

  it('carry a large chunk in pieces', () => {
    const chunk = Buffer.alloc(200_000, 7);
    const read = [...new FrameReader().push(Buffer.concat([...encodeData(chunk)].flat()))];
    expect(read.length).toBeGreaterThan(1);
    expect(Buffer.concat(read.map(({ payload }) => payload)).equals(chunk)).toBe(true);
  });

  it.each([
    ['an unknown kind', Buffer.from([99, 0, 0, 0, 0])],
    ['a length beyond all reason', Buffer.from([0, 0xff, 0xff, 0xff, 0xff])],
  ])('end the conversation at %s', (_what, bytes) => {
    expect(() => [...new FrameReader().push(bytes)]).toThrow('out of step');
  });
});
