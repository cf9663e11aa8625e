import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { someBytes } from '../../../helpers/bytes.js';
import { cutAt } from '../../../helpers/chunked.js';
import { runs, seed } from '../../../helpers/effort.js';
import { call, inPieces, NO_LEAKS, type Relayed, RelayLab } from '../relay-lab.js';

const LIMITS = { inlineImage: 300, inlineOther: 90, inlineResource: 600, file: 10_000, spool: 400, response: 20_000 };
const PIECES = [1, 7, 97, Number.MAX_SAFE_INTEGER];
const LINK = /http:\/\/store\.test\/[\w/-]+/g;

/** Ends with padding of no, one and two characters, and with a whole line of 76 characters. */
const JPEG = Buffer.concat([Buffer.from('ffd8ffe000104a46494600010100', 'hex'), someBytes(1201)]);
const SIZES = [1215, 1214, 1213, 57 * 20];
const WHOLE = JPEG.subarray(0, 57 * 20);
const OTHER = Buffer.concat([Buffer.from([1, 2, 3, 4]), someBytes(1201)]);

const lined = (bytes: Buffer, length = 76, end = '\n') =>
  bytes.toString('base64').replaceAll(new RegExp(`.{${length}}(?!$)`, 'g'), `$&${end}`);

const bodyOf = (text: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } });

async function relayed(pieces: Iterable<Buffer>, check: (relayed: Relayed, lab: RelayLab) => Promise<void> | void) {
  const lab = new RelayLab({ limits: LIMITS });
  await check(await lab.relay(pieces, 'json', [call('1')]), lab);
  expect(await lab.leaks()).toEqual(NO_LEAKS);
}

async function everyPiece(body: string, check: (relayed: Relayed, lab: RelayLab) => Promise<void> | void) {
  for (const size of PIECES) await relayed(inPieces(body, size), check);
}

/** Checks that these lines, and only they, have become a link to these bytes. */
function isCut(text: string, written: string, bytes: Buffer) {
  return async ({ text: sent }: Relayed, lab: RelayLab) => {
    const { content, _meta } = JSON.parse(sent).result;
    const [{ url: link }] = _meta['dev.wharf/files'];
    expect(content).toEqual([{ type: 'text', text: text.replace(written, link) }]);
    expect(_meta['dev.wharf/files']).toEqual([expect.objectContaining({ url: link, size: bytes.length })]);
    expect(await lab.at(link)).toEqual(bytes);
  };
}

describe('base64 of a known format in lines of equal length becomes one link', () => {
  it.each<[string, string, string]>([
    ['behind words, as a shell prints it', 'Process started with PID 7\nInitial output:\n', '\n'],
    ['between words', 'a.jpg:\n', '\n\nThat is all. Done\n'],
    ['at the beginning of a text', '', '\n$ '],
    ['at the end of a text', 'Here it is:\n', ''],
    ['before a line of one word with a sign in it', '# a\n', '\nexit: 0'],
    ['before a boundary of MIME', 'Content-Transfer-Encoding: base64\n\n', '\n\n--XX--\n'],
    ['between quotes', 'data = "', '"\n'],
    ['in a fence of Markdown', '```\n', '\n```\n'],
    ['in an element of XML', '<data>\n', '</data>'],
    ['behind a data: URI head', '![x](', ')'],
  ])('%s', async (what, before, after) => {
    const head = what.includes('head') ? 'data:image/jpeg;base64,' : '';
    for (const size of SIZES) {
      const bytes = JPEG.subarray(0, size);
      const written = head + lined(bytes);
      await everyPiece(bodyOf(before + written + after), isCut(before + written + after, written, bytes));
    }
  });

  it.each([
    [60, '\n'],
    [64, '\r\n'],
    [72, '\n'],
    [76, '\r\n'],
    [100, '\n'],
  ])('of %i characters, with %j', async (length, end) => {
    const written = lined(JPEG, length, end);
    await everyPiece(bodyOf(`x:${end}${written}${end}y`), isCut(`x:${end}${written}${end}y`, written, JPEG));
  });

  it('however its slashes and line breaks are escaped', async () => {
    const written = lined(JPEG);
    const text = `x:\n${written}\n- y`;
    const body = bodyOf(text);
    const escaped = body.replace(JSON.stringify(written).slice(1, -1), (found) =>
      found.replaceAll('/', '\\/').replaceAll('+', '\\u002B').replaceAll('\\n', '\\u000a').replaceAll('=', '\\u003d'),
    );
    expect(escaped).not.toBe(body);
    await everyPiece(escaped, isCut(text, written, JPEG));
  });

  it('wherever the text is cut on its way', async () => {
    const written = lined(JPEG, 60, '\r\n');
    const text = `x:\r\n${written}\r\n- y`;
    const body = Buffer.from(bodyOf(text));
    for (let at = 1; at < body.length; at += 1)
      await relayed([body.subarray(0, at), body.subarray(at)], isCut(text, written, JPEG));
  });

  it('twice in a text, with words and other base64 between', async () => {
    const written = lined(JPEG);
    const text = `a:\n${written}\n\nb:\n${lined(OTHER)}\nc:\n${written}\n.`;
    await everyPiece(bodyOf(text), ({ text: sent }) => {
      const { content } = JSON.parse(sent).result;
      const [link] = content[0].text.match(LINK);
      expect(content[0].text).toBe(text.replaceAll(written, link));
    });
  });

  it('but a line behind it that is longer, and a sentence, stay', async () => {
    for (const after of ['A'.repeat(80), 'This is it', 'Yes it is', 'abc', 'x'.repeat(76).concat(' y')]) {
      const written = lined(WHOLE);
      const text = `a:\n${written}\n${after}\n`;
      await everyPiece(bodyOf(text), isCut(text, written, WHOLE));
    }
  });

  it('and a file in one line is cut behind a line that is a short one', async () => {
    const written = JPEG.toString('base64');
    for (const length of [48, 76, 100]) {
      for (const end of ['\n', '\r\n']) {
        const text = `icons:${end}${written.slice(0, length)}${end}${written}${end}- a`;
        await everyPiece(bodyOf(text), async ({ text: sent }, lab) => {
          const { content, _meta } = JSON.parse(sent).result;
          const [{ url }] = _meta['dev.wharf/files'];
          expect(content[0].text).toBe(`icons:${end}${written.slice(0, length)}${end}${url}${end}- a`);
          expect(await lab.at(url)).toEqual(JPEG);
        });
      }
    }
  });

  it.each(['behind\n', ' and behind a blank.', '. A sentence', '\t|'])(
    'and what comes behind its padding stays: %j',
    async (after) => {
      for (const size of [1213, 1214]) {
        const written = lined(JPEG.subarray(0, size));
        expect(written).toMatch(/[^=]={1,2}$/);
        const text = `a:\n${written}${after}`;
        await everyPiece(bodyOf(text), isCut(text, written, JPEG.subarray(0, size)));
      }
    },
  );
});

