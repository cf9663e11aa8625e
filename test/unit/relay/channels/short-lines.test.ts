import { describe, expect, it } from '@jest/globals';
import { ASSUMED_ERA } from '../../../../gateway/mcp/era.js';
import type { ClientFacts } from '../../../../gateway/ports/client.js';
import type { Asked } from '../../../../gateway/relay/caller.js';
import { PostStream } from '../../../../gateway/relay/channels/post-stream.js';
import { ShortLines } from '../../../../gateway/relay/channels/short-lines.js';
import { ChannelStreams } from '../../../../gateway/relay/channels/streams.js';
import { type Exchange, noFacts } from '../../../../gateway/relay/exchange.js';
import type { AnswerEdit, PendingRequest } from '../../../../gateway/relay/pending-request.js';
import type { Reply } from '../../../../gateway/relay/reply.js';
import { createReader } from '../../../../gateway/wire/json/reader.js';
import { call, inPieces, RelayLab, request } from '../relay-lab.js';

/** Less than what any short answer may have. */
const DEPTH = 20;
const lab = new RelayLab({ limits: { depth: DEPTH } });

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

const answer = (id: string, text = 'x') =>
  `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${text}"}]}}`;

interface Options {
  requests?: readonly PendingRequest[];
  client?: Partial<ClientFacts>;
  /** The client has gone. */
  gone?: boolean;
  /** Lines that may pass before one must wait. */
  most?: number;
}

const edited = (edit: Partial<AnswerEdit>) => ({ ...call('1'), edits: [{ apply: () => {}, ...edit }] });

/** Lines on their way: `passed` ones as they came, `read` ones through the reader. */
class Lines {
  readonly passed: string[] = [];
  readonly read: string[] = [];
  /** Both, in the order in which they left. */
  readonly all: string[] = [];
  readonly #lines: ShortLines;
  readonly #reader = createReader('lines', {
    tree: lab.deps.cut.tree,
    maxDepth: 100,
    maxHeld: 1_000_000,
    handler: {
      message: (message) => this.#came(this.read, message.skeleton().toString()),
      noise: (line) => this.#came(this.read, line.toString()),
    },
  });

  constructor({ requests = [call('1'), call('2'), call('"a"')], client = {}, gone = false, most = 100 }: Options = {}) {
    const streams = new ChannelStreams(false, { most: 10, ms: 1000, clock: { ticks: () => 0 }, givenUp: () => {} });
    const reply = { gone, begun: false, written: 0, onClose() {}, end() {} } as unknown as Reply;
    const exchange = { headers: {}, reply, facts: noFacts() } as unknown as Exchange;
    const facts = { protocolVersion: '2025-06-18', capabilities: {}, ...client };
    for (const one of requests) {
      const pending = new Map([[one.id, one]]);
      const asked = { exchange, client: facts, messages: { era: ASSUMED_ERA } } as unknown as Asked;
      streams.add(new PostStream(asked, pending, { head: 'later', deps: lab.deps }), pending);
    }
    this.#lines = new ShortLines({
      deps: lab.deps,
      streams,
      mayPass: () => this.passed.length < most,
      named: (line) => [line],
      pass: (pieces) => this.#came(this.passed, Buffer.concat(pieces).toString()),
      read: (bytes) => void this.#reader.feed(bytes),
      waits: () => undefined,
    });
  }

  feed(pieces: Iterable<Buffer>): this {
    for (const piece of pieces) this.#lines.feed(piece);
    return this;
  }

  #came(list: string[], text: string): void {
    list.push(text);
    this.all.push(text);
  }
}

const passedOf = (text: string, options?: Options) => new Lines(options).feed([Buffer.from(text)]).passed;

describe('a line passes as it came', () => {
  it.each([
    ['that answers a call', answer('1')],
    ['with an id that is a string', answer('"a"')],
    ['with blanks in it', `{ "jsonrpc" : "2.0" , "id" : 1 , "result" : { } } `],
    ['that is as deep as limits.depth', answer('1').replace('"text","text"', `"text","a":${nested(DEPTH - 4)},"text"`)],
    ['that is an error', '{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no"}}'],
  ])('%s', (_, line) => {
    expect(passedOf(`${line}\n`)).toEqual([line]);
  });

  it('that no edit of its answer can change', () => {
    const requests = [edited({ mayChange: (line) => line.includes('"y"') })];
    expect(passedOf(`${answer('1')}\n`, { requests })).toEqual([answer('1')]);
  });

  it('and those after it', () => {
    expect(passedOf(`${answer('1')}\n${answer('2')}\n`)).toEqual([answer('1'), answer('2')]);
  });
});

