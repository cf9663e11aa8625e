import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { inSight } from '../../gateway/in-sight.js';
import { createLog } from '../../gateway/log.js';
import { print } from '../../gateway/print.js';

/** Colour, the title of the window, colour in one character, the other direction. */
const OBEYED = 'a\u001b[31m\u001b]0;x\u0007\u009b31m\u202eb\r\u2066';
const WRITTEN = 'a\\u001b[31m\\u001b]0;x\\u0007\\u009b31m\\u202eb\\u000d\\u2066';

describe('a text that a terminal would obey', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('is written so that it is seen, and lines, tabs and letters stay', () => {
    expect(inSight(OBEYED)).toBe(WRITTEN);
    expect(inSight('é 文\n\tشش 👩\u200d👩')).toBe('é 文\n\tشش 👩\u200d👩');
  });

  it('is no less the same text to what reads it as JSON', () => {
    expect(JSON.parse(inSight(JSON.stringify({ [OBEYED]: OBEYED })))).toEqual({ [OBEYED]: OBEYED });
  });

  it('is so in what a command prints', () => {
    const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    print(`${OBEYED}\n`);
    expect(write.mock.calls).toEqual([[`${WRITTEN}\n`]]);
  });

  it('is so in the log, at any depth', () => {
    let line = '';
    const log = createLog('info', {
      write: (text) => {
        line += text;
      },
    });
    log.info({ name: OBEYED, more: { [OBEYED]: [OBEYED] }, err: new Error(OBEYED) }, 'said');
    expect(line.trim()).not.toMatch(/\p{Cc}|[\u202e\u2066]/u);
    expect(JSON.parse(line)).toMatchObject({ name: OBEYED, more: { [OBEYED]: [OBEYED] }, err: { message: OBEYED } });
  });
});
