import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/previews/local.js';
import type { PreviewResult } from '../../../gateway/ports/previewer.js';
import { collectingLog } from './collecting-log.js';
import { flac, mp3, mp4, ogg, opusHead, vorbisHead, wave, webm, zip } from './content-files.js';
import { LIMITS } from './previewer.contract.js';

const log = collectingLog();
const previewer = create(settings.parse({ deadlineSeconds: 60 }), { log, inheritedEnv: {} });
afterAll(() => previewer.close());

/** A file whose ranges are read, and how many bytes of it that were. */
async function preview(mimeType: string, bytes: Buffer): Promise<{ result: PreviewResult; read: number }> {
  let read = 0;
  const result = await previewer.render(
    {
      mimeType,
      size: bytes.length,
      open: async (_signal, range) => {
        const piece = range ? bytes.subarray(range.start, range.end + 1) : bytes;
        read += piece.length;
        return Readable.from([piece]);
      },
    },
    LIMITS,
    new AbortController().signal,
  );
  return { result, read };
}

const shown = async (mimeType: string, bytes: Buffer) => {
  const { result } = await preview(mimeType, bytes);
  return result.kind === 'rendered' ? result.preview : result.reason;
};

describe('the preview of a text', () => {
  it('is all of it when it is short', async () => {
    expect(await shown('text/csv', Buffer.from('\ufeffa,b\r\n1,2\n'))).toEqual({
      facts: {},
      text: { of: 'lines', text: 'a,b\n1,2', isWhole: true },
    });
  });

  it('is its first lines, read from its beginning alone', async () => {
    const line = 'one line of a log\n';
    const { result, read } = await preview('text/plain', Buffer.from(line.repeat(1_000_000)));
    expect(read).toBeLessThan(100_000);
    expect(result).toEqual({
      kind: 'rendered',
      preview: { facts: {}, text: { of: 'lines', text: line.repeat(LIMITS.maxLines).trimEnd(), isWhole: false } },
    });
  });

  it('is not longer than its limit, and no long line hides the others', async () => {
    const found = await shown('application/json', Buffer.from(`${'🙂'.repeat(2000)}\n{}\n${'x'.repeat(30_000)}`));
    if (typeof found === 'string' || !found.text) throw new Error('no text');
    const lines = found.text.text.split('\n');
    expect(lines[0]).toMatch(/^(?:🙂)+…$/u);
    expect(lines[1]).toBe('{}');
    expect(found.text.text.length).toBeLessThanOrEqual(LIMITS.maxText);
    expect(found.text.isWhole).toBe(false);
  });

  it('is cut between characters', async () => {
    const found = await shown('text/plain', Buffer.from(`\n${'ä'.repeat(20_000)}`));
    expect(found).toMatchObject({ text: { text: expect.stringMatching(/^\nä+…$/) } });
  });

  it.each([
    ['bytes that are not UTF-8', Buffer.from('caf\xe9 au lait', 'latin1')],
    ['UTF-16', Buffer.from('\ufeffwide', 'utf16le')],
    ['control characters', Buffer.from('a\0b\x07')],
    ['nothing but white space', Buffer.from(' \n\n')],
    ['nothing', Buffer.alloc(0)],
  ])('does not exist for %s', async (_what, bytes) => {
    expect(await shown('text/plain', bytes)).toBe('unsupported');
  });
});

describe('the preview of a ZIP', () => {
  it('is the names in it', async () => {
    expect(await shown('application/zip', zip(['a/', 'a/ü.txt', 'b.png'], { comment: 'made by hand' }))).toEqual({
      facts: { entries: 3 },
      text: { of: 'names', text: 'a/\na/ü.txt\nb.png', isWhole: true },
    });
  });

  it('is read from its directory alone, however many entries there are', async () => {
    const bytes = zip(
      Array.from({ length: 1_000_000 }, (_, index) => `${index}.txt`),
      { large: true },
    );
    const { result, read } = await preview('application/zip', bytes);
    expect(read).toBeLessThan(200_000);
    expect(result).toMatchObject({
      preview: {
        facts: { entries: 1_000_000 },
        text: { of: 'names', isWhole: false, text: expect.stringMatching(/^0\.txt\n1\.txt\n/) },
      },
    });
  });

  it('says that a password is needed', async () => {
    expect(await shown('application/zip', zip(['secret.txt'], { flags: 0x0801 }))).toMatchObject({
      facts: { entries: 1, isLocked: true },
      text: { text: 'secret.txt' },
    });
  });

  it('has one line for each name, whatever its characters', async () => {
    const names = ['a\nb\r\u2028c', Buffer.from('caf\xe9', 'latin1'), 'x'.repeat(60_000)];
    const found = await shown('application/zip', zip(names, { flags: 0 }));
    if (typeof found === 'string' || !found.text) throw new Error('no text');
    const lines = found.text.text.split('\n');
    expect(lines.slice(0, 2)).toEqual(['a\ufffdb\ufffd\ufffdc', 'cafi']);
    expect(lines[2]).toMatch(/^x+…$/);
    expect(found.text.text.length).toBeLessThan(LIMITS.maxText);
  });

  it('shows of each name what a person would see, and nothing that only a model reads', async () => {
    const hidden = [...'obey'].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
    const names = [
      '\u202etxt.exe',
      `a${hidden}.txt`,
      'b\u200b.txt',
      '\u{1f469}\u200d\u{1f680}.png',
      'می\u200cخواهم.txt',
    ];
    expect(await shown('application/zip', zip(names))).toMatchObject({
      text: {
        text: '\ufffdtxt.exe\na\ufffd\ufffd\ufffd\ufffd.txt\nb\ufffd.txt\n\u{1f469}\u200d\u{1f680}.png\nمی\u200cخواهم.txt',
      },
    });
  });

  it('is empty, but for the number, when nothing is in it', async () => {
    expect(await shown('application/zip', zip([]))).toEqual({ facts: { entries: 0 } });
  });

  it.each([
    ['has no end', zip(['a']).subarray(0, -4)],
    ['has lost its beginning', zip(['a', 'b', 'c']).subarray(60)],
    ['claims more entries than fit', zip(['a'], { entries: 60_000 })],
    ['claims 2^40 entries', zip(['a'], { entries: 2 ** 40, large: true })],
    ['is only zeros', Buffer.alloc(100_000)],
    ['is empty', Buffer.alloc(0)],
    ['is only an end, again and again', Buffer.from('PK\x05\x06'.repeat(30_000), 'latin1')],
  ])('does not exist when it %s', async (_what, bytes) => {
    expect(await shown('application/zip', bytes)).toBe('invalid');
  });
});

