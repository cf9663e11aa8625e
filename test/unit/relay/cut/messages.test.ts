import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../../gateway/errors.js';
import type { ObjectStore } from '../../../../gateway/ports/object-store.js';
import type { StateStore } from '../../../../gateway/ports/state-store.js';
import { someBytes } from '../../../helpers/bytes.js';
import { call, framed, inPieces, NO_LEAKS, RelayLab, request } from '../relay-lab.js';

const LIMITS = { inlineImage: 300, inlineOther: 90, inlineResource: 600, file: 10_000, spool: 400, response: 60_000 };
const KINDS = ['json', 'sse', 'lines'] as const;
const image = () => `{"type":"image","data":"${someBytes(1300).toString('base64')}","mimeType":"image/png"}`;
const answer = (id: number | string, content: string) =>
  `{"result":{"content":[${content}]},"jsonrpc":"2.0","id":${id}}`;
const TEXT = '{"type":"text","text":"t"}';
const FILES = 'dev.wharf/files';

describe('a batch', () => {
  const list = (id: number) =>
    `{"id":${id},"result":{"tools":[{"name":"t","outputSchema":{"properties":{"d":{"contentEncoding":"base64"}}}}]}}`;
  const notification = '{"method":"notifications/progress","params":{"progressToken":1,"progress":1}}';

  it('each result is judged by its own request', async () => {
    for (const kind of KINDS) {
      const lab = new RelayLab({ limits: LIMITS });
      const completion = answer(3, image());
      const body = `[${notification},${list(1)} , ${answer(2, image())},${completion}]`;
      const requests = [request('1', 'tools/list'), call('2'), request('3', 'completion/complete')];
      const { text } = await lab.relay(inPieces(framed(body, kind), 500), kind, requests);
      const [first, tools, cut, other] = JSON.parse(text);
      expect(first).toEqual(JSON.parse(notification));
      expect(tools.result.tools[0].outputSchema).toEqual({ properties: { d: {} } });
      expect(cut.result._meta[FILES]).toEqual([expect.objectContaining({ contentIndex: 0, name: 't-1.png' })]);
      expect(other).toEqual(JSON.parse(completion));
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });

  it('finds the requests of ids that the server spells in its own way', async () => {
    for (const [asked, answered] of [
      ['"a/b"', '"a\\/b"'],
      ['"é"', '"\\u00e9"'],
      ['1', '1.0'],
      ['10', '1e1'],
    ] as const) {
      const lab = new RelayLab({ limits: LIMITS });
      const completion = `[${answer(answered, image())}]`;
      expect((await lab.relay([Buffer.from(completion)], 'json', [request(asked, 'completion/complete')])).text).toBe(
        completion,
      );
    }
  });

  it('that fails is an error for each of its requests, not for what the server asks in it', async () => {
    const lab = new RelayLab({ limits: LIMITS });
    const asks = '{"method":"sampling/createMessage","params":{},"id":9}';
    const body = `[${answer(1, TEXT)},${asks},${answer('"two"', `{"type":"image","data":"${'!'.repeat(900)}"}`)}]`;
    const { text } = await lab.relay(inPieces(body, 500), 'json', [call('1'), call('"two"')]);
    expect(JSON.parse(text)).toEqual([
      expect.objectContaining({ id: 1, error: expect.objectContaining({ code: -32603 }) }),
      expect.objectContaining({ id: 'two', error: expect.objectContaining({ code: -32603 }) }),
    ]);
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  });
});

describe('broken JSON', () => {
  it.each([
    ['trailing garbage', `${answer(1, TEXT)} garbage`],
    ['two documents without a space', `${answer(1, TEXT)}${answer(2, TEXT)}`],
    ['an unquoted key', '{a:1}'],
    ['a trailing comma', '{"id":1,"result":{"content":[1,]}}'],
    ['NaN', '{"id":1,"result":NaN}'],
    ['a raw control character', '{"id":1,"result":"\u0001"}'],
    ['a NUL byte', '{"id":1,"result":\u0000}'],
    ['a byte order mark', `\ufeff${answer(1, TEXT)}`],
    ['a comment', '{"id":1/* one */,"result":{}}'],
    ['single quotes', "{'id':1}"],
    ['a slot that breaks off', `{"id":1,"result":{"content":[{"data":"AAAA${'A'.repeat(200)}\n`],
  ])('%s passes as it came', async (_, body) => {
    for (const size of [1, 9, Number.MAX_SAFE_INTEGER]) {
      const lab = new RelayLab({ limits: LIMITS });
      const { text, error } = await lab.relay(inPieces(framed(body, 'sse').replace(/\n$/, '\n\n'), size), 'sse');
      expect(error).toBeUndefined();
      expect(text).toBe(body.trimEnd());
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });

  it.each([
    ['a file before the fault', `{"id":1,"result":{"content":[${image()}],"x":nope}}`],
    ['a file before the fault, and no id', `{"result":{"content":[${image()}],"x":nope},"id":1}`],
    ['a file, and something after the value', `{"id":1,"result":{"content":[${image()}]}} {}`],
  ])('%s: an error, and nothing is kept', async (_, body) => {
    for (const kind of ['sse', 'lines'] as const) {
      const lab = new RelayLab({ limits: LIMITS });
      const { text } = await lab.relay(inPieces(framed(body, kind), 50), kind);
      expect(JSON.parse(text)).toMatchObject({ id: 1, error: { data: { code: 'upstream_invalid' } } });
      expect(await lab.keys()).toEqual([]);
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });

  it('a body that ends anywhere leaves nothing', async () => {
    const body = answer(1, image());
    for (let end = 1; end < body.length - 1; end += 23) {
      const lab = new RelayLab({ limits: LIMITS });
      const { messages, error } = await lab.relay(inPieces(body.slice(0, end), 100));
      expect(messages).toEqual([]);
      expect(error).toMatchObject({ code: 'upstream_invalid' });
      expect(await lab.keys()).toEqual([]);
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });
});

describe('an event stream that ends inside a frame', () => {
  it('leaves nothing of it, wherever that is', async () => {
    const whole = framed(answer(1, TEXT), 'sse');
    const body = whole + framed(answer(2, image()), 'sse');
    for (let end = whole.length + 1; end < body.length; end += 23) {
      const lab = new RelayLab({ limits: LIMITS });
      const { messages, error } = await lab.relay(inPieces(body.slice(0, end), 100), 'sse');
      expect([error, messages.map(String)]).toEqual([undefined, [answer(1, TEXT)]]);
      expect(await lab.keys()).toEqual([]);
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });
});

describe('a store that fails', () => {
  const later = answer(2, image());
  const broken = new GatewayError('store_unavailable');

  function failing(store: ObjectStore, where: string, once: { done: boolean }): ObjectStore {
    const fail = (here: string) => {
      if (here !== where || once.done) return;
      once.done = true;
      throw broken;
    };
    return {
      ...store,
      async create(key, signal) {
        fail('create');
        const writer = await store.create(key, signal);
        return {
          async write(part) {
            fail('write');
            await writer.write(part);
          },
          async writeLast(part) {
            fail('last write');
            await writer.writeLast(part);
          },
          async commit() {
            fail('commit');
            await writer.commit();
          },
          async abort() {
            await writer.abort();
          },
        };
      },
    };
  }

  it.each(['create', 'write', 'last write', 'commit'])(
    'at %s: an error for that request, and the next message is cut as ever',
    async (where) => {
      for (const kind of KINDS) {
        for (const size of [100, Number.MAX_SAFE_INTEGER]) {
          const once = { done: false };
          const lab = new RelayLab({ limits: LIMITS, wrapObjects: (store) => failing(store, where, once) });
          const first = answer(1, `${image()},${image()}`);
          const both = kind === 'json' ? `${first} ${later}` : framed(first, kind) + framed(later, kind);
          const { messages, error } = await lab.relay(inPieces(both, size), kind, [call('1'), call('2')]);
          expect(error).toBeUndefined();
          const [failed, cut] = messages.map((bytes) => JSON.parse(String(bytes)));
          expect(failed).toMatchObject({ id: 1, error: { data: { code: 'store_unavailable' } } });
          expect(cut.result._meta[FILES]).toHaveLength(1);
          expect(await lab.keys()).toHaveLength(1);
          expect(await lab.leaks()).toEqual(NO_LEAKS);
        }
      }
    },
  );

  it.each(['create', 'read', 'extend'] as const)('the state at %s: the same', async (verb) => {
    const down = new GatewayError('state_unavailable');
    let left = 0;
    const wrapState = (store: StateStore): StateStore => ({
      ...store,
      [verb]: (...args: never[]) => {
        if (left-- > 0) return Promise.reject(down);
        return (store[verb] as (...all: never[]) => Promise<never>)(...args);
      },
    });
    const lab = new RelayLab({ limits: LIMITS, wrapState });
    const same = image();
    await lab.relay([Buffer.from(answer(1, same))]);
    left = 1;
    // the same bytes in the same place are the file that exists already, whose life is extended
    const { text } = await lab.relay([Buffer.from(answer(1, `${verb === 'extend' ? same : image()},${image()}`))]);
    expect(JSON.parse(text)).toMatchObject({ id: 1, error: { data: { code: 'state_unavailable' } } });
    left = 0;
    expect(await lab.leaks()).toEqual(NO_LEAKS);
    const again = await lab.relay([Buffer.from(answer(1, same))]);
    expect(again.text).toContain(FILES);
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  });

  it('the state that fails and yet has done it: what the next client is told exists, exists', async () => {
    const down = new GatewayError('state_unavailable');
    for (let step = 1; step <= 6; step++) {
      let steps = 0;
      const late =
        <A extends unknown[], R>(verb: (...args: A) => Promise<R>) =>
        async (...args: A): Promise<R> => {
          const done = await verb(...args);
          steps += 1;
          if (steps === step) throw down;
          return done;
        };
      const wrapState = (store: StateStore): StateStore => ({
        ...store,
        create: late(store.create),
        replace: late(store.replace),
        extend: late(store.extend),
      });
      const lab = new RelayLab({ limits: LIMITS, wrapState });
      const same = answer(1, image());
      for (let round = 1; round <= 4; round++) {
        const { text } = await lab.relay([Buffer.from(same)]);
        const { result, error } = JSON.parse(text);
        if (error && round < 4) expect(error.data.code).toBe('state_unavailable');
        else expect(await lab.at(result._meta[FILES][0].url)).toHaveLength(1300);
      }
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });
});