describe('a line is read', () => {
  it.each([
    ['that answers what was not asked', answer('3'), {}],
    ['with the id in another spelling', answer('"1"'), {}],
    ['with an id that another may be read as', answer('9007199254740993'), { requests: [call('9007199254740992')] }],
    ['that is a notification', '{"jsonrpc":"2.0","method":"notifications/message","params":{}}', {}],
    ['that is a request', '{"jsonrpc":"2.0","id":1,"method":"ping"}', {}],
    ['that is a batch', `[${answer('1')}]`, {}],
    ['that is not JSON-RPC', '{"id":1,"result":{}}', {}],
    ['that is broken', answer('1').slice(0, -1), {}],
    ['that is a print', `print ${answer('1')}`, {}],
    ['that ends with a carriage return', `${answer('1')}\r`, {}],
    ['that is long enough for a file', answer('1', 'x'.repeat(100_000)), {}],
    ['that tells of a file', answer('1', 'x').replace('"text"', '"resource_link"'), {}],
    ['that tells of a change', answer('1', 'notifications/tools/list_changed'), {}],
    ['with what only Wharf may say', answer('1').replace('"content"', '"_meta":{"dev.wharf/files":[]},"content"'), {}],
    ['that answers for a list of tools', answer('1'), { requests: [request('1', 'tools/list')] }],
    ['that answers a call whose answer is edited', answer('1'), { requests: [edited({})] }],
    ['that an edit may change', answer('1'), { requests: [edited({ mayChange: (line) => line.includes('"x"') })] }],
    ['that answers an image to a host that drops images', answer('1').replace('"text"', '"image"'), drops('images')],
    [
      'that is deeper than limits.depth',
      answer('1').replace('"text","text"', `"text","a":${nested(DEPTH)},"text"`),
      {},
    ],
    ['whose client has gone', answer('1'), { gone: true }],
    ['that must wait', answer('1'), { most: 0 }],
  ] as const)('%s', (_, line, options: Options) => {
    expect(passedOf(`${line}\n`, options)).toEqual([]);
  });

  it('after one that is read, because it may not overtake it', () => {
    const lines = new Lines().feed([Buffer.from(`${answer('3')}\n${answer('1')}\n`)]);
    expect([lines.passed, lines.read]).toEqual([[], [answer('3'), answer('1')]]);
  });

  it('when it only begins where a chunk does', () => {
    const lines = new Lines().feed([Buffer.from('a print of '), Buffer.from(`${answer('1')}\n${answer('2')}\n`)]);
    expect([lines.passed, lines.read]).toEqual([[answer('2')], [`a print of ${answer('1')}`]]);
  });
});

describe('lines', () => {
  const texts = [answer('1'), 'a print', answer('2'), answer('3'), '{"jsonrpc":"2.0","method":"x"}', answer('"a"')];
  const body = Buffer.from(texts.map((text) => `${text}\n`).join(''));

  it('come once each and in order, whole and byte by byte', () => {
    for (const size of [1, 2, 7, 64, body.length]) expect(new Lines().feed(inPieces(body, size)).all).toEqual(texts);
  });

  it('come once each and in order, cut anywhere', () => {
    for (let at = 1; at < body.length; at++) {
      expect(new Lines().feed([body.subarray(0, at), body.subarray(at)]).all).toEqual(texts);
    }
  });

  it('pass again after one that was cut', () => {
    const cut = [Buffer.from(answer('1').slice(0, 9)), Buffer.from(`${answer('1').slice(9)}\n${answer('2')}\n`)];
    expect(new Lines().feed(cut).passed).toEqual([answer('2')]);
  });

  it('that come while the reader waits are taken after it', async () => {
    const taken: string[] = [];
    let goOn = (): void => undefined;
    const waiting = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const streams = new ChannelStreams(false, { most: 10, ms: 1000, clock: { ticks: () => 0 }, givenUp: () => {} });
    const lines = new ShortLines({
      deps: lab.deps,
      streams,
      mayPass: () => true,
      named: (line) => [line],
      pass: () => {},
      read: (bytes) => {
        taken.push(bytes.toString());
        return taken.length === 2 ? waiting : undefined;
      },
      waits: () => undefined,
    });
    lines.feed(Buffer.from('{"a":'));
    const fed = lines.feed(Buffer.from('1}\n{"b":2}\n'));
    expect(taken).toEqual(['{"a":', '1}\n']);
    goOn();
    await fed;
    expect(taken).toEqual(['{"a":', '1}\n', '{"b":2}\n']);
  });
});

function drops(what: 'images'): Options {
  return { client: { host: { [what]: 'drop' } } as unknown as Partial<ClientFacts> };
}
