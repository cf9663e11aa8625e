import { describe, expect, it } from '@jest/globals';
import { GatheredLines } from '../../gateway/log.js';

function gather() {
  const writes: string[] = [];
  return { writes, lines: new GatheredLines({ write: (text) => writes.push(text) }) };
}

describe('lines of the log', () => {
  it('are written together once there are 12 KiB of them, in their order', () => {
    const { writes, lines } = gather();
    const all = Array.from({ length: 200 }, (_, at) => `${at} ${'x'.repeat(100)}\n`);
    for (const line of all) lines.write(line);
    lines.flush();
    expect(writes.join('')).toBe(all.join(''));
    expect(writes).toHaveLength(2);
  });

  it('wait for others for a moment only', async () => {
    const { writes, lines } = gather();
    const written = new Promise<void>((resolve) => {
      const look = setInterval(() => {
        if (writes.length === 0) return;
        clearInterval(look);
        resolve();
      }, 10);
    });
    lines.write('one\n');
    expect(writes).toEqual([]);
    await written;
    expect(writes).toEqual(['one\n']);
  });

  it('are all written by a flush, and none twice', () => {
    const { writes, lines } = gather();
    lines.write('one\n');
    lines.flush();
    lines.flush();
    expect(writes).toEqual(['one\n']);
  });
});
