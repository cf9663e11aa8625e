import { describe, expect, it } from '@jest/globals';
import { unshownBytes } from '../../../../../gateway/relay/results/host/unshown.js';

const image = (data: string) => ({ type: 'image', mimeType: 'image/png', data });

/** What is taken out of an error, in which a host shows no images. */
const taken = (data: string) => unshownBytes(image(data), undefined, { isError: true, isBeyond: false });

describe('an image that its host does not show', () => {
  it.each([
    ['AAEC', '000102'],
    ['AAE=', '0001'],
    ['AA==', '00'],
    ['AAEC\r\nAwQF\n', '000102030405'],
    ['AA ==\n \n', '00'],
    ['', ''],
  ])('is taken out: %j', (data, hex) => {
    const found = taken(data);
    expect(found?.kind === 'bytes' && found.bytes.toString('hex')).toBe(hex);
  });

  it.each(['AA===', 'A=A=', 'AA= =', '=AA', 'not base64!', '{"a":1}'])(
    'is left as it is when it is not base64: %j',
    (data) => {
      expect(taken(data)).toBeUndefined();
    },
  );

  // the work once grew with the square of such a text: an hour for this one
  it('is read once, however many blanks it has', () => {
    const blanks = ' \n'.repeat(1024 * 1024);
    for (const data of [`${blanks}!`, `A=${blanks}!`, `${'='.repeat(1024 * 1024)}!`])
      expect(taken(data)).toBeUndefined();
    expect(taken(`AAEC${blanks}`)?.kind).toBe('bytes');
  });
});
