import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { answerBack } from '../../../../gateway/relay/channels/rename-ids.js';

const back = (line: string, id = '17', original = '"mine"') => {
  const pieces = answerBack(Buffer.from(line), id, original);
  return pieces && Buffer.concat(pieces).toString();
};

/** The orders in which official SDKs write an answer. */
const ORDERS: Record<string, (id: string, result: string) => string> = {
  TypeScript: (id, result) => `{"result":${result},"jsonrpc":"2.0","id":${id}}`,
  'Python, Go and Java': (id, result) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`,
  'C#': (id, result) => `{"result":${result},"id":${id},"jsonrpc":"2.0"}`,
  'a server that begins with it': (id, result) => `{"id":${id},"result":${result},"jsonrpc":"2.0"}`,
};

describe.each(Object.entries(ORDERS))('a short answer in the order of %s', (_, write) => {
  it('gets its client’s own id, and every other byte stays', () => {
    // a key `id` below, whatever it is, is for the reader
    const value = fc.jsonValue().map((one) => JSON.stringify(one));
    fc.assert(
      fc.property(value, fc.constantFrom('"mine"', '7', '"1\\u0031"'), fc.nat(), (result, original, id) => {
        const isPlain = !result.includes('"id":') && !result.includes('subscriptionId');
        expect(back(write(String(id), result), String(id), original)).toBe(
          isPlain ? write(original, result) : undefined,
        );
      }),
    );
  });

  it('gets it also where a text in it looks like one', () => {
    const text = JSON.stringify({ content: [{ type: 'text', text: '{"jsonrpc":"2.0","id":17}' }] });
    expect(back(write('17', text))).toBe(write('"mine"', text));
  });

  it.each([
    ['names another request', '{}', '18'],
    ['has such a key below', '{"structuredContent":{"id":17}}', '17'],
    ['tells of a subscription', '{"_meta":{"io.modelcontextprotocol/subscriptionId":17}}', '17'],
  ])('must be read where it %s', (_what, result, id) => {
    expect(back(write(id, result))).toBeUndefined();
  });
});

describe('a short answer must be read', () => {
  it.each([
    ['with blanks around its id', '{"jsonrpc":"2.0","id": 17,"result":{}}'],
    ['with blanks before it', '{ "jsonrpc":"2.0","id":17,"result":{}}'],
    ['with its id between others', '{"result":{},"id":17,"more":1,"jsonrpc":"2.0"}'],
    ['whose only plain id stands below', '{"\\u0069d":17,"result":{"id":17},"jsonrpc":"2.0"}'],
    ['whose id is a longer number', '{"jsonrpc":"2.0","id":170,"result":{}}'],
    ['whose id is in another spelling of the number', '{"jsonrpc":"2.0","id":17.0,"result":{}}'],
    ['whose id is a string', '{"jsonrpc":"2.0","id":"17","result":{}}'],
    ['whose key is in another spelling', '{"jsonrpc":"2.0","\\u0069d":17,"result":{}}'],
  ])('%s', (_, line) => {
    expect(back(line)).toBeUndefined();
  });
});
