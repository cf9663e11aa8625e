import { describe, expect, it } from '@jest/globals';
import { someBytes } from '../../../helpers/bytes.js';
import { call, framed, inPieces, NO_LEAKS, type Relayed, RelayLab, request } from '../relay-lab.js';

const LIMITS = { inlineImage: 300, inlineOther: 90, inlineResource: 600, file: 10_000, spool: 400 };
const KINDS = ['json', 'sse', 'lines'] as const;
/** Byte by byte takes long where there are millions. */
const SMALL = 20_000;

const BYTES = someBytes(1300);
const image = (bytes: Buffer = BYTES) => `{"type":"image","data":"${bytes.toString('base64')}","mimeType":"image/png"}`;
const TEXT = '{"type":"text","text":"t"}';
const answer = (content: string, id = '1') => `{"result":{"content":[${content}]},"jsonrpc":"2.0","id":${id}}`;

async function everyWay(
  body: string,
  check: (relayed: Relayed, lab: RelayLab) => Promise<void> | void,
  requests = [call('1')],
): Promise<void> {
  for (const kind of KINDS) {
    for (const size of body.length > SMALL ? [4096, Number.MAX_SAFE_INTEGER] : [1, 7, 4096]) {
      const lab = new RelayLab({ limits: LIMITS });
      await check(await lab.relay(inPieces(framed(body, kind), size), kind, requests), lab);
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  }
}

const filesOf = (text: string) => JSON.parse(text).result._meta['dev.wharf/files'];

describe('a result with a file in it', () => {
  it.each([
    ['a number of 100,000 digits', `"n":${'9'.repeat(100_000)}`],
    ['100,000 keys', Array.from({ length: 100_000 }, (_, at) => `"k${at}":0`).join(',')],
    ['a key of 1 MiB', `"${'k'.repeat(1 << 20)}":0`],
    ['1 MiB of whitespace', `"w":${' '.repeat(1 << 20)}0`],
    ['long text of many scripts', `"t":"${'é \u{1f600} \\ud83d\\ude00 漢 '.repeat(10_000)}"`],
    ['10,000 small blocks elsewhere', `"items":[${Array(10_000).fill(TEXT).join(',')}]`],
    ['isError', '"isError":true'],
  ])('and %s: the file is cut, the rest stays', (_, member) =>
    everyWay(`{"result":{"content":[${image()}],${member}},"jsonrpc":"2.0","id":1}`, async ({ text }, lab) => {
      expect(text.endsWith(`],${member}},"jsonrpc":"2.0","id":1}`)).toBe(true);
      const [file] = filesOf(text);
      expect(await lab.at(file.url)).toEqual(BYTES);
    }),
  );

  it('and nineteen others: each has its own link, in their order', () => {
    const all = Array.from({ length: 20 }, (_, at) => someBytes(400 + at));
    return everyWay(answer(all.map(image).join(`,${TEXT},`)), async ({ text }, lab) => {
      const files = filesOf(text);
      expect(files.map(({ contentIndex }: { contentIndex: number }) => contentIndex)).toEqual(
        all.map((_, at) => 3 * at),
      );
      for (const [at, file] of files.entries()) expect(await lab.at(file.url)).toEqual(all[at]);
    });
  });

  it('and an error beside it is cut all the same: no parser must see the bytes', () =>
    everyWay(`{"error":{"code":1,"message":"m"},"result":{"content":[${image()}]},"id":1}`, ({ text }) => {
      expect(JSON.parse(text).error).toEqual({ code: 1, message: 'm' });
      expect(filesOf(text)).toHaveLength(1);
    }));

  it.each([
    ['no id', `{"result":{"content":[${image()}]},"jsonrpc":"2.0"}`],
    ['the id null', answer(image(), 'null')],
    ['a foreign id', answer(image(), '"somebody else"')],
    ['an id that is no scalar', answer(image(), '{"id":1}')],
    ['an id of 1 MiB', answer(image(), `"${'i'.repeat(1 << 20)}"`)],
  ])('and %s is cut for the client that it may reach', (_, body) =>
    everyWay(body, ({ text }) => expect(filesOf(text)).toHaveLength(1)),
  );
});

describe('what is not a file', () => {
  const LONG = someBytes(700).toString('base64');
  it.each([
    ['JSON with base64 in a text', `{"type":"text","text":"{\\"type\\":\\"seal\\",\\"data\\":\\"${LONG}\\"}"}`],
    ['a text that begins like a data: URI', `{"type":"text","text":"data:${'x'.repeat(5000)}"}`],
    [
      'a data: URI whose head never ends',
      `{"type":"text","text":"data:image/png;${'a=b;'.repeat(1200)}base64,${LONG}"}`,
    ],
  ])('%s passes as it came', (_, block) => {
    const body = answer(block);
    return everyWay(body, ({ text }) => expect(text).toBe(body));
  });

  it.each([
    ['an escape that does not exist', '\\x41'],
    ['half of an escape', '\\u00'],
    ['a quote', '\\"'],
    ['a character outside of ASCII', 'é'],
  ])('base64 with %s in it is an error, and nothing is stored', (_, wrong) => {
    const data = `${LONG.slice(0, 500)}${wrong}${LONG.slice(500)}`;
    return everyWay(answer(`{"type":"image","data":"${data}","mimeType":"image/png"}`), async ({ text }, lab) => {
      expect(JSON.parse(text)).toMatchObject({ id: 1, error: { data: { code: 'file_not_base64' } } });
      expect(await lab.keys()).toEqual([]);
    });
  });

  it.each([
    ['a line feed', '\n', ['json']],
    ['a carriage return and blanks', '\r  ', ['json', 'lines']],
    ['a control character', '\u0001', KINDS],
  ] as const)('base64 with %s in it, not escaped, is not JSON, and nothing is stored', async (_, wrong, kinds) => {
    const body = answer(
      `{"type":"image","data":"${LONG.slice(0, 500)}${wrong}${LONG.slice(500)}","mimeType":"image/png"}`,
    );
    for (const kind of kinds) {
      for (const size of [1, 7, 4096]) {
        const lab = new RelayLab({ limits: LIMITS });
        const { text } = await lab.relay(inPieces(framed(body, kind), size), kind);
        expect(JSON.parse(text)).toMatchObject({ id: 1, error: { data: { code: 'upstream_invalid' } } });
        expect(await lab.keys()).toEqual([]);
        expect(await lab.leaks()).toEqual(NO_LEAKS);
      }
    }
  });

  it('UTF-16 is passed on as the bytes it is, in an event stream', async () => {
    const body = Buffer.from(answer(image()), 'utf16le');
    const sent = Buffer.concat([Buffer.from('data: '), body, Buffer.from('\n\n')]);
    for (const size of [1, 7, 4096]) {
      const lab = new RelayLab({ limits: LIMITS });
      const { messages } = await lab.relay(inPieces(sent, size), 'sse');
      expect(messages).toEqual([body]);
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });

  it.each(KINDS)('a body of nothing, or of blanks, is not a message over %s', async (kind) => {
    for (const body of ['', ' \n', '\n\n\n']) {
      const lab = new RelayLab({ limits: LIMITS });
      expect(await lab.relay(inPieces(body, 1), kind)).toMatchObject({ messages: [], error: undefined });
    }
  });
});

describe('an event stream of many messages', () => {
  const other = someBytes(900);
  const progress = '{"method":"notifications/progress","params":{"progressToken":1,"progress":1}}';
  const log = `{"method":"notifications/message","params":{"level":"info","data":"${other.toString('base64')}"}}`;
  const asks = `{"id":1,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":${image()}}]}}`;
  const texts = [
    progress,
    answer(image()),
    log,
    '{broken',
    asks,
    answer(image(other), '2'),
    `[${progress}]`,
    answer(TEXT, '9'),
  ];

  it.each([
    ['LF', '\n'],
    ['CR', '\r'],
    ['CRLF', '\r\n'],
  ])('gives each once, in order, with its own file (%s)', async (_, eol) => {
    const body = texts
      .map((text, at) => [`:c`, `id: ${at}`, 'event: message', `data:${text}`, 'x: y', '', ''].join(eol))
      .join('');
    for (const size of [1, 7, 4096, Number.MAX_SAFE_INTEGER]) {
      const lab = new RelayLab({ limits: LIMITS });
      const { messages } = await lab.relay(inPieces(body, size), 'sse', [call('1'), call('2')]);
      expect(messages).toHaveLength(texts.length);
      for (const [at, message] of messages.entries()) {
        if (at === 1 || at === 5) continue;
        expect(String(message)).toBe(texts[at]);
      }
      expect(await lab.at(filesOf(String(messages[1]))[0].url)).toEqual(BYTES);
      expect(await lab.at(filesOf(String(messages[5]))[0].url)).toEqual(other);
      expect(await lab.keys()).toHaveLength(2);
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });

  it('may break a file over data lines between its members', async () => {
    const lines = answer(image()).replaceAll(',', ',\ndata: ');
    for (const size of [1, 7, 4096]) {
      const lab = new RelayLab({ limits: LIMITS });
      const { text } = await lab.relay(inPieces(`data: ${lines}\n\n`, size), 'sse');
      expect(await lab.at(filesOf(text)[0].url)).toEqual(BYTES);
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });

  it.each([20, 40, 300, 1000])(
    'that breaks base64 over data lines after %i bytes is not JSON, and stores nothing',
    async (at) => {
      const lines = `${answer(image()).slice(0, at + 40)}\ndata: ${answer(image()).slice(at + 40)}`;
      for (const size of [1, 7, 4096]) {
        const lab = new RelayLab({ limits: LIMITS });
        const { text } = await lab.relay(inPieces(`data: ${lines}\n\n`, size), 'sse');
        const broken = at + 40 < answer(image()).indexOf('"data":"') + '"data":"'.length + 400;
        if (broken) expect(text).toBe(lines.replace('\ndata: ', '\n'));
        else expect(JSON.parse(text)).toMatchObject({ id: 1, error: { data: { code: 'upstream_invalid' } } });
        expect(await lab.keys()).toEqual([]);
        expect(await lab.leaks()).toEqual(NO_LEAKS);
      }
    },
  );

  it('of 10,000 small ones leaves nothing held', async () => {
    const lab = new RelayLab({ limits: LIMITS });
    const { messages } = await lab.relay(inPieces(framed(progress, 'sse').repeat(10_000), 65_536), 'sse');
    expect(messages).toHaveLength(10_000);
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  });
});

describe('a batch that tells of changed tools', () => {
  it('anywhere in it: they are asked for again', async () => {
    const schema = { type: 'object', properties: { d: { type: 'string' } } };
    const lab = new RelayLab({ limits: LIMITS, tools: [{ name: 't', outputSchema: schema }] });
    const result = `{"result":{"content":[${image()}],"structuredContent":{"d":"${BYTES.toString('base64')}"}},"id":1}`;
    await lab.relay([Buffer.from(result)]);
    await lab.relay([Buffer.from(result)]);
    expect(lab.asked).toBe(1);
    await lab.relay([Buffer.from('[{"method":"x"},{"method":"notifications\\/tools\\/list_changed"}]')], 'json', [
      request('1', 'ping'),
    ]);
    await lab.relay([Buffer.from(result)]);
    expect(lab.asked).toBe(2);
  });
});
