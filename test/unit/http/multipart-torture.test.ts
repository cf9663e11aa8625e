import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cleanFileName } from '../../../gateway/files/names/file-name.js';
import { chunked, chunkings } from '../../helpers/chunked.js';
import { startUploadServer, type UploadServer } from '../../helpers/upload-server.js';
import { BOUNDARY, bodyOf, bytesOf, CONTENT_TYPE, field, file, part, read } from './multipart-bodies.js';

const CONTENT = Buffer.from('Hello\r\n\0world\xff', 'latin1');
const many = (count: number, make: (n: number) => Buffer) => Array.from({ length: count }, (_, n) => make(n));
const withBoundary = (boundary: string, parameter = boundary) =>
  [bodyOf([file(CONTENT)], boundary), `multipart/form-data; boundary=${parameter}`] as const;
const named = (value: string) => part(`name="file"; ${value}`, CONTENT);
const mib = (count: number) => Buffer.alloc(count * 1024 * 1024, 'x');

type Right = readonly [
  title: string,
  body: Buffer,
  name: string | undefined,
  contentType?: string | undefined,
  content?: Buffer,
];

const RIGHT: Right[] = [
  ['one file', bodyOf([file(CONTENT)]), 'a.txt'],
  ['a part of 0 bytes', bodyOf([file('')]), 'a.txt', undefined, Buffer.alloc(0)],
  ['fields before the file', bodyOf([field('token'), field('b'), file(CONTENT)]), 'a.txt'],
  ['fields after the file', bodyOf([file(CONTENT), field('size', '12'), field('_charset_', 'utf-8')]), 'a.txt'],
  ['the same field name twice', bodyOf([field('a'), field('a'), file(CONTENT)]), 'a.txt'],
  ['an empty field name', bodyOf([field(''), file(CONTENT)]), 'a.txt'],
  [
    'fields that poison objects',
    bodyOf([field('__proto__'), field('a[999999999999]'), field('constructor'), file(CONTENT)]),
    'a.txt',
  ],
  ['an input beside it with no file chosen', bodyOf([part('name="b"; filename=""'), file(CONTENT)]), 'a.txt'],
  ['a file without a name', bodyOf([part('name="file"', CONTENT)]), undefined],
  ['a file from a form in which the name got lost', bodyOf([named('filename=""')]), ''],
  ['a boundary of 1 character', ...((b) => [b[0], 'a.txt', b[1]] as const)(withBoundary('b'))],
  ['a boundary of 70 characters', ...((b) => [b[0], 'a.txt', b[1]] as const)(withBoundary('b'.repeat(70)))],
  [
    'a quoted boundary',
    ...((b) => [b[0], 'a.txt', b[1]] as const)(withBoundary("a b'(c)=?", `"a b'(c)=?"; charset=utf-8`)),
  ],
  [
    'a boundary with every character',
    ...((b) => [b[0], 'a.txt', b[1]] as const)(withBoundary("0aZ'()+_,-./:=?", `"0aZ'()+_,-./:=?"`)),
  ],
  ['file names in raw UTF-8', bodyOf([named('filename="отчёт 文档.pdf"')]), 'отчёт 文档.pdf'],
  ['RFC 8187 with line breaks', bodyOf([named('filename="x"; filename*=UTF-8\'\'%e2%82%ac%0d%0aX')]), '€\r\nX'],
  ['a dash of Windows, read as ISO-8859-1', bodyOf([named('filename="2026 \u0096 a.pdf"')]), '2026 \u0096 a.pdf'],
  ['a path', bodyOf([named('filename="../../../etc/passwd"')]), '../../../etc/passwd'],
  ['a path of Windows', bodyOf([named('filename="C:\\docs\\a.txt"')]), 'C:\\docs\\a.txt'],
  ['escaped quotes', bodyOf([named('filename="a\\"b\\\\c.txt"')]), 'a"b\\c.txt'],
  [
    'a quote and a line break as browsers write them',
    bodyOf([named('filename="27%22%0D%0A100%.png"')]),
    '27"\r\n100%.png',
  ],
  ['a name with a semicolon', bodyOf([named('filename="Report (v2); final.pdf"')]), 'Report (v2); final.pdf'],
  ['a name that is a token', bodyOf([named('filename=a.txt')]), 'a.txt'],
  ['a name that is not escaped', bodyOf([named('filename="%41%00.html"')]), '%41%00.html'],
  ['parameters in another order and case', bodyOf([part('FileName="a.txt"; NAME="file"', CONTENT)]), 'a.txt'],
  ['other headers', bodyOf([part('name="file"; filename="a.txt"', CONTENT, 'Content-Length: 5', 'X-A: b')]), 'a.txt'],
  [
    'a coding that codes nothing',
    bodyOf([part('name="file"; filename="a.txt"', CONTENT, 'Content-Transfer-Encoding: Binary')]),
    'a.txt',
  ],
  ['no line break at its end', bodyOf([file(CONTENT)]).subarray(0, -2), 'a.txt'],
  ...[
    '\r',
    '\r\n',
    '\r\n-',
    '\r\n--',
    `\r\n--${BOUNDARY.slice(0, -1)}`,
    `--${BOUNDARY}`,
    `\n--${BOUNDARY}`,
    `\r--${BOUNDARY}`,
    '\r\r\n--Xb',
    '\r\n\r\n--',
  ].map(
    (likeness) =>
      [
        `content that looks like ${JSON.stringify(likeness)}`,
        bodyOf([file(bytesOf('a', likeness, 'b', likeness))]),
        'a.txt',
        undefined,
        bytesOf('a', likeness, 'b', likeness),
      ] as const,
  ),
];

