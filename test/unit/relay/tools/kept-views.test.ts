import { describe, expect, it } from '@jest/globals';
import { Ledger, UNSHARED } from '../../../../gateway/budget/ledger.js';
import { heapOf } from '../../../../gateway/budget/memory/heap-size.js';
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
  const memory = (value: unknown) => heapOf(value, Number.POSITIVE_INFINITY);

  it('is its texts, and more for each value in it', () => {
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

  it('never takes more than the total: the longest unused view goes', () => {
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

  it('never takes more than one view may, in which the longest unused value goes', () => {
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

  it('of one server never takes the room of the others', () => {
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

describe('views with the same content', () => {
  const list = (kept: ReturnType<typeof views>['kept'], name: string, tools: readonly string[]) => {
    const view = kept.open('up', name);
    for (const tool of tools) kept.keep(view, tool, text(5 * KB), MOST);
    kept.settle(view);
    return view;
  };

  it('have it once, however many callers there are', () => {
    const { ledger, kept } = views();
    list(kept, 'v0', ['a', 'b', 'c']);
    const one = ledger.used;
    for (let at = 1; at < 100; at++) list(kept, `v${at}`, ['a', 'b', 'c']);
    for (let at = 0; at < 100; at++) expect(kept.find('up', `v${at}`)?.get('b')).toBe(text(5 * KB));
    expect(ledger.used).toBeLessThan(one + 100 * KB);
    for (let at = 0; at < 100; at++) kept.forget('up', `v${at}`);
    expect(ledger.used).toBe(0);
  });

  it('know nothing of each other: what is kept of one later, or forgotten, stays its own', () => {
    const { kept } = views();
    const [first, second, third] = [list(kept, 'v1', ['a']), list(kept, 'v2', ['a']), list(kept, 'v3', ['a', 'b'])];
    kept.keep(first, 'a', 'another', MOST);
    kept.keep(first, 'c', 'its own', MOST);
    kept.settle(first);
    kept.forget('up', 'v3');
    expect(first.get('a')).toBe('another');
    expect(second.get('a')).toBe(text(5 * KB));
    expect([second.get('b'), second.get('c'), third.get('a')]).toEqual([undefined, undefined, undefined]);
  });

  it('are told apart by servers, which may give the same list', () => {
    const { kept, ledger } = views(MOST, { ratio: 0.25, principals: false, servers: true });
    for (const server of ['one', 'two']) {
      const view = kept.open(server, 'v');
      kept.keep(view, 'a', text(5 * KB), MOST);
      kept.settle(view);
    }
    kept.forgetServer('one');
    expect(kept.find('two', 'v')?.get('a')).toBeDefined();
    expect([ledger.usedBy('server', 'one'), ledger.usedBy('server', 'two') > 5 * KB]).toEqual([0, true]);
  });

  it('know a text as long as what it says is kept', () => {
    const { kept } = views();
    const first = kept.open('up', 'v1');
    kept.keep(first, 'a', 'old', MOST);
    kept.noteText(first, 'digest of old', 'a');
    kept.settle(first);
    expect(kept.textOf('up', 'digest of old')).toMatchObject({ name: 'a', value: 'old' });
    expect(kept.textOf('another', 'digest of old')).toBeUndefined();
    // the same value of another text, as where only a description differs
    const second = kept.open('up', 'v2');
    kept.keep(second, 'a', 'old', MOST);
    kept.noteText(second, 'digest of another', 'a');
    kept.settle(second);
    expect(second.content).toBe(first.content);
    expect(kept.textOf('up', 'digest of another')).toMatchObject({ value: 'old' });
    kept.forget('up', 'v2');
    kept.keep(first, 'a', 'new', MOST);
    expect(kept.textOf('up', 'digest of old')).toBeUndefined();
    kept.keep(first, 'a', 'old', MOST);
    kept.noteText(first, 'digest of old', 'a');
    expect(kept.textOf('up', 'digest of old')).toMatchObject({ value: 'old' });
    kept.forget('up', 'v1');
    expect(kept.textOf('up', 'digest of another')).toBeUndefined();
  });

  it('are counted exactly, whatever is kept and forgotten', () => {
    let random = 1;
    const pick = (below: number) => {
      random = (random * 16_807) % 2_147_483_647;
      return random % below;
    };
    const { ledger, kept } = views(40 * KB);
    const names = Array.from({ length: 12 }, (_, at) => `v${at}`);
    for (let step = 0; step < 5000; step++) {
      const name = names[pick(12)] as string;
      const view = kept.open('up', name);
      const action = pick(10);
      if (action === 0) kept.forget('up', name);
      else if (action < 3) kept.settle(view);
      else if (action < 5) kept.noteText(view, `text${pick(6)}`, `tool${pick(4)}`);
      else kept.keep(view, `tool${pick(4)}`, text((1 + pick(2)) * KB), MOST);
      const open = names.flatMap((one) => kept.find('up', one) ?? []);
      const contents = new Set(open.map(({ content }) => content));
      const bytes = [...contents].reduce((sum, content) => sum + content.bytes, 0);
      expect(ledger.used).toBe(open.length * 500 + bytes);
      expect(ledger.used).toBeLessThanOrEqual(40 * KB);
    }
    for (const name of names) kept.forget('up', name);
    expect(ledger.used).toBe(0);
  });
});
