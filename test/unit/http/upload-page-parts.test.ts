import { describe, expect, it } from '@jest/globals';
import { fewOf, refusalText, whyNot } from '../../../gateway/http/browser/fits.js';
import { Rate } from '../../../gateway/http/browser/rate.js';
import { shown, shownName } from '../../../gateway/http/browser/shown.js';
import { spanText, TEXTS, typesText } from '../../../gateway/http/browser/texts.js';

describe('what the upload page refuses before it is sent', () => {
  const limits = { largest: 1000, types: 'PNG, CSV' };
  const accept = ['image/png', '.png', '.csv', 'text/csv'];

  it.each([
    ['a.png', 'image/png', true],
    ['a.csv', 'application/vnd.ms-excel', true],
    ['A.CSV', 'application/x-odd', true],
    // only the bytes can tell
    ['a', '', true],
    ['a.jpg', 'image/jpeg', false],
    ['a.png.exe', 'application/x-msdownload', false],
  ])('%s of type %j: fits %s', (name, type, fits) => {
    expect(whyNot({ name, type, size: 1 }, { ...limits, accept }) === undefined).toBe(fits);
  });

  it('is never a type where any is taken, or one size where several are', () => {
    expect(whyNot({ name: 'a', type: 'image/jpeg', size: 1000 }, limits)).toBeUndefined();
    expect(whyNot({ name: 'a', type: 'image/jpeg', size: 0 }, { ...limits, accept: ['*/*'] })).toBeUndefined();
  });

  it('is an empty file where only a picture or another type that it cannot have is taken', () => {
    const empty = { name: 'a.png', type: 'image/png', size: 0 };
    expect(whyNot(empty, { ...limits, accept })).toBe(
      'This file is empty. Choose one with content. Taken here: PNG, CSV.',
    );
    expect(whyNot({ ...empty, size: 1 }, { ...limits, accept })).toBeUndefined();
    // its server takes it under its name, or takes anything
    expect(whyNot({ ...empty, name: 'a.csv', type: 'text/csv' }, { ...limits, accept })).toBeUndefined();
    for (const any of [{}, { accept: ['*/*'] }]) expect(whyNot(empty, { ...limits, ...any })).toBeUndefined();
  });

  it('is told with both numbers, in units that differ', () => {
    const file = { name: 'a', type: '', size: 1001 };
    expect(whyNot(file, limits)).toBe('This file has 1001 bytes. The most that is taken here is 1000 bytes.');
    expect(whyNot({ ...file, size: 5e6 }, limits)).toBe('This file has 5 MB. The most that is taken here is 1 kB.');
    expect(whyNot({ ...file, size: 7 }, { ...limits, size: 9 })).toMatch(/has 7 bytes, and one of 9 bytes is expected/);
  });
});

describe('what the server has refused by its bytes', () => {
  const refused = { code: 'upload_type_refused', message: 'for programs', accept: ['image/png', 'image/jpeg', '.png'] };

  it.each([
    ['image/heic', 'This file is HEIC. Taken here: PNG, JPEG.'],
    ['text/plain', 'This file is plain text. Taken here: PNG, JPEG.'],
    ['application/x-odd\u202e', 'This file is application/x-odd\ufffd. Taken here: PNG, JPEG.'],
    ['application/octet-stream', 'What kind of file this is cannot be told. Taken here: PNG, JPEG.'],
    ['empty', 'This file is empty. Choose one with content. Taken here: PNG, JPEG.'],
  ])('is told by the names that the page shows: %j', (actual, text) => {
    expect(refusalText({ ...refused, actual })).toBe(text);
  });

  it('is told without a word that sounds as if the file on the desk were gone', () => {
    expect(refusalText({ code: 'file_infected', message: 'The file is removed.', signature: 'Eicar\u202e' })).toBe(
      'The antivirus has found Eicar\ufffd in this file, so it is not stored. Choose another one.',
    );
  });

  it('is told as the server says it where it is about something else', () => {
    expect(refusalText({ ...refused, code: 'store_full', actual: 'image/gif' })).toBe('for programs');
    expect(refusalText({ code: 'upload_type_refused', message: 'for programs' })).toBe('for programs');
  });
});

