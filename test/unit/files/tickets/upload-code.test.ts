import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../../adapters/state/memory.js';
import { UNSHARED } from '../../../../gateway/budget/ledger.js';
import { UploadCodes } from '../../../../gateway/files/tickets/upload-code.js';
import type { StateStore } from '../../../../gateway/ports/state-store.js';
import { StateKeys } from '../../../../gateway/secrets/state-keys.js';

const clock = { now: () => 1_800_000_000_000, ticks: () => 0 };

let state: StateStore;
let codes: UploadCodes;

beforeEach(() => {
  state = create(settings.parse({}), { sharing: UNSHARED, clock });
  codes = new UploadCodes(state, new StateKeys(['secret']), clock);
});
afterEach(() => state.close());

/** A code as it guards a link, and how a wrong one ends: with the number of tries that are left, or the link locked. */
function guarded() {
  const { code, seal: codeSeal } = codes.make('f_1');
  const about = { fileId: 'f_1', codeSeal, expiresAt: clock.now() + 60_000, owner: {} };
  const wrong = (at: number) => code.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')) + 'A'.repeat(at);
  const tried = (text: string) =>
    codes.check(about, text).then(
      () => 'right',
      ({ code, facts }) => facts.left ?? code,
    );
  return { code, wrong, tried };
}

describe('the code of an upload link', () => {
  it('is one try, in however many requests it comes at once', async () => {
    const { wrong, tried } = guarded();
    expect(await Promise.all(Array.from({ length: 10 }, () => tried(wrong(0))))).toEqual(Array(10).fill(2));
    expect(await codes.isLocked('f_1')).toBe(false);
    expect(await tried(wrong(1))).toBe(1);
  });

  it.each<[string, (code: string) => string]>([
    ['in lower case, without its hyphen', (code) => code.toLowerCase().replace('-', '')],
    [
      'in full-width characters',
      (code) => code.replace(/\w/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)),
    ],
    ['with another dash and blanks', (code) => ` ${code.replace('-', ' \u2013 ')}\u200b`],
    ['with the full stop of its sentence', (code) => `${code}.`],
    ['in the quotes or the marks of a chat', (code) => `\u201c**\`${code}\`**\u201d`],
  ])('is right %s', async (_how, spell) => {
    const { code, tried } = guarded();
    expect(await tried(spell(code))).toBe('right');
  });

  it('is locked by as many wrong ones as it takes, whatever comes then, and not by the right one', async () => {
    const { code, wrong, tried } = guarded();
    for (let at = 0; at < 5; at += 1) expect(await tried(code)).toBe('right');
    // another process has not compared it before
    codes = new UploadCodes(state, new StateKeys(['secret']), clock);
    expect(await tried(wrong(0))).toBe(2);
    expect(await tried(wrong(1))).toBe(1);
    expect(await codes.isLocked('f_1')).toBe(false);
    expect(await tried(wrong(2))).toBe('upload_locked');
    expect(await codes.isLocked('f_1')).toBe(true);
    expect(await tried(code)).toBe('upload_locked');
  });
});