describe('a text stays as it is', () => {
  const pem = (label: string) =>
    `-----BEGIN ${label}-----\n${lined(Buffer.concat([Buffer.from('308204', 'hex'), OTHER]), 64)}\n-----END ${label}-----\n`;
  it.each<[string, string]>([
    ['with a certificate', `The chain:\n${pem('CERTIFICATE')}${pem('CERTIFICATE')}`],
    ['with a private key', pem('PRIVATE KEY')],
    ['with a signature', `-----BEGIN PGP SIGNATURE-----\n\n${lined(OTHER, 64)}\n=abcd\n-----END PGP SIGNATURE-----`],
    ['with bytes that begin as no format', `out:\n${lined(OTHER)}\n.`],
    ['with hexadecimal in lines', `out:\n${JPEG.toString('hex').replaceAll(/.{60}/g, '$&\n')}\n.`],
    ['with such base64 in lines and nothing else, which a program may decode', lined(JPEG)],
    ['with such base64 and a line break', `${lined(JPEG)}\n`],
    ['with short lines', `out:\n${lined(JPEG, 40)}\n.`],
    ['with lines of other than whole quads', `out:\n${lined(JPEG, 74)}\n.`],
    ['with blank lines between them', `out:\n${lined(JPEG, 76, '\n\n')}\n.`],
    ['with indented lines', `out:\n${lined(JPEG, 76, '\n  ')}\n.`],
    ['with a few lines', `out:\n${lined(JPEG.subarray(0, 66))}\n.`],
    ['with the beginning of a file in each line', `${`${JPEG.toString('base64', 0, 57)}\n\n`.repeat(30)}.`],
  ])('%s', async (_what, text) => {
    const body = bodyOf(text);
    await everyPiece(body, async (sent, lab) => {
      expect(sent.text).toBe(body);
      expect(await lab.keys()).toEqual([]);
    });
  });
});

it('any text in any chunks: what leaves it is the file, and every other byte is as it was', async () => {
  const words = fc.array(fc.constantFrom('a', 'Zm9v', '\n', '\r\n', ' ', '=', '/9j/', '"', '\\', 'é', ',', '-', '\t'), {
    maxLength: 12,
  });
  const sizes = fc.integer({ min: 91, max: 1200 });
  const lengths = fc.constantFrom(48, 60, 64, 76, 128);
  const breaks = fc.constantFrom('\n', '\r\n');
  const fractions = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(words, words, sizes, lengths, breaks, fractions, async (before, after, size, length, end, at) => {
      const bytes = JPEG.subarray(0, size);
      const written = lined(bytes, length, end);
      const text = `${before.join('')}:\n${written}${end}- ${after.join('')}`;
      const body = Buffer.from(bodyOf(text));
      const borders = at.map((one) => Math.floor(one * body.length)).sort((one, two) => one - two);
      await relayed(cutAt(body, borders), isCut(text, written, bytes));
    }),
    { numRuns: runs(300), seed: seed(2_026_1128) },
  );
});
