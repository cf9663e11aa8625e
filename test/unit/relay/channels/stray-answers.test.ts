import { describe, expect, it } from '@jest/globals';
import { plainlyAnswers } from '../../../../gateway/relay/channels/stray-answers.js';

const RESULT = '"result":{"id":8,"of":[{"id":9}]}';

describe('a short body', () => {
  it.each([
    ['the TypeScript SDK', `{${RESULT},"jsonrpc":"2.0","id":7}`],
    ['its event', `event: message\ndata: {${RESULT},"jsonrpc":"2.0","id":7}\n\n`],
    ['the Python SDK', `{"jsonrpc":"2.0","id":7,${RESULT}}`],
    ['its event', `event: message\r\ndata: {"jsonrpc":"2.0","id":7,${RESULT}}\r\n\r\n`],
    ["Python's json", `{"jsonrpc": "2.0", "id": 7, ${RESULT}}`],
    ["Python's json, with the id last", `{"jsonrpc": "2.0", ${RESULT}, "id": 7}`],
    ['the C# SDK', `{${RESULT},"id":7,"jsonrpc":"2.0"}`],
    ['an id that comes first', `{"id":7,"jsonrpc":"2.0",${RESULT}}`],
  ])('plainly answers a request as %s writes it', (_, text) => {
    const body = Buffer.from(text);
    expect(plainlyAnswers(body, '7')).toBe(true);
    for (const other of ['77', '"7"', '8', '9', '1']) expect(plainlyAnswers(body, other)).toBe(false);
    expect(plainlyAnswers(Buffer.from(text.replace('"id":7', '"id":17').replace('"id": 7', '"id": 17')), '7')).toBe(
      false,
    );
  });

  it.each([
    ['nothing', ''],
    ['an id within a result', '{"jsonrpc":"2.0","id":6,"result":{"id":7}}'],
    ['an id within a text', '{"jsonrpc":"2.0","id":6,"result":"\\"id\\":7}"}'],
    ['an id elsewhere', '{"jsonrpc":"2.0","result":{},"id":7,"x":1}'],
    ['a batch', '[{"jsonrpc":"2.0","result":{},"id":7}]'],
  ])('does not plainly answer it with %s', (_, text) => {
    expect(plainlyAnswers(Buffer.from(text), '7')).toBe(false);
  });
});
