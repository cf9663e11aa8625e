import { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { StderrLog, StderrRoom } from '../../../adapters/upstream/stdio/stderr-log.js';
import type { Log } from '../../../gateway/ports/log.js';

/** Standard error of a process, whose chunks a test gives. */
function lab(room = new StderrRoom()) {
  const lines: string[] = [];
  let dropped = 0;
  const log = {
    info: ({ line }: { line: string }) => lines.push(line),
    warn: (facts: { lines: number }) => (dropped += facts.lines),
  } as unknown as Log;
  const stderr = new EventEmitter();
  const kept = new StderrLog(stderr as unknown as Readable, log, room);
  return { lines, kept, dropped: () => dropped, say: (chunk: Buffer) => stderr.emit('data', chunk), stderr };
}

/** A chunk that counts how many parts of it are looked at. */
function counting(text: string) {
  const chunk = Buffer.from(text);
  const looks = { count: 0 };
  const subarray = chunk.subarray.bind(chunk);
  chunk.subarray = (start?: number, end?: number) => {
    looks.count += 1;
    return subarray(start, end);
  };
  return { chunk, looks };
}

const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `${from + at}\n`).join('');

describe('what a process says on standard error', () => {
  it('is looked at no longer line by line once no more is logged, but for its last lines', () => {
    const { lines, kept, dropped, say, stderr } = lab();
    const first = counting(numbered(0, 9000));
    say(first.chunk);
    const second = counting(`${numbered(9000, 18_000)}not yet`);
    say(second.chunk);
    expect(first.looks.count).toBeLessThan(200);
    expect(second.looks.count).toBeLessThan(200);
    expect(lines).toEqual(Array.from({ length: 50 }, (_, at) => String(at)));
    expect(kept.tail).toBe(Array.from({ length: 10 }, (_, at) => String(17_990 + at)).join('\n'));
    say(Buffer.from(' the end\n'));
    expect(kept.tail.endsWith('\nnot yet the end')).toBe(true);
    stderr.emit('close');
    expect(dropped()).toBe(18_001 - 50);
  });

  it('has less room in the log where other processes of its server say much, and loses no count', () => {
    const room = new StderrRoom();
    const all = Array.from({ length: 10 }, () => lab(room));
    for (const { say } of all) say(Buffer.from(numbered(0, 60)));
    expect(all.map(({ lines }) => lines.length)).toEqual([50, 50, 50, 50, 0, 0, 0, 0, 0, 0]);
    for (const { stderr } of all) stderr.emit('close');
    expect(all.map(({ dropped }) => dropped())).toEqual([10, 10, 10, 10, 60, 60, 60, 60, 60, 60]);
    expect(all[9]?.kept.tail).toContain('59');
  });

  it('counts a line that comes in several chunks once, and no empty ones', () => {
    const { dropped, say, stderr } = lab();
    say(Buffer.from(numbered(0, 60)));
    say(Buffer.from('begun'));
    say(Buffer.from(`\n\n\n${'x\n\n'.repeat(1000)}`));
    stderr.emit('close');
    expect(dropped()).toBe(10 + 1 + 1000);
  });
});