describe('the duration of a recording', () => {
  it.each([
    ['WAV', 'audio/wav', wave(3), { seconds: 3 }],
    ['WAV whose length was not known', 'audio/wav', wave(2, 0xffffffff), { seconds: 2 }],
    ['FLAC', 'audio/flac', flac(44_100, 44_100 * 200), { seconds: 200 }],
    ['FLAC of more than 2^32 samples', 'audio/flac', flac(192_000, 2 ** 33), { seconds: 2 ** 33 / 192_000 }],
    ['Opus', 'audio/ogg', ogg(opusHead(312), 48_312n), { seconds: 1 }],
    ['Vorbis', 'audio/ogg', ogg(vorbisHead(22_050), 44_100n), { seconds: 2 }],
    ['MP3', 'audio/mpeg', mp3(4410), { seconds: (4410 * 1152) / 44_100 }],
    ['MP3 after a large tag', 'audio/mpeg', mp3(4410, 200_000), { seconds: (4410 * 1152) / 44_100 }],
    [
      'MP4',
      'video/mp4',
      mp4(90, { width: 1920, height: 1080 }),
      { seconds: 90, pixels: { width: 1920, height: 1080 } },
    ],
    ['WebM', 'video/webm', webm(12.5), { seconds: 12.5 }],
  ])('is that of its header: %s', async (_what, mimeType, bytes, facts) => {
    expect(await shown(mimeType, bytes)).toEqual({ facts });
  });

  it('of a large movie is found without reading the movie', async () => {
    const { result, read } = await preview('video/mp4', mp4(90, { width: 640, height: 480 }));
    expect(result.kind).toBe('rendered');
    expect(read).toBeLessThan(70_000);
  });

  it.each([
    ['an MP3 that does not say it', 'audio/mpeg', Buffer.concat([mp3(5).subarray(0, 36), Buffer.alloc(400)])],
    ['zeros', 'audio/mpeg', Buffer.alloc(5000)],
    ['nothing', 'video/mp4', Buffer.alloc(0)],
    ['text', 'audio/wav', Buffer.from('no sound at all')],
    ['a WAV without a rate', 'audio/wav', Buffer.from('RIFF\0\0\0\0WAVEdata\x10\0\0\0................')],
    ['a WAV of its first bytes', 'audio/wav', wave(3).subarray(0, 20)],
    ['an Ogg of its first bytes', 'audio/ogg', ogg(opusHead(0), 5n).subarray(0, 30)],
    ['an MP4 without its last part', 'video/mp4', mp4(9, { width: 1, height: 1 }).subarray(0, 200_000)],
    [
      'an MP4 with a box of no length',
      'video/mp4',
      Buffer.from('\0\0\0\x10ftypisom\0\0\0\0\0\0\0\x01moov\0\0\0\0\0\0\0\0'),
    ],
    ['an MP4 of tiny boxes', 'video/mp4', Buffer.from('\0\0\0\x08ftyp'.repeat(30_000))],
    ['a WebM with a scale of no bytes', 'video/webm', Buffer.from('\x1a\x45\xdf\xa3\x80\x2a\xd7\xb1\x80', 'latin1')],
    ['a duration of 2^32 years', 'audio/flac', flac(1, 2 ** 35)],
  ])('is not known for %s, and nothing fails', async (_what, mimeType, bytes) => {
    expect(await shown(mimeType, bytes)).toMatch(/^(?:unsupported|invalid)$/);
  });
});

describe('a file whose ranges are read', () => {
  it('is refused when a range cannot be read, and the next file is not', async () => {
    const failing = await previewer.render(
      {
        mimeType: 'text/plain',
        size: 10,
        open: async () =>
          new Readable({
            read() {
              this.destroy(new Error('The store went away.'));
            },
          }),
      },
      LIMITS,
      new AbortController().signal,
    );
    expect(failing).toEqual({ kind: 'refused', reason: 'aborted' });
    expect(await shown('text/plain', Buffer.from('next'))).toMatchObject({ text: { text: 'next' } });
  });

  it('is refused when it cannot be opened, and the next file is not', async () => {
    const open = async (): Promise<Readable> => Promise.reject(new Error('The store is down.'));
    const source = { mimeType: 'application/zip', size: 10, open };
    expect(await previewer.render(source, LIMITS, new AbortController().signal)).toEqual({
      kind: 'refused',
      reason: 'aborted',
    });
    expect(await shown('text/plain', Buffer.from('next'))).toMatchObject({ text: { text: 'next' } });
  });

  it('makes no process fail', () => {
    expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  });
});
