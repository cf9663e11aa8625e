import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../gateway/errors.js';
import { parseMessages, readMessages } from '../../../gateway/mcp/request.js';
import { idIn } from '../../../gateway/mcp/request-id.js';
import { DEFAULT_LIMITS } from '../../../gateway/policy/limits.js';

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('the id of a request that is not parsed', () => {
  it.each([
    ['in front', `{"id":7,"method":"ping","params":${deep(5000)}}`, '7'],
    ['behind', ` \n{"params":{"id":1,"x":${deep(5000)}},"method":"ping","id":"a\\u0062"}`, '"ab"'],
    ['in a text of many lines', `{\n  "id": 7,\r\n  "method": "ping",\n  "params": ${deep(5000)}\n}\n`, '7'],
    ['of a text that breaks off', '{"id":7,"method":"ping","par', '7'],
    ['before a method that is a list', `{"id":7,"method":["ping"],"params":${deep(5000)}}`, '7'],
    ['behind a method that is an object', '{"method":{"ping":1},"id":7}', '7'],
    ['of an answer', `{"id":7,"result":${deep(5000)}}`, undefined],
    ['of an answer that breaks off', '{"jsonrpc": "2.0", "id":7, "result":{"x":[', undefined],
    ['of an error that is no JSON', '{"id":"a","jsonrpc":"2.0","error":{"code":}}', undefined],
    ['of a text that breaks off before its method', '{"id":7,"jsonrpc":"2.0","params":{"result":', '7'],
    ['of a notification', `{"method":"ping","params":${deep(5000)}}`, undefined],
    ['that is too deep itself', `{"id":${deep(5000)},"method":"ping"}`, undefined],
    ['of a batch', `[{"id":7,"method":"ping","params":${deep(5000)}}]`, undefined],
    ['of nothing', '', undefined],
  ])('is read: %s', (_where, text, id) => {
    expect(idIn([Buffer.from(text)])).toBe(id);
    expect(idIn([...text].map((char) => Buffer.from(char)))).toBe(id);
  });
});

describe('an id', () => {
  const parse = (id: string) => parseMessages(Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`));

  it.each([
    ['{}', 'an object'],
    ['{"a":1}', 'an object'],
    ['[1]', 'an array'],
    ['null', 'null'],
    ['true', 'a boolean'],
  ])('%s is refused', (id, kind) => {
    let thrown: unknown;
    try {
      parse(id);
    } catch (error) {
      thrown = error;
    }
    expect((thrown as GatewayError).toJsonRpc()).toMatchObject({
      code: -32600,
      message: `Invalid request: an id is a string or a number, and this one is ${kind}.`,
    });
    expect(thrown).toBeInstanceOf(GatewayError);
  });

  it.each(['0', '-1', '1.5', '""', '"x"'])('%s is taken', (id) => {
    expect(parse(id).requests).toMatchObject([{ id }]);
  });

  it('of an answer to the server is the server’s own affair', () => {
    expect(parseMessages(Buffer.from('{"jsonrpc":"2.0","id":{"a":1},"result":{}}')).requests).toEqual([]);
  });

  it.each(['12345678901234567890', '-9007199254740993', '1E400', '1.5', '"12345678901234567890"'])(
    '%s is the one that its client wrote',
    (id) => {
      expect(parse(id).requests[0]?.id).toBe(id);
      const batch = parseMessages(
        Buffer.from(`[{"id":1,"method":"ping"}, {"method":"ping","params":{"id":2},"id": ${id}}]`),
      );
      expect(batch.requests.map((request) => request.id)).toEqual(['1', id]);
    },
  );
});

describe('a batch of long ids', () => {
  it('is read once, not once for each of them', () => {
    const requests = Array.from({ length: 1000 }, (_, at) => `{"id":9007199254740993${at},"method":"ping"}`);
    const { requests: read } = parseMessages(Buffer.from(`[${requests.join(`,${' '.repeat(3000)}`)}]`));
    expect(read.map(({ id }) => id)).toEqual(requests.map((_, at) => `9007199254740993${at}`));
  });

  it('has at most limits.batch messages', async () => {
    for (const count of [1001, 60_000]) {
      const body = Buffer.from(`[${Array(count).fill('{"id":1,"method":"ping"}').join()}]`);
      await expect((async () => readMessages(body, DEFAULT_LIMITS))()).rejects.toMatchObject({
        code: 'batch_too_long',
        facts: { limit: 'limits.batch', allowed: 1000 },
      });
    }
  });
});
