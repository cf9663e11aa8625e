import { describe, expect, it } from '@jest/globals';
import type { PendingRequest } from '../../../gateway/relay/pending-request.js';
import { Unanswered } from '../../../gateway/relay/unanswered.js';

const KIB = 1024;

const call = (id: string, text = ''): PendingRequest => ({
  id,
  method: 'tools/call',
  subject: 'scan',
  params: { name: 'scan', arguments: { text } },
  base: [],
});
const session = (id: string, principal = 'ada') => ({ id, principal });
const idsOf = (kept: Unanswered, id: string) => [...kept.of(session(id)).keys()];

describe('requests whose stream has ended before their answers', () => {
  it('are known in their own session until they are answered', () => {
    const kept = new Unanswered();
    kept.keep(session('one'), [call('1'), call('2')]);
    expect(kept.of(session('one')).get('1')).toEqual(call('1'));
    expect(idsOf(kept, 'other')).toEqual([]);
    expect([...kept.of(undefined)]).toEqual([]);
    kept.forget(session('one'), ['1']);
    expect(idsOf(kept, 'one')).toEqual(['2']);
    kept.forget(session('one'), ['2', '3']);
    expect(kept.used).toBe(0);
  });

  it('keep the name under which their client calls the tool, and whether they had files, which a server may refuse', () => {
    const kept = new Unanswered();
    kept.keep(session('one'), [{ ...call('1'), calledAs: 'ocr', hasFiles: true }, call('2')]);
    expect(kept.of(session('one')).get('1')).toMatchObject({ calledAs: 'ocr', hasFiles: true });
    expect(kept.of(session('one')).get('2')).not.toHaveProperty('hasFiles');
  });

  it('are forgotten with their session', () => {
    const kept = new Unanswered();
    kept.keep(session('one'), [call('1'), call('2')]);
    kept.end('one');
    kept.end('one');
    expect(idsOf(kept, 'one')).toEqual([]);
    expect(kept.used).toBe(0);
  });

  it('are the last 16 of a session', () => {
    const kept = new Unanswered();
    for (let id = 0; id < 40; id++) kept.keep(session('one'), [call(String(id))]);
    expect(idsOf(kept, 'one')).toEqual(Array.from({ length: 16 }, (_, index) => String(24 + index)));
  });

  it('count once when the same one is kept again', () => {
    const kept = new Unanswered();
    kept.keep(session('one'), [call('1')]);
    const { used } = kept;
    kept.keep(session('one'), [call('1')]);
    expect(kept.used).toBe(used);
  });

  it('are kept without parameters that are large', () => {
    const kept = new Unanswered();
    kept.keep(session('one'), [call('1', 'x'.repeat(KIB * KIB))]);
    expect(kept.of(session('one')).get('1')).toEqual({ ...call('1'), params: {} });
    expect(kept.used).toBeLessThan(KIB);
  });

  it('are not kept when their name or their method is large', () => {
    const kept = new Unanswered();
    const large = 'x'.repeat(KIB * KIB);
    kept.keep(session('one'), [{ ...call('1'), subject: large }, { ...call('2'), method: large }, call('3')]);
    expect(idsOf(kept, 'one')).toEqual(['3']);
  });
});

describe('all of them', () => {
  const TOTAL = 1024 * KIB;
  /** As many sessions as would take several times the total, each with 16 requests of 2 KiB. */
  const fill = (kept: Unanswered, principal: string) => {
    for (let index = 0; index < 100; index++) {
      const requests = Array.from({ length: 16 }, (_, id) => call(String(id), 'x'.repeat(KIB)));
      kept.keep(session(`${principal}-${index}`, principal), requests);
    }
  };

  it('take no more than their bytes of one caller, whose oldest sessions make room', () => {
    const kept = new Unanswered(TOTAL);
    kept.keep(session('other', 'bob'), [call('1')]);
    fill(kept, 'ada');
    expect(kept.used).toBeGreaterThan(TOTAL / 8);
    expect(kept.used).toBeLessThanOrEqual(TOTAL / 4 + KIB);
    expect(idsOf(kept, 'ada-0')).toEqual([]);
    expect(idsOf(kept, 'ada-99').length).toBe(16);
    expect(idsOf(kept, 'other')).toEqual(['1']);
  });

  it('take no more than their bytes of all callers, of whom the oldest sessions make room', () => {
    const kept = new Unanswered(TOTAL);
    for (let index = 0; index < 12; index++) fill(kept, `caller-${index}`);
    expect(kept.used).toBeGreaterThan(TOTAL / 2);
    expect(kept.used).toBeLessThanOrEqual(TOTAL);
    expect(idsOf(kept, 'caller-11-99').length).toBe(16);
  });
});
