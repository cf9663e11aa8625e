import { describe, expect, it } from '@jest/globals';
import { Seal } from '../../../gateway/secrets/seal.js';

const TEXTS = ['', 'a', 'https://files.example/x?sig=hunter2', 'ü€𝄞', 'x'.repeat(5000)];

describe('a sealed text', () => {
  it.each(TEXTS)('opens at its place, with any of the secrets, and shows nothing', (text) => {
    const old = new Seal(['an old secret']);
    const sealed = old.close('lazy:f_1', text);
    expect(sealed).toMatch(/^[\w-]+$/);
    if (text.length > 1) expect(Buffer.from(sealed, 'base64url').includes(text)).toBe(false);
    expect(new Seal(['a new secret', 'an old secret']).open('lazy:f_1', sealed)).toBe(text);
    expect(old.close('lazy:f_1', text)).toBe(sealed);
  });

  it('opens nowhere else, with no other secret, and not when it was changed', () => {
    const seal = new Seal(['a secret']);
    const sealed = seal.close('lazy:f_1', 'hunter2');
    expect(seal.open('lazy:f_2', sealed)).toBeUndefined();
    expect(new Seal(['another']).open('lazy:f_1', sealed)).toBeUndefined();
    for (let at = 0; at < sealed.length; at++) {
      const flipped = sealed[at] === 'A' ? 'B' : 'A';
      expect(seal.open('lazy:f_1', sealed.slice(0, at) + flipped + sealed.slice(at + 1))).toBeUndefined();
    }
    for (const odd of ['', 'A', 'hunter2', sealed.slice(0, 20)]) expect(seal.open('lazy:f_1', odd)).toBeUndefined();
  });

  it('is another one at each place and for each text', () => {
    const seal = new Seal(['a secret']);
    const all = ['a', 'b'].flatMap((place) => ['x', 'y'].map((text) => seal.close(place, text)));
    expect(new Set(all).size).toBe(4);
    expect(new Set(all.map((sealed) => sealed.slice(0, 16))).size).toBe(4);
  });
});
