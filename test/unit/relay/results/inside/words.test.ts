import { describe, expect, it } from '@jest/globals';
import { wordsOf } from '../../../../../gateway/relay/results/inside/words.js';
import { ByteStore } from '../../../../../gateway/wire/json/byte-store.js';

async function words(text: string, least = 4): Promise<string[]> {
  const store = new ByteStore();
  const bytes = Buffer.from(text, 'latin1');
  store.append(bytes, 0, bytes.length);
  store.settle();
  const found: string[] = [];
  for await (const word of wordsOf({ parts: [store] }, least, {})) found.push(word);
  return found;
}

describe('the words of a JSON text that may be base64', () => {
  it('are joined over the line breaks and slashes that JSON escapes, once or twice', async () => {
    expect(await words('{"a":"zzzz\\nyyyy\\/xx","b":"vvvv\\\\r\\\\nwwww"}')).toEqual(['zzzzyyyy/xx', 'vvvvwwww']);
  });

  it('are long enough, and not hexadecimal', async () => {
    expect(await words('{"no":"abc","yes":"wxyz","d":"0123456789abcdef"}')).toEqual(['wxyz']);
  });

  // the work once grew with the square of the backslashes in 64 KiB: three minutes for these
  it('are read once, however many backslashes there are', async () => {
    expect(await words(`"zzzz${'\\'.repeat(4 * 1024 * 1024)}"`)).toEqual(['zzzz']);
  });
});
