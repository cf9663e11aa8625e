import { describe, expect, it } from '@jest/globals';
import { heapOf } from '../../../../gateway/budget/heap-size.js';
import { Ledger, UNSHARED } from '../../../../gateway/budget/ledger.js';
import { KeptViews } from '../../../../gateway/relay/tools/kept-views.js';

const KB = 1000;
const MOST = 100 * KB;
/** A value of about so many bytes. */
const text = (bytes: number) => 'x'.repeat(bytes / 2);

function views(total = MOST, sharing = UNSHARED) {
  const time = { now: 0, ticks: () => time.now };
  const ledger = new Ledger({ limit: 'limits.catalog', total, sharing });
  return { ledger, time, kept: new KeptViews<string>(ledger, time) };
}

describe('what a value takes', () => {
  const memory = (value: unknown) => heapOf(value);

  it('is its texts, and more for each value in it (safety 8)', () => {
    expect(memory('x'.repeat(1000))).toBeGreaterThanOrEqual(1000);
    expect(memory(Array.from({ length: 1000 }, () => []))).toBeGreaterThan(40 * KB);
    expect(memory(Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`k${at}`, 1])))).toBeGreaterThan(40 * KB);
    expect(memory({ ['k'.repeat(1000)]: 1 })).toBeGreaterThan(1000);
  });

  it('is not looked at beyond what may be', () => {
    let looked = 0;
    const deep = () => ({
      get inner(): unknown {
        looked += 1;
        return deep();
      },
    });
    expect(heapOf(deep(), 10 * KB)).toBeGreaterThan(10 * KB);
    expect(looked).toBeLessThan(1000);
  });
});

describe('what is kept of lists', () => {
  it('is asked for again after five minutes', () => {
    const { ledger, time, kept } = views();
    kept.open('up', 'v');
    time.now = 5 * 60_000 - 1;
    expect(kept.find('up', 'v')).toBeDefined();
    time.now += 1;
    expect(kept.find('up', 'v')).toBeUndefined();
    expect(ledger.used).toBe(0);
  });

  it('never takes more than the total: the longest unused view goes (safety 8)', () => {
    const { ledger, kept } = views();
    for (let at = 0; at < 50; at++) {
      kept.keep(kept.open('up', `v${at}`), 'tool', text(20 * KB), MOST);
      kept.find('up', 'v0');
      expect(ledger.used).toBeLessThanOrEqual(MOST);
    }
    expect(kept.find('up', 'v0')?.get('tool')).toBeDefined();
    expect(kept.find('up', 'v49')?.get('tool')).toBeDefined();
    expect(kept.find('up', 'v40')).toBeUndefined();
  });

  it('never takes more than one view may, in which the longest unused value goes (safety 8)', () => {
    const { ledger, kept } = views();
    const view = kept.open('up', 'v');
    for (let at = 0; at < 50; at++) {
      kept.keep(view, `tool${at}`, text(8 * KB), 30 * KB);
      view.get('tool0');
      expect(view.bytes).toBeLessThanOrEqual(30 * KB);
    }
    expect(ledger.used).toBe(view.bytes);
    expect(view.hasLost).toBe(true);
    expect(view.get('tool0')).toBeDefined();
    expect(view.get('tool49')).toBeDefined();
    expect(view.get('tool40')).toBeUndefined();
    kept.keep(view, 'huge', text(40 * KB), 30 * KB);
    expect(view.get('huge')).toBeUndefined();
    expect(view.get('tool49')).toBeDefined();
  });

  it('of one server never takes the room of the others (safety 8)', () => {
    const { ledger, kept } = views(MOST, { ratio: 0.25, principals: false, servers: true });
    kept.keep(kept.open('good', 'v'), 'tool', text(10 * KB), MOST);
    for (let at = 0; at < 50; at++) kept.keep(kept.open('evil', `v${at}`), 'tool', text(10 * KB), MOST);
    expect(ledger.usedBy('server', 'evil')).toBeLessThanOrEqual(MOST / 4);
    expect(kept.find('good', 'v')?.get('tool')).toBeDefined();
  });

  it('is given back whole: replaced, forgotten, and not counted for a view that is gone', () => {
    const { ledger, kept } = views();
    const view = kept.open('up', 'v');
    const empty = ledger.used;
    kept.keep(view, 'tool', text(20 * KB), MOST);
    const once = ledger.used;
    kept.keep(view, 'tool', text(20 * KB), MOST);
    expect(ledger.used).toBe(once);
    kept.keep(view, 'tool', text(2), MOST);
    expect(ledger.used).toBeLessThan(once);
    expect(ledger.used).toBeGreaterThan(empty);
    kept.forget('up', 'v');
    expect(ledger.used).toBe(0);
    kept.keep(view, 'tool', text(20 * KB), MOST);
    expect(ledger.used).toBe(0);
    expect(kept.find('up', 'v')).toBeUndefined();
  });
});
