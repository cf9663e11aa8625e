import { describe, expect, it } from '@jest/globals';
import { isError, isNotification, isRequest, isResponse, isResult } from '../../../gateway/wire/json-rpc.js';

const GUARDS = { isRequest, isNotification, isResult, isError, isResponse };

/** Names of the guards that say yes. */
function kinds(value: unknown): string[] {
  return Object.entries(GUARDS)
    .filter(([, guard]) => guard(value))
    .map(([name]) => name);
}

const message = (members: object) => ({ jsonrpc: '2.0', ...members });
const error = { code: -32603, message: 'no' };

describe('a JSON-RPC envelope', () => {
  it.each([
    [message({ id: 1, method: 'ping' }), ['isRequest']],
    [message({ id: 'a', method: 'tools/call', params: {} }), ['isRequest']],
    [message({ method: 'notifications/progress', params: {} }), ['isNotification']],
    [message({ id: 1, result: {} }), ['isResult', 'isResponse']],
    [message({ id: 1, error }), ['isError', 'isResponse']],
    [message({ id: null, error }), ['isError', 'isResponse']],
    [message({ error }), ['isError', 'isResponse']],
    [message({ id: null, method: 'ping' }), []],
    [message({ id: 1, method: 'ping', params: [1] }), []],
    [message({ id: 1, result: {}, error }), []],
    [message({ id: 1, result: 'text' }), []],
    [message({ id: {}, result: {} }), []],
    [message({ id: 1, error: { code: '1', message: 'no' } }), []],
    [{ id: 1, method: 'ping' }, []],
    [null, []],
    [[message({ id: 1, method: 'ping' })], []],
    ['ping', []],
  ])('%j is %j', (value, expected) => {
    expect(kinds(value)).toEqual(expected);
  });
});
