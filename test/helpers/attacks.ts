/** A message that is within its limits and means to cost more than it is: as much of it as `count` says. */
export interface Attack {
  /** The most of it that is tried: some megabytes. */
  most: number;
  /** @param shape how much there is of it, how many different ones, and what stands between two of them */
  make(shape: Shape): Bodies;
  /** Bytes of one chunk of the body; as it comes without. */
  chunk?: number;
  /** Server of the test's config whose limits it is held against. */
  server?: 'evil' | 'small';
  /** Its client gets the answer: only what multiplies in it is left out. */
  isServed?: true;
}

export interface Shape {
  count: number;
  distinct: number;
  blank: string;
}

/** What the client asks, and what the server answers; without it the server repeats the id and no more. */
interface Bodies {
  request?: string;
  answer?: string;
  type?: string;
  /** The server's tools, as JSON, which the client lists before. */
  tools?: string;
}

export const FILE = '"x-mcp-file":{"accept":["image/png"]}';
/** One whose bytes the server gives out when it is asked for them. */
const KEPT = 'good:///files/kept';
const LONG_NAME = 'n'.repeat(120);
const BASE64 = 'A'.repeat(600_000);
const IMAGE = `{"type":"image","mimeType":"image/png","data":"${BASE64}"}`;
/** A line of a log as JSON writes it. */
const LINE = `${'a'.repeat(70)}\\n`;

/** `count` texts, with blanks between them. */
export function many({ count, blank }: Pick<Shape, 'count' | 'blank'>, one: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => one(index)).join(`,${blank}`);
}