describe('what was given', () => {
  it('is counted as one file or as several', () => {
    expect([1, 2].map(TEXTS.doneSeveral)).toEqual([
      '1 file: the assistant can use it now. You can close this page.',
      '2 files: the assistant can use them now. You can close this page.',
    ]);
  });
});

describe('many refusals at once', () => {
  it('are told by the first five, and by the number of the others', () => {
    const many = Array.from({ length: 200 }, (_, at) => `${at}.txt: no`);
    expect(fewOf(many)).toEqual([...many.slice(0, 5), '195 more of the files are not taken.']);
    // a line that says "one more" is no shorter than the one that it stands for
    for (const few of [many.slice(0, 1), many.slice(0, 6)]) expect(fewOf(few)).toEqual(few);
  });
});

describe('how fast an upload is', () => {
  it('is told by its last seconds, once there are some', () => {
    const rate = new Rate();
    rate.note(0, 0);
    expect(rate.perSecond).toBeUndefined();
    for (let second = 1; second <= 10; second += 1) rate.note(second * 1000, second * 1000);
    expect(rate.perSecond).toBe(1000);
    for (let second = 11; second <= 30; second += 1) rate.note(10_000 + (second - 10) * 9000, second * 1000);
    expect(rate.perSecond).toBe(9000);
    rate.clear();
    expect(rate.perSecond).toBeUndefined();
  });
});

describe('texts of others', () => {
  it.each([
    ['report.pdf', 'report.pdf'],
    ['  two \n lines\t', 'two lines'],
    ['photo\u202egnp.exe', 'photo\ufffdgnp.exe'],
    ['a\0b\u200b\u2066c\ud800', 'a\ufffdb\ufffdc\ufffd'],
    ['العربية', 'العربية'],
    // written with joiners
    ['👩\u200d👧 می\u200cخواهم', '👩\u200d👧 می\u200cخواهم'],
  ])('%j is shown as %j', (text, words) => {
    expect(shown(text)).toBe(words);
  });

  it('are cut between characters, however long they are', () => {
    expect(shown('x'.repeat(1_000_000), 5)).toBe('xxxx…');
    expect(shown('🚢'.repeat(10), 3)).toBe('🚢🚢…');
    expect(shown('🚢🚢🚢', 3)).toBe('🚢🚢🚢');
  });

  it.each([
    ['harbour.png', 'harbour.png'],
    [`${'x'.repeat(300)}.jpeg`, `${'x'.repeat(114)}….jpeg`],
    [`${'🚢'.repeat(200)}.pdf`, `${'🚢'.repeat(115)}….pdf`],
    ['x'.repeat(300), `${'x'.repeat(119)}…`],
    [`${'x'.repeat(300)}.not an ending`, `${'x'.repeat(119)}…`],
    [`${'x'.repeat(300)}\u202etxt.exe`, `${'x'.repeat(115)}….exe`],
  ])('a file called %j is shown with its ending', (name, words) => {
    expect(shownName(name)).toBe(words);
    expect([...shownName(name)].length).toBeLessThanOrEqual(120);
  });
});

describe('the words for types and times', () => {
  it('are those that people use', () => {
    expect(typesText(['image/png', '.png', 'IMAGE/*', 'application/x-odd'], (type) => type)).toBe(
      'PNG, any image, application/x-odd',
    );
    expect([500, 59_000, 60_000, 200_000, 7_500_000, 90_000_000].map(spanText)).toEqual([
      '1 s',
      '59 s',
      '1 min',
      '3 min 20 s',
      '2 h 5 min',
      '1 d 1 h',
    ]);
  });
});
