import { describe, expect, it } from '@jest/globals';
import { someBytes } from '../../../helpers/bytes.js';
import { framed, inPieces, NO_LEAKS, RelayLab } from '../relay-lab.js';

const LIMITS = {
  inlineImage: 300,
  inlineOther: 90,
  inlineResource: 600,
  file: 10_000,
  spool: 400,
  response: 60_000,
};
const KINDS = ['json', 'sse', 'lines'] as const;
const PIECES = [1, 97, 4096, Number.MAX_SAFE_INTEGER];

const BYTES = someBytes(2_501);
const PLAIN = BYTES.toString('base64');
const escapeAll = (text: string) => [...text].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join('');
const broken = (text: string, at: number, by: string) => text.slice(0, at) + by + text.slice(at + 1);
const image = (data: string) =>
  `{"result":{"content":[{"type":"image","data":"${data}","mimeType":"image/png"}]},"jsonrpc":"2.0","id":1}`;

/** The file that a result's first block speaks of. */
async function fileOf(lab: RelayLab, text: string): Promise<Buffer | undefined> {
  const data = /data: (.*)/.exec(text)?.[1] ?? text;
  const files = JSON.parse(data).result?._meta?.['dev.wharf/files'];
  return files && lab.at(files[0].url);
}

describe.each(KINDS)('base64 of an image over %s', (kind) => {
  it.each([
    ['plain', PLAIN, BYTES],
    ['with \\/ for /', PLAIN.replaceAll('/', '\\/'), BYTES],
    ['with \\u002b for +', PLAIN.replaceAll('+', '\\u002b').replaceAll('=', '\\u003D'), BYTES],
    ['all escaped', escapeAll(PLAIN), BYTES],
    ['in lines of 76', PLAIN.replace(/.{76}/g, '$&\\n'), BYTES],
    ['in lines of 76 with CRLF', PLAIN.replace(/.{76}/g, '$&\\r\\n'), BYTES],
    ['in lines with blanks around and within them', ` ${PLAIN.replace(/(.{38})(.{38})/g, '$1 \\t$2\\n')} `, BYTES],
    ['in a data: URI', `data:image/png;base64,${PLAIN}`, BYTES],
    ['in the url-safe alphabet', BYTES.toString('base64url'), BYTES],
    ['without padding, two bytes left over', BYTES.subarray(0, 2_500).toString('base64url'), BYTES.subarray(0, 2_500)],
    ['without padding, one byte left over', BYTES.subarray(0, 2_499).toString('base64url'), BYTES.subarray(0, 2_499)],
    [
      'with bits behind the last byte',
      `${'AAAA'.repeat(500)}QUJDRR==`,
      Buffer.from(`${'AAAA'.repeat(500)}QUJDRR==`, 'base64'),
    ],
  ])('%s: the file has the right bytes', async (_, spelled, bytes) => {
    for (const size of PIECES) {
      const lab = new RelayLab({ limits: LIMITS });
      const { messages, text } = await lab.relay(inPieces(framed(image(spelled), kind), size), kind);
      expect(messages).toHaveLength(1);
      expect(await fileOf(lab, text)).toEqual(bytes);
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });

  it.each([
    ['a bad character early', broken(PLAIN, 5, '!')],
    ['a bad character after some parts', broken(PLAIN, 3_100, '*')],
    ['a bad last character', `${PLAIN.slice(0, -1)}~`],
    ['a NUL', broken(PLAIN, 1200, '\\u0000')],
    ['a letter outside of ASCII', broken(PLAIN, 1201, 'é')],
    ['half a surrogate pair', broken(PLAIN, 1202, '\\ud83d')],
    ['padding in the middle', `${PLAIN.slice(0, 1200)}==${PLAIN.slice(1200)}`],
    ['more padding than is due', `${PLAIN}=`],
    ['one character too many', `${PLAIN}A`],
    ['words', 'These are words and no file. '.repeat(200)],
    ['a broken data: URI', `data:image/png;base64,${broken(PLAIN, 3_100, '*')}`],
    ['a data: URI without base64', `data:text/plain,${PLAIN}`],
  ])('%s: an error that says where, and nothing is stored', async (_, spelled) => {
    for (const size of PIECES) {
      const lab = new RelayLab({ limits: LIMITS });
      const { messages, text } = await lab.relay(inPieces(framed(image(spelled), kind), size), kind);
      expect(messages).toHaveLength(1);
      expect(JSON.parse(text)).toMatchObject({
        jsonrpc: '2.0',
        id: 1,
        error: { code: -32603, data: { code: 'file_not_base64', path: '/result/content/0/data' } },
      });
      expect(await lab.keys()).toEqual([]);
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });

  it.each([
    ['empty data', '""'],
    ['no data', 'null'],
    ['a number', '1e400'],
    ['an array of long strings', `["${PLAIN}"]`],
    ['an object', `{"data":"${PLAIN}"}`],
    ['short words', `"${'not base64 '.repeat(30)}"`],
    ['a short escape that does not exist', `"${'A'.repeat(40)}\\u00"`],
  ])('%s passes as it came', async (_, value) => {
    const body = framed(
      `{"result":{"content":[{"type":"image","data":${value},"mimeType":"image/png"}]},"id":1}`,
      kind,
    );
    const sent = kind === 'sse' ? body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1) : body.trimEnd();
    for (const size of PIECES) {
      const lab = new RelayLab({ limits: LIMITS });
      const { text } = await lab.relay(inPieces(body, size), kind);
      expect(text).toBe(sent);
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });
});