export const result = (body: string, id: string | number = 1) => `{"jsonrpc":"2.0","id":${id},"result":${body}}`;
const content = (blocks: string, more = '') => result(`{"content":[${blocks}]${more}}`);
const structured = (value: string) => content('', `,"structuredContent":${value}`);
export const asked = (method: string, answer: string) => ({
  request: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{"name":"n","uri":"a://b"}}`,
  answer,
});
const events = (texts: string) => ({
  answer: `${texts}data: ${result('{}')}\n\n`,
  type: 'text/event-stream',
});

/** Results, by what they are long of. */
export const RESULTS: Readonly<Record<string, Attack>> = {
  'objects that look like files': {
    most: 40_000,
    make: (shape) => ({
      answer: structured(`[${many(shape, (at) => `{"uri":"a://${at % shape.distinct}","name":"n"}`)}]`),
    }),
  },
  'files that the server names': {
    server: 'small',
    isServed: true,
    most: 1500,
    make: (shape) => ({
      answer: structured(`[${many(shape, (at) => `{"uri":"${KEPT}${at % shape.distinct}","name":"n${at}"}`)}]`),
    }),
  },
  links: {
    server: 'small',
    isServed: true,
    most: 2300,
    make: (shape) => ({
      answer: content(
        many(shape, (at) => `{"type":"resource_link","uri":"e://${at % shape.distinct}","name":"${LONG_NAME}"}`),
      ),
    }),
  },
  'links by the ten thousand': {
    most: 25_000,
    make: (shape) => ({
      answer: content(many(shape, (at) => `{"type":"resource_link","uri":"e://${at % shape.distinct}","name":"n"}`)),
    }),
  },
  'URIs repeated in texts': {
    server: 'small',
    isServed: true,
    most: 5000,
    make: ({ count, distinct }) => {
      const text = Array.from({ length: count }, (_, at) => `${KEPT}${at % distinct}`).join(' ');
      const files = many({ count: distinct, blank: '' }, (at) => `{"uri":"${KEPT}${at}","name":"n"}`);
      return { answer: content(`{"type":"text","text":"${text}"}`, `,"structuredContent":[${files}]`) };
    },
  },
  'wide structuredContent': {
    most: 120_000,
    make: (shape) => ({ answer: structured(`{"uri":"a://b",${many(shape, (at) => `"p${at}":1`)}}`) }),
  },
  'many blocks': {
    most: 30_000,
    make: (shape) => ({
      answer: content(
        `${many(shape, () => '{"type":"text","text":""}')},{"type":"image","mimeType":"image/png","data":"${BASE64}"}`,
      ),
    }),
  },
  'many empty blocks and a link': {
    most: 200_000,
    make: (shape) => ({ answer: content(`${many(shape, () => '[]')},{"type":"resource_link","uri":"e://1"}`) }),
  },
  'much around a file': {
    most: 200_000,
    make: (shape) => ({
      answer: content(
        `{"type":"image","mimeType":"image/png","data":"${BASE64}","_meta":{"a":[${many(shape, () => '1')}]}}`,
      ),
    }),
  },
  'deep nesting': {
    most: 3000,
    make: (shape) => ({
      answer: structured(`{"uri":"a://b","a":[${many(shape, () => '['.repeat(200) + ']'.repeat(200))}]}`),
    }),
  },
  'a long _meta': {
    most: 200_000,
    make: (shape) => ({ answer: content('', `,"_meta":{${many(shape, (at) => `"k${at}":1`)}}`) }),
  },
  'words in the name of Wharf': {
    most: 40_000,
    make: (shape) => ({ answer: content(many(shape, () => '{"_meta":{"dev.wharf/x":1}}')) }),
  },
  'a text of JSON': {
    most: 40_000,
    make: (shape) => {
      const text = `{"a":[${many(shape, () => '{"d":"AAAA"}')},"${BASE64}"]}`;
      return { answer: content(`{"type":"text","text":${JSON.stringify(text)}}`) };
    },
  },
  'lines in a text of JSON': {
    most: 100_000,
    make: ({ count }) => {
      const text = `{"a":"${BASE64}","b":"${LINE.repeat(count)}"}`;
      return { answer: content(`{"type":"text","text":${JSON.stringify(text)}}`) };
    },
  },
  'backslashes in a text of JSON': {
    most: 4_000_000,
    make: ({ count }) => {
      const text = `{"a":"zzzz${'\\'.repeat(count)}","b":"${BASE64}"}`;
      return { answer: content(`{"type":"text","text":${JSON.stringify(text)}}`) };
    },
  },
  'line breaks beside a file in a text that is JSON': {
    most: 4_500_000,
    make: ({ count }) => {
      const text = `{"mimeType":"image/png","data":"${BASE64}","log":"${'\\n'.repeat(count)}"}`;
      return { answer: content(`{"type":"text","text":${JSON.stringify(text)}}`) };
    },
  },
  'quotes beside a file in a text that is JSON': {
    most: 3_300_000,
    make: ({ count }) => {
      const text = `{"mimeType":"image/png","data":"${BASE64}","log":"${'\\"'.repeat(count)}"}`;
      return { answer: content(`{"type":"text","text":${JSON.stringify(text)}}`) };
    },
  },
  'blanks in a picture of an error': {
    most: 4_000_000,
    make: ({ count }) => ({
      answer: content(`{"type":"image","mimeType":"image/png","data":"${' '.repeat(count)}!"}`, ',"isError":true'),
    }),
  },
  'breaks in a picture of an error': {
    most: 2_000_000,
    make: ({ count }) => ({
      answer: content(`{"type":"image","mimeType":"image/png","data":"${'\\n'.repeat(count)}!"}`, ',"isError":true'),
    }),
  },
  'escapes in a picture of an error': {
    most: 1_000_000,
    make: ({ count }) => ({
      answer: content(`{"type":"image","mimeType":"image/png","data":"${'\\/\\n'.repeat(count)}!"}`, ',"isError":true'),
    }),
  },
  'blanks behind a doctype': {
    most: 4000,
    make: ({ count }) => {
      const file = Buffer.concat([Buffer.from(`<!DOCTYPE${'\t'.repeat(count)}`), Buffer.alloc(400_000, 'a')]);
      return { answer: content(`{"type":"image","mimeType":"image/png","data":"${file.toString('base64')}"}`) };
    },
  },
  'the same key of a result': {
    most: 70_000,
    make: (shape) => ({
      answer: `[${many({ count: 900, blank: '' }, (at) => result('{}', at))},${result(
        `{"isError":true,"a":[{"type":"image"}],${many(shape, () => '"content":[]')}}`,
      )}]`,
    }),
  },
  'the same structuredContent': {
    most: 70_000,
    make: (shape) => ({ answer: result(`{"content":[],${many(shape, () => '"structuredContent":{"a":1}')}}`) }),
  },
  'the same structuredContent with files': {
    most: 15_000,
    make: (shape) => ({
      answer: result(
        `{"content":[${IMAGE}],${many(shape, (at) => `"structuredContent":{"uri":"a://${at}","name":"n"}`)}}`,
      ),
    }),
  },
  'lists that are asked for together': {
    most: 1000,
    make: (shape) => ({
      request: `[${many(shape, (at) => `{"jsonrpc":"2.0","id":${at},"method":"tools/list"}`)}]`,
      answer: `[${many(shape, (at) => result(`{"tools":[${many({ count: 10, blank: '' }, (one) => `{"name":"t${one}"}`)}]}`, at))}]`,
    }),
  },
  'the same id': {
    most: 40_000,
    make: (shape) => ({ answer: `{"jsonrpc":"2.0","result":{},${many(shape, () => '"id":1')}}` }),
  },
  'answers to one request that refuse files': {
    most: 900,
    make: (shape) => ({
      answer: `[${many(shape, () => result('{"structuredContent":{"reason":"fileNotFound"}}'))}]`,
    }),
  },
  'values of one byte': { most: 200_000, make: ({ count }) => ({ answer: '1 '.repeat(count) + result('{}') }) },
  'events of one byte': { most: 50_000, make: ({ count }) => events('data:1\n\n'.repeat(count)) },
  blanks: { most: 4_000_000, make: ({ count }) => ({ answer: content(' '.repeat(count)) }) },
  'blanks behind': {
    most: 16_000,
    chunk: 1,
    make: ({ count }) => ({ answer: content('') + ' '.repeat(count) }),
  },
  'one byte after the other': {
    most: 2000,
    chunk: 1,
    make: (shape) => ({ answer: content(many(shape, () => '{"a":1}')) }),
  },
  'a batch': {
    most: 900,
    make: (shape) => ({
      request: `[${many(shape, (at) => `{"jsonrpc":"2.0","id":${at},"method":"tools/call","params":{"name":"n"}}`)}]`,
      answer: `[${many(shape, (at) => result(`{"content":[{"type":"resource_link","uri":"e://${at}"}]}`, at))}]`,
    }),
  },
  'answers to no request': {
    most: 15_000,
    make: (shape) => ({ answer: `[${many(shape, (at) => result('{}', at % shape.distinct))}]` }),
  },
  'small events': {
    most: 8000,
    make: ({ count }) => events('data: {"jsonrpc":"2.0","method":"n"}\n\n'.repeat(count)),
  },
  'small comments': { most: 30_000, make: ({ count }) => events(':\n'.repeat(count)) },
  'empty lines of data': { most: 150_000, make: ({ count }) => events('data:\n'.repeat(count)) },
  'a wide error': {
    most: 100_000,
    make: (shape) => ({
      answer: `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"m","data":{"reason":"fileNotFound",${many(shape, (at) => `"k${at}":1`)}}}}`,
    }),
  },
  'an initialize of very many values': {
    most: 100_000,
    make: (shape) => ({
      request:
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}',
      answer: result(
        `{"protocolVersion":"2025-06-18","capabilities":{"experimental":{${many(shape, (at) => `"k${at}":1`)}}}}`,
      ),
    }),
  },
};