type Wrong = readonly [title: string, body: Buffer, reason: string, contentType?: string];

const BAD = 'malformedMultipart';
const WRONG: Wrong[] = [
  ['an empty body', Buffer.alloc(0), BAD],
  ['no parts', bodyOf([]), 'missingFilePart'],
  ['only fields', bodyOf([field('a'), field('b')]), 'missingFilePart'],
  ['a form in which no file was chosen', bodyOf([part('name="file"; filename=""')]), 'missingFilePart'],
  ['a file under another name', bodyOf([part('name="upload"; filename="a.txt"', CONTENT)]), 'missingFilePart'],
  ['two files', bodyOf([file(CONTENT), file(CONTENT)]), 'tooManyFiles'],
  ['a file beside the file', bodyOf([file(CONTENT), part('name="b"; filename="b.txt"', CONTENT)]), 'tooManyFiles'],
  ['a second part of the name, without a file name', bodyOf([file(CONTENT), field('file')]), 'tooManyFiles'],
  ['10 000 files of 0 bytes', bodyOf(many(10_000, () => file(''))), 'tooManyFiles'],
  ['no final boundary', bodyOf([file(CONTENT)]).subarray(0, -(BOUNDARY.length + 6)), BAD],
  ['half a final boundary', bodyOf([file(CONTENT)]).subarray(0, -5), BAD],
  ['a final boundary without its dashes', bodyOf([file(CONTENT)]).subarray(0, -4), BAD],
  ['a truncated file', bodyOf([file(CONTENT)]).subarray(0, -20), BAD],
  ['a truncated header', bytesOf(`--${BOUNDARY}\r\nContent-Dispo`), BAD],
  ['a header line that begins with a blank', bodyOf([part('name="file"; filename="a.txt"', CONTENT, ' X: y')]), BAD],
  ['a folded header', bodyOf([part('name="file";\r\n filename="a.txt"', CONTENT)]), BAD],
  ['a header without a colon', bodyOf([part('name="file"; filename="a.txt"', CONTENT, 'nonsense')]), BAD],
  ['a blank before a colon', bodyOf([part('name="file"; filename="a.txt"', CONTENT, 'X : y')]), BAD],
  ['a part header of 1 MB', bodyOf([part('name="file"; filename="a.txt"', CONTENT, `X: ${'y'.repeat(1e6)}`)]), BAD],
  ['a file name of 1 MB', bodyOf([file(CONTENT, 'n'.repeat(1e6))]), BAD],
  [
    '20 000 part headers',
    bodyOf([part('name="file"; filename="a.txt"', CONTENT, ...many(20_000, (n) => bytesOf(`X-${n}: y`)).map(String))]),
    BAD,
  ],
  ['20 000 parts', bodyOf([...many(20_000, (n) => field(`f${n}`)), file(CONTENT)]), BAD],
  ['one field too many', bodyOf([...many(33, (n) => field(`f${n}`)), file(CONTENT)]), BAD],
  ['a field of 1 MB', bodyOf([field('a', mib(1)), file(CONTENT)]), BAD],
  ['a field name of 5000 levels', bodyOf([field(`a${'[x]'.repeat(5000)}`), file(CONTENT)]), BAD],
  ['NUL in a file name', bodyOf([named('filename="a\0b.txt"')]), BAD],
  ['DEL in a file name', bodyOf([named('filename="a\x7fb.txt"')]), BAD],
  ['an escape in a file name', bodyOf([named('filename="a\x1bb.txt"')]), BAD],
  ['a line break in a file name', bodyOf([named('filename="a\r\nb.txt"')]), BAD],
  ['a stray CR in a header', bodyOf([named('filename="a\rb.txt"')]), BAD],
  ['a stray LF in a header', bodyOf([named('filename="a\nb.txt"')]), BAD],
  [
    'a header that is not UTF-8',
    bodyOf([bytesOf('Content-Disposition: form-data; name="file"; filename="', Buffer.from([0xff]), '"\r\n\r\nx')]),
    BAD,
  ],
  ['two file names', bodyOf([named('filename="a.html"; filename="../../b.html"')]), BAD],
  ['two names', bodyOf([part('name="file"; name="x"; filename="a"', CONTENT)]), BAD],
  [
    'two Content-Dispositions',
    bodyOf([part('name="x"', CONTENT, 'Content-Disposition: form-data; name="file"; filename="a"')]),
    BAD,
  ],
  [
    'two Content-Types',
    bodyOf([part('name="file"; filename="a"', CONTENT, 'Content-Type: text/plain', 'content-type: text/html')]),
    BAD,
  ],
  ['no Content-Disposition', bodyOf([bytesOf('Content-Type: text/plain\r\n\r\n', CONTENT), file(CONTENT)]), BAD],
  [
    'another disposition',
    bodyOf([bytesOf('Content-Disposition: attachment; name="file"; filename="a"\r\n\r\n', CONTENT)]),
    BAD,
  ],
  ['no name', bodyOf([part('filename="a.txt"', CONTENT)]), BAD],
  ['no head at all', bodyOf([bytesOf('\r\n', CONTENT), file(CONTENT)]), BAD],
  ['an open quote', bodyOf([named('filename="a.txt')]), BAD],
  ['20 000 backslashes and an open quote', bodyOf([named(`filename="${'\\'.repeat(8000)}`)]), BAD],
  ['something after a quote', bodyOf([named('filename="a.txt"b')]), BAD],
  ['a file name in a charset of old', bodyOf([named("filename*=iso-8859-1''%e9")]), BAD],
  ['a file name that is cut in a character', bodyOf([named("filename*=UTF-8''%e2%82")]), BAD],
  [
    'base64 as transfer encoding',
    bodyOf([part('name="file"; filename="a"', 'SGVsbG8=', 'Content-Transfer-Encoding: base64')]),
    BAD,
  ],
  [
    'quoted-printable as transfer encoding',
    bodyOf([part('name="file"; filename="a"', '=20', 'Content-Transfer-Encoding: quoted-printable')]),
    BAD,
  ],
  [
    'a part with parts of its own',
    bodyOf([part('name="file"; filename="a"', CONTENT, 'Content-Type: multipart/mixed; boundary=y')]),
    BAD,
  ],
  ['text before the first boundary', bytesOf('preamble\r\n', bodyOf([file(CONTENT)])), BAD],
  ['a line break before the first boundary', bytesOf('\r\n', bodyOf([file(CONTENT)])), BAD],
  ['a boundary inside a preamble of 10 MB', bytesOf(mib(10), '\r\n', bodyOf([file(CONTENT)])), BAD],
  ['text after the last boundary', bytesOf(bodyOf([file(CONTENT)]), 'epilogue'), BAD],
  ['a second body after the last boundary', bytesOf(bodyOf([file(CONTENT)]), bodyOf([file('other')])), BAD],
  ['a boundary inside an epilogue of 10 MB', bytesOf(bodyOf([file(CONTENT)]), mib(10), bodyOf([file(CONTENT)])), BAD],
  ['a boundary followed by text', bodyOf([file(`a\r\n--${BOUNDARY}suffix\r\nb`)]), BAD],
  ['a boundary that begins a head', bodyOf([bytesOf(`--${BOUNDARY}X: y\r\n`, file(CONTENT))]), BAD],
  ['a boundary that begins a line of a head', bodyOf([part('name="file"', CONTENT, `--${BOUNDARY}X: y`)]), BAD],
  ['a boundary right after a head', bodyOf([file(`--${BOUNDARY}\r\nb`)]), BAD],
  ['a boundary followed by one dash', bodyOf([file(`a\r\n--${BOUNDARY}-\r\nb`)]), BAD],
  ['a boundary followed by blanks', bodyOf([file(`a\r\n--${BOUNDARY}  \r\nb`)]), BAD],
  [
    'lines that end in LF alone',
    Buffer.from(
      bodyOf([file('x')])
        .toString()
        .replaceAll('\r\n', '\n'),
    ),
    BAD,
  ],
  ['a boundary of 0 characters', bodyOf([file(CONTENT)], ''), BAD, 'multipart/form-data; boundary=""'],
  ['no boundary', bodyOf([file(CONTENT)]), BAD, 'multipart/form-data'],
  ['a boundary of 71 characters', withBoundary('b'.repeat(71))[0], BAD, withBoundary('b'.repeat(71))[1]],
  ['a boundary of 2000 characters', withBoundary('b'.repeat(2000))[0], BAD, withBoundary('b'.repeat(2000))[1]],
  ['a boundary with a quote in it', withBoundary('a"b')[0], BAD, 'multipart/form-data; boundary="a\\"b"'],
  ['a boundary that ends in a blank', withBoundary('a ')[0], BAD, 'multipart/form-data; boundary="a "'],
  ['two boundaries', bodyOf([file(CONTENT)]), BAD, `${CONTENT_TYPE}; boundary=y`],
  ['a boundary in one line with nonsense', bodyOf([file(CONTENT)]), BAD, `${CONTENT_TYPE} nonsense`],
];

