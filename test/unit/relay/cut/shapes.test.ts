import { describe, expect, it } from '@jest/globals';
import { someBytes } from '../../../helpers/bytes.js';
import { call, framed, inPieces, NO_LEAKS, type Relayed, RelayLab, request } from '../relay-lab.js';

const LIMITS = { inlineImage: 300, inlineOther: 90, inlineResource: 600, file: 10_000, spool: 400, response: 60_000 };
const KINDS = ['json', 'sse', 'lines'] as const;
const PIECES = [1, 97, Number.MAX_SAFE_INTEGER];

const BYTES = someBytes(1300);
const DATA = BYTES.toString('base64');
/** Longer than every inline limit, and no file anywhere. */
const LONG = someBytes(700).toString('base64');
const result = (content: string) => `{"result":{"content":[${content}]},"jsonrpc":"2.0","id":1}`;

/** Sends the body over every transport in pieces of several sizes. */
async function everyWay(
  body: string,
  check: (relayed: Relayed, lab: RelayLab) => Promise<void> | void,
  requests = [call('1')],
) {
  for (const kind of KINDS) {
    for (const size of PIECES) {
      const lab = new RelayLab({ limits: LIMITS });
      await check(await lab.relay(inPieces(framed(body, kind), size), kind, requests), lab);
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  }
}

async function isCut(relayed: Relayed, lab: RelayLab): Promise<void> {
  const { content, _meta } = JSON.parse(relayed.text).result;
  const [file] = _meta['dev.wharf/files'];
  expect(await lab.at(file.url)).toEqual(BYTES);
  expect(content[file.contentIndex].type).toBe('text');
  expect(relayed.text).not.toContain(DATA);
}

describe('the object around a file', () => {
  it.each([
    ['mimeType before data', `{"type":"image","mimeType":"image/png","data":"${DATA}"}`],
    ['type last', `{"data":"${DATA}","mimeType":"image/png","type":"image"}`],
    ['no mimeType', `{"type":"audio","data":"${DATA}"}`],
    ['mimeType null', `{"type":"image","data":"${DATA}","mimeType":null}`],
    ['mimeType a number', `{"type":"image","data":"${DATA}","mimeType":12345678901234567890}`],
    ['whitespace', ` { "type" : "image" ,\t"data" : "${DATA}" , "mimeType":"image/png" } `],
    ['other members', `{"x":[1e400,{"data":"short"}],"type":"image","data":"${DATA}","mimeType":"image/png","y":{}}`],
    ['escaped keys', `{"t\\u0079pe":"image","d\\u0061ta":"${DATA}","mime\\u0054ype":"image/png"}`],
    ['an escaped type', `{"type":"im\\u0061ge","data":"${DATA}","mimeType":"image/png"}`],
    ['an embedded resource', `{"type":"resource","resource":{"uri":"a:b","blob":"${DATA}","mimeType":"a/b"}}`],
    ['a resource whose type is last', `{"resource":{"blob":"${DATA}","uri":"a:b"},"type":"resource"}`],
    ['a text that is a data: URI', `{"type":"text","text":"data:image/png;base64,${DATA}"}`],
    ['a data: URI in other words', `{"text":"DATA:\\u0069mage\\/png;name=a%20b.png;BASE64,${DATA}","type":"text"}`],
    ['a link that is a data: URI', `{"type":"resource_link","uri":"data:image/png;base64,${DATA}","name":"n"}`],
  ])('%s: it is cut', (_, block) => everyWay(result(block), isCut));

  it.each([
    ['no type', `{"data":"${LONG}","mimeType":"image/png"}`],
    ['a type in capitals', `{"type":"IMAGE","data":"${LONG}","mimeType":"image/png"}`],
    ['an unknown type', `{"type":"hologram","data":"${LONG}","mimeType":"image/png"}`],
    ['a type that is no string', `{"type":{"a":1},"data":"${LONG}"}`],
    ['keys like data', `{"type":"image","Data":"${LONG}","data ":"${LONG}","dat":"${LONG}","data":"AAAA"}`],
    ['data deeper', `{"type":"image","meta":{"data":"${LONG}"},"data":"AAAA","mimeType":"image/png"}`],
    ['a blob outside of a resource', `{"type":"resource","blob":"${LONG}","resource":{"uri":"a:b","text":"t"}}`],
    ['a type that is another one in the end', `{"type":"image","data":"${LONG}","type":"text"}`],
    ['text in base64', `{"type":"text","text":"${LONG}"}`],
    ['text in base64 behind words', `{"type":"text","text":"see ${LONG}"}`],
    ['a data: URI and more text', `{"type":"text","text":"data:image/png;base64,${LONG} and more"}`],
    ['a data: URI that is no base64', `{"type":"text","text":"data:text/plain,${LONG}"}`],
    ['a long link', `{"type":"resource_link","uri":"https://a.test/?data:image/png;base64,${LONG}","name":"n"}`],
    ['a link that is no base64', `{"type":"resource_link","uri":"data:text/plain,${LONG}","name":"n"}`],
    ['the uri of another block', `{"type":"text","uri":"data:image/png;base64,${LONG}","text":"t"}`],
    ['the members of another object in an array', `[{"type":"image","data":"${LONG}"}]`],
    ['a string', `"${LONG}"`],
  ])('%s: nothing is changed', (_, block) => {
    const body = result(block);
    return everyWay(body, ({ text }) => expect(text).toBe(body));
  });

  it.each([
    ['data', `{"type":"image","data":"${DATA}","data":"AAAA","mimeType":"image/png"}`, 'data'],
    ['data, the long one last', `{"type":"image","data":"AAAA","mimeType":"image/png","data":"${DATA}"}`, 'data'],
    ['data, once escaped', `{"type":"image","data":"${DATA}","d\\u0061ta":"${DATA}"}`, 'data'],
    ['type', `{"type":"text","data":"${DATA}","type":"image"}`, 'type'],
    ['mimeType', `{"type":"image","mimeType":"text/html","data":"${DATA}","mimeType":"image/png"}`, 'mimeType'],
    ['resource', `{"type":"resource","resource":{"blob":"${DATA}"},"resource":{"text":"t"}}`, 'resource'],
    ['blob', `{"type":"resource","resource":{"blob":"${DATA}","blob":"AAAA"}}`, 'blob'],
    ['uri', `{"type":"resource_link","uri":"data:image/png;base64,${DATA}","uri":"a:b","name":"n"}`, 'uri'],
  ])('%s twice: an error, since parsers differ on which of them counts', (_, block, key) =>
    everyWay(result(block), async ({ text }, lab) => {
      expect(JSON.parse(text)).toMatchObject({ id: 1, error: { data: { code: 'file_key_duplicate', key } } });
      expect(await lab.keys()).toEqual([]);
    }),
  );

  it('a result named twice is refused when there is a file in one of them', () =>
    everyWay(`{"result":{"content":[{"type":"image","data":"${DATA}"}]},"result":{"content":[]},"id":1}`, ({ text }) =>
      expect(JSON.parse(text).error).toMatchObject({
        message: 'The message names "result" twice, so the file in it is ambiguous.',
        data: { code: 'file_key_duplicate', key: 'result' },
      }),
    ));
});

describe('what looks like a file elsewhere', () => {
  const block = `{"type":"image","data":"${LONG}","mimeType":"image/png"}`;
  it.each([
    ['error data', `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":{"content":[${block}]}}}`],
    ['a log message', `{"method":"notifications/message","params":{"level":"info","data":"${LONG}"}}`],
    ['a sampling request', `{"id":9,"method":"sampling/createMessage","params":{"messages":[{"content":${block}}]}}`],
    ['an elicitation', `{"id":9,"method":"elicitation/create","params":{"content":[${block}]}}`],
    ['the root', `{"content":[${block}],"jsonrpc":"2.0","id":1}`],
    ['deeper in the result', `{"result":{"a":{"content":[${block}]},"content":[]},"id":1}`],
    ['content that is no array', `{"result":{"content":${block}},"id":1}`],
    ['an array in content', `{"result":{"content":[[${block}]]},"id":1}`],
    ['_meta', `{"result":{"_meta":{"content":[${block}],"data":"${LONG}"},"content":[]},"id":1}`],
    ['icons', `{"result":{"tools":[{"name":"t","icons":[{"src":"data:image/png;base64,${LONG}"}]}]},"id":1}`],
  ])('%s: nothing is changed', (_, body) => everyWay(body, ({ text }) => expect(text).toBe(body)));

  it('a completion is not a file, whatever it looks like', () => {
    const body = result(block);
    return everyWay(body, ({ text }) => expect(text).toBe(body), [request('1', 'completion/complete')]);
  });
});

describe('bytes beside a file', () => {
  const block = `{"type":"image","data":"${DATA}","mimeType":"image/png"}`;
  it.each([
    ['numbers', '"n":[1e400,-0,0.10,12345678901234567890,-9007199254740993,1E+2]'],
    ['strings', '"s":"\\u0000\\ud83d\\uDE00\\ud800 \\/ \\u2028 \u2028 \u00e9 \\"\\\\ \u{1f600}"'],
    ['keys', '"__proto__":{"a":1},"constructor":1,"2":1,"1":2,"":3,"k\\u0065y":4,"a":1,"a":2'],
    ['whitespace', '\t"w" \t:  [ ]  '],
    ['a long key', `"${'k'.repeat(5_000)}":1`],
  ])('%s stay as they were', (_, member) =>
    everyWay(
      `{"result":{${member},"content":[${block}]},"jsonrpc":"2.0","id":12345678901234567890}`,
      async (relayed, lab) => {
        const { text } = relayed;
        expect(text).toContain(`,${member},"content":[{"type":"text"`);
        expect(text.endsWith(']},"jsonrpc":"2.0","id":12345678901234567890}')).toBe(true);
        expect(await lab.keys()).toHaveLength(1);
      },
      [call('12345678901234567890')],
    ),
  );

  it('bytes that are not UTF-8 stay as they were', async () => {
    for (const kind of KINDS) {
      const head = Buffer.concat([Buffer.from('{"result":{"x":"'), Buffer.from('ff80c0ffed', 'hex'), Buffer.from('"')]);
      const body = Buffer.concat([head, Buffer.from(`,"content":[${block}]},"id":1}`)]);
      const [before, after] = framed('|', kind).split('|') as [string, string];
      const lab = new RelayLab({ limits: LIMITS });
      const sent = Buffer.concat([Buffer.from(before), body, Buffer.from(after)]);
      const { messages } = await lab.relay(inPieces(sent, 11), kind);
      expect(messages[0]?.includes(Buffer.from('"x":"\xff\x80\xc0\xff\xed"', 'latin1'))).toBe(true);
      expect(messages[0]?.includes('dev.wharf/files')).toBe(true);
    }
  });
});
