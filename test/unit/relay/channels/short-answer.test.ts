import { describe, expect, it } from '@jest/globals';
import { mayLackAnswer, shortAnswer } from '../../../../gateway/relay/channels/short-answer.js';
import { call } from '../relay-lab.js';

const ANSWER = '{"result":{"content":[]},"jsonrpc":"2.0","id":1}';
const read = (text: string, kind: 'json' | 'sse' | 'lines' = 'json', requests = [call('1')]) =>
  shortAnswer(Buffer.from(text), kind, requests)?.message.toString();

describe('a short body is one answer', () => {
  it.each([
    ['as JSON', 'json', ANSWER],
    ['as an event', 'sse', `event: message\ndata: ${ANSWER}\n\n`],
    ['as an event without a type', 'sse', `data:${ANSWER}\n\n`],
    ['as an event whose lines end with CR LF', 'sse', `event: message\r\ndata: ${ANSWER}\r\n\r\n`],
  ] as const)('%s', (_, kind, text) => {
    expect(read(text, kind)).toBe(ANSWER);
  });
});

describe('a short body is not taken for one answer', () => {
  it.each([
    ['that can be resumed', 'sse', `id: 1\ndata: ${ANSWER}\n\n`],
    ['of another type', 'sse', `event: ping\ndata: ${ANSWER}\n\n`],
    ['of two events', 'sse', `data: ${ANSWER}\n\ndata: ${ANSWER}\n\n`],
    ['of several lines', 'sse', `data: ${ANSWER}\ndata: \n\n`],
    ['of several lines that end with CR LF', 'sse', `data: ${ANSWER}\ndata: \r\n\r\n`],
    ['that is broken, within a whole event', 'sse', `data: ${ANSWER.replace(']}', '}')}\n\n`],
    ['with a number that JSON has not', 'sse', `data: ${ANSWER.replace('[]', 'NaN')}\r\n\r\n`],
    ['with a line end of CR LF within it', 'sse', `data: ${ANSWER.replace(',', ',\r\n')}\r\n\r\n`],
    ['with a bare CR behind it', 'sse', `data: ${ANSWER}\rdata: ${ANSWER}\n\n`],
    ['of two events with CR LF', 'sse', `data: ${ANSWER}\r\n\r\ndata: ${ANSWER}\r\n\r\n`],
    ['that breaks off', 'sse', `data: ${ANSWER}\n`],
    ['of several values', 'json', `${ANSWER}${ANSWER}`],
    ['of a batch', 'json', `[${ANSWER}]`],
    ['that is broken', 'json', ANSWER.slice(0, -1)],
    ['to another request', 'json', ANSWER.replace('"id":1', '"id":2')],
    ['with the id in another spelling', 'json', ANSWER.replace('"id":1', '"id":"1"')],
    ['that is a request', 'json', '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}'],
    ['with neither a result nor an error', 'json', '{"jsonrpc":"2.0","id":1}'],
    ['that costs too much to look at', 'json', `{"result":[${'[],'.repeat(2000)}[]],"id":1}`],
    ['of lines', 'lines', ANSWER],
  ] as const)('%s', (_, kind, text) => {
    expect(read(text, kind)).toBeUndefined();
  });

  it('when several requests wait', () => {
    expect(read(ANSWER, 'json', [call('1'), call('2')])).toBeUndefined();
  });
});

describe('a short body may lack the answer', () => {
  const lacks = (text: string, requests = [call('1')]) => mayLackAnswer(Buffer.from(text), requests);

  it.each([
    ['where it has none', ': nothing\n\n'],
    ['where only a text speaks of one', 'data: {"method":"n","params":{"data":"\\"result\\""}}\n\n'],
    ['where the member is spelled with escapes', `data: ${ANSWER.replace('"result"', '"\\u0072esult"')}\n\n`],
  ])('%s', (_, text) => {
    expect(lacks(text)).toBe(true);
  });

  it('where several requests wait', () => {
    expect(lacks(`data: ${ANSWER}\n\n`, [call('1'), call('2')])).toBe(true);
  });

  it.each([ANSWER, '{"error":{"code":1,"message":""},"id":1}'])('but not where it is %s', (text) => {
    expect(lacks(`data: ${text}\n\n`)).toBe(false);
  });

  it('but not where nothing is awaited', () => {
    expect(lacks(': nothing\n\n', [])).toBe(false);
  });
});