const call = (args: string, more = '', id = '1') =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"take","arguments":${args}${more}}}`;

/** Requests, by what they are long of. */
export const REQUESTS: Readonly<Record<string, Attack>> = {
  'many arguments': {
    most: 150_000,
    make: (shape) => ({ request: call(`{${many(shape, (at) => `"a${at}":1`)}}`) }),
  },
  'the name of an object with many files': {
    most: 3_900_000,
    make: ({ count, blank }) => {
      const name = 'a'.repeat(count);
      const files = (value: string) => many({ count: 100, blank: '' }, (at) => `"f${at}":${value}`);
      const own = `"${name}":{"type":"object","properties":{${files('{"type":"string","contentEncoding":"base64"}')}}}`;
      return {
        tools: `[{"name":"take","inputSchema":{"type":"object","properties":{${own}}}}]`,
        request: call(`${blank}{"${name}":{${files('"data:text/plain;base64,YQ=="')}}}`),
      };
    },
  },
  'many values in a file argument': {
    most: 150_000,
    make: (shape) => ({ request: call(`{"f":[${many(shape, () => '"a"')}]}`) }),
  },
  'many empty arrays': { most: 700_000, make: (shape) => ({ request: call(`{"a":[${many(shape, () => '[]')}]}`) }) },
  'more empty arrays than a message may hold': {
    most: 1_500_000,
    make: (shape) => ({ request: call(`{"a":[${many(shape, () => '[]')}]}`) }),
  },
  'empty arrays, and one that is too deep': {
    most: 1_000_000,
    make: (shape) => ({
      request: call(`{"a":[${many(shape, () => '[]')},${'['.repeat(3000)}${']'.repeat(3000)}]}`),
    }),
  },
  'deep arguments': {
    most: 2000,
    make: (shape) => ({ request: call(`{"a":[${many(shape, () => '['.repeat(400) + ']'.repeat(400))}]}`) }),
  },
  'a long _meta': {
    most: 100_000,
    make: (shape) => ({ request: call('{}', `,"_meta":{${many(shape, (at) => `"k${at}":1`)}}`) }),
  },
  'a batch of odd ids': {
    most: 1000,
    make: (shape) => ({ request: `[${many(shape, (at) => call('{}', '', `${at}.5`))}]` }),
  },
  'a batch of long ids': {
    most: 1000,
    make: (shape) => ({ request: `[${many(shape, (at) => call('{}', '', `"${at}${'i'.repeat(1000)}"`))}]` }),
  },
  'a batch that is too long': {
    most: 20_000,
    make: (shape) => ({ request: `[${many(shape, (at) => call('{}', '', `${at}`))}]` }),
  },
  blanks: { most: 4_000_000, make: ({ count }) => ({ request: call(`${' '.repeat(count - 200)}{}`) }) },
  'one byte after the other': {
    most: 60_000,
    chunk: 1,
    make: ({ count }) => ({ request: call(`{"a":"${'a'.repeat(count)}"}`) }),
  },
  'lines in an argument': { most: 55_000, make: ({ count }) => ({ request: call(`{"a":"${LINE.repeat(count)}"}`) }) },
  'items of a list that may be files': {
    most: 9000,
    make: (shape) => ({
      request: `[${many({ count: 100, blank: '' }, (at) => call(`{"f":[${many(shape, () => '1')}],"g":"\\u0040"}`, '', `${at}`))}]`,
    }),
  },
  'addresses to complete': {
    most: 9000,
    make: (shape) => ({
      request: `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"n"},"argument":{"name":"a","value":"b"},"context":{"arguments":{${many(shape, (at) => `"k${at}":"https://a/f/f_AAAAAAAAAAAAAAAAAAAAAA"`)}}}}}`,
    }),
  },
  'equal keys': { most: 150_000, make: (shape) => ({ request: call(`{${many(shape, () => '"f":"a"')}}`) }) },
};