/** Every way of cutting a short body, and some of cutting a long one. */
function* cuts(body: Buffer): Generator<{ name: string; chunks: Buffer[] }> {
  if (body.length < 4000) yield* chunkings(body);
  else for (const size of [body.length, 65_536, 1000]) yield { name: `in ${size}s`, chunks: chunked(body, size) };
}

describe('a form that is right', () => {
  it.each(RIGHT)('%s', async (_title, body, name, contentType = CONTENT_TYPE, content = CONTENT) => {
    for (const { name: how, chunks } of cuts(body)) {
      const reading = await read(chunks, contentType);
      expect([how, reading.name, reading.bytes]).toEqual([how, name, content]);
    }
  });
});

describe('a form that is wrong', () => {
  it.each(WRONG)('%s', async (_title, body, reason, contentType = CONTENT_TYPE) => {
    for (const { name: how, chunks } of cuts(body)) {
      const outcome = await read(chunks, contentType).then(
        () => 'accepted',
        (error) => error.facts?.reason ?? String(error),
      );
      expect([how, outcome]).toEqual([how, reason]);
    }
  });
});

describe('over HTTP', () => {
  let server: UploadServer;

  beforeAll(async () => {
    server = await startUploadServer({ stores: 'filesystem+memory' });
  });

  afterAll(() => server?.stop());

  const post = async (body: Buffer, contentType: string) => {
    const { url, uri } = await server.authorize();
    const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': contentType } });
    return { uri, status: response.status, answer: (await response.json()) as Record<string, Record<string, unknown>> };
  };

  it('every right form is stored as sent, under a clean name', async () => {
    for (const [title, body, name, contentType = CONTENT_TYPE] of RIGHT) {
      const { uri, status, answer } = await post(body, contentType);
      expect([title, status]).toEqual([title, 201]);
      expect([title, answer.file?.uri]).toEqual([title, uri]);
      if (name) expect([title, answer.file?.name]).toEqual([title, cleanFileName(name)]);
    }
  });

  it('every wrong form is refused, and leaves nothing', async () => {
    const before = (await server.keys()).length;
    for (const [title, body, reason, contentType = CONTENT_TYPE] of WRONG) {
      const { status, answer } = await post(body, contentType);
      expect([title, status, answer.error?.reason]).toEqual([title, 400, reason]);
    }
    expect((await server.keys()).length).toBe(before);
    expect(server.budget.used).toBe(0);
  });
});
