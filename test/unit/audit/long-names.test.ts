import { describe, expect, it } from '@jest/globals';
import { RepeatedRefusals } from '../../../gateway/audit/repeated-refusals.js';
import { collector } from '../../../gateway/budget/memory/collector.js';
import { shortText } from '../../../gateway/budget/memory/short-text.js';
import { Lately } from '../../../gateway/http/console/lately.js';
import type { AuditEntry } from '../../../gateway/ports/audit.js';
import { noFacts } from '../../../gateway/relay/exchange.js';
import { fromPeer } from '../../../gateway/telemetry/words.js';

const LONG = 1_000_000;
const COUNT = 60;
const clock = { now: () => 1000 };

/** A name as long as a message, as it is read from one. */
const nameOf = (index: number) => JSON.parse(JSON.stringify(`${index}${'x'.repeat(LONG)}`)) as string;

function heap(): number {
  collector()({ type: 'major', flavor: 'last-resort' });
  return process.memoryUsage().heapUsed;
}

/** What is kept of many such names, in bytes. */
function kept(keep: (name: string) => void): number {
  const before = heap();
  for (let index = 0; index < COUNT; index++) keep(nameOf(index));
  return heap() - before;
}

describe('names as long as messages are not kept whole', () => {
  it('by what shows the console the last refusals', () => {
    const lately = new Lately(clock);
    const facts = { ...noFacts(), error: 'rate_limited' as const, method: 'tools/call' };
    expect(kept((name) => lately.note('s', { principal: 'p', facts: { ...facts, name } }))).toBeLessThan(10 * LONG);
    expect(lately.refusals.map(({ name }) => name?.length)).toEqual(Array(COUNT).fill(100));
  });

  it('by what counts refusals that are alike, and tells long names apart', () => {
    const written: AuditEntry[] = [];
    const write = ({ tool, count }: AuditEntry) =>
      void written.push({ what: 'call', allowed: false, count, tool: tool?.slice(0, 3) });
    const refusals = new RepeatedRefusals({ clock, most: 1000, mostOfOne: 100, others: 'others', write });
    const entry = { what: 'call', principal: 'p', allowed: false, code: 'rate_limited' } as const;
    expect(kept((name) => refusals.note({ ...entry, tool: name }))).toBeLessThan(10 * LONG);
    refusals.note({ ...entry, tool: nameOf(7) });
    refusals.tell();
    expect(written).toHaveLength(COUNT + 1);
    expect(written.at(-1)).toMatchObject({ tool: '7xx', count: 1 });
  });

  it('by spans', () => {
    const words: string[] = [];
    expect(kept((name) => words.push(fromPeer(name)))).toBeLessThan(10 * LONG);
  });

  it('but short texts stay as they are, and characters of two units too', () => {
    expect(shortText('a', 3)).toBe('a');
    expect(shortText('äöü😀', 4)).toBe('äöü\ud83d');
  });
});
