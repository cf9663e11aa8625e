import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GatewayError } from '../../../gateway/errors.js';
import { parseMessages } from '../../../gateway/mcp/request.js';
import { runs } from '../../helpers/effort.js';

function refusal(text: string): string | undefined {
  try {
    parseMessages(Buffer.from(text));
    return undefined;
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'request_invalid') throw error;
    return error.message;
  }
}

const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}}}';

describe('a request that cannot be judged', () => {
  const named = (name: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${name}}}`;

  it.each([
    ['without an id', CALL.replace('"id":1,', ''), /tools\/call is a request, and this one has no id/],
    ['without one, in a batch', `[${CALL},${CALL.replace('"id":1,', '')}]`, /has no id/],
    ['in other letters', CALL.replace('tools/call', 'Tools/CALL'), /another spelling of "tools\/call"/],
    ['with a blank', CALL.replace('tools/call', 'tools/call '), /another spelling of "tools\/call"/],
    ['with what is not seen', CALL.replace('tools/call', 'tools\u200b/call'), /another spelling of "tools\/call"/],
    [
      'that goes on behind a NUL',
      CALL.replace('tools/call', 'tools/call\\u0000x'),
      /another spelling of "tools\/call"/,
    ],
    ['full-width', CALL.replace('tools/call', '\uff54ools/call'), /another spelling of "tools\/call"/],
    ['far behind blanks', CALL.replace('tools/call', `${' '.repeat(5000)}tools/call`), /at most 1000 characters/],
    ['with a list for a method', CALL.replace('"tools/call"', '["tools/call"]'), /a method is a text/],
    ['with a list for a method, and no id', '{"method":["tools/call"]}', /a method is a text/],
    ['with a list for a name', named('["a"]'), /params.name of tools\/call is a text/],
    ['with an object for a name', named('{"a":1}'), /params.name of tools\/call is a text/],
    ['with null for a name', named('null'), /params.name of tools\/call is a text/],
    [
      'with a list for a task',
      '{"id":1,"method":"tasks/get","params":{"taskId":["a"]}}',
      /params.taskId of tasks\/get/,
    ],
    ['with a list of parameters', '{"id":1,"method":"tools/call","params":["a"]}', /params is an object.* an array/],
    ['with a text for parameters', '{"id":1,"method":"tools/call","params":"a"}', /params is an object/],
  ])('is refused: one %s', (_, text, reason) => {
    expect(refusal(text)).toMatch(reason);
  });

  it.each([
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","method":"$/vendor"}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/callAsync"}',
    '{"jsonrpc":"2.0","id":1,"method":"Vendor/Call","params":null}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}',
  ])('is not one of a vendor, or without parameters: %s', (text) => {
    expect(refusal(text)).toBeUndefined();
  });
});

describe('a message that two parsers read in two ways', () => {
  it.each([
    ['a second method', '{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping"}', /names "method" twice/],
    ['a second id', '{"id":1,"jsonrpc":"2.0","id":2,"method":"ping"}', /names "id" twice/],
    ['a second params', '{"id":1,"method":"x","params":{},"params":{"a":1}}', /names "params" twice/],
    [
      'a second name',
      '{"id":1,"method":"x","params":{"name":"a","arguments":{},"name":"b"}}',
      /params names "name" twice/,
    ],
    ['any second key', '{"id":1,"method":"x","x":1,"x":1}', /names "x" twice/],
    ['one written with escapes', '{"id":1,"method":"x","\\u006dethod":"y"}', /names "method" twice/],
    [
      'one below params written with escapes',
      '{"id":1,"method":"x","p\\u0061rams":{"name":1,"name":2}}',
      /params names "name" twice/,
    ],
    ['a second _meta', '{"id":1,"method":"x","params":{"_meta":{},"_meta":{}}}', /names "_meta" twice/],
    [
      'a second key in _meta',
      '{"id":1,"method":"x","params":{"_meta":{"progressToken":1,"progressToken":2}}}',
      /_meta names "progressToken" twice/,
    ],
    ['one that is __proto__', '{"id":1,"method":"x","__proto__":1,"__proto__":2}', /names "__proto__" twice/],
    ['one in an answer of the client’s', '{"id":1,"result":{},"result":{"a":1}}', /names "result" twice/],
    ['one in a batch', `[${CALL},{"id":2,"method":"ping","method":"x"}]`, /names "method" twice/],
    [
      'one behind blanks and nested values',
      '\n{ "a":[{"id":1,"id":2},"}\\"{"], "b" : {"c":[1,2]} , "method":"x", "id":1 , "b": 2 }',
      /names "b" twice/,
    ],
    ['Method', '{"id":1,"method":"ping","Method":"tools/call"}', /"Method".*take for "method"/],
    ['METHOD alone', '{"id":1,"METHOD":"tools/call"}', /"METHOD".*take for "method"/],
    ['Id', '{"Id":1,"method":"ping"}', /"Id".*take for "id"/],
    ['jsonRPC', '{"jsonRPC":"2.0","id":1,"method":"ping"}', /take for "jsonrpc"/],
    ['Params', '{"id":1,"method":"x","Params":{"name":"b"}}', /take for "params"/],
    ['a long s in params', '{"id":1,"method":"x","param\u017f":{}}', /take for "params"/],
    ['Name', '{"id":1,"method":"tools/call","params":{"name":"a","Name":"b"}}', /params has the key "Name"/],
    ['Arguments', '{"id":1,"method":"tools/call","params":{"name":"a","ARGUMENTS":{}}}', /take for "arguments"/],
    [
      'a name that ends before a NUL',
      '{"id":1,"method":"tools/call","params":{"name\\u0000":"b","name":"a"}}',
      /params has the key "name\\u0000".*take for "name"/,
    ],
    ['a method before more', '{"id":1,"method":"ping","METHOD\\u0000x":"tools/call"}', /take for "method"/],
    ['a prototype', '{"id":1,"method":"x","__proto__":{"method":"tools/call"}}', /the message has the key "__proto__"/],
    ['one of params', '{"id":1,"method":"tools/call","params":{"__proto__":{"name":"b"}}}', /params has .*"__proto__"/],
    ['one with escapes, in _meta', '{"id":1,"params":{"_meta":{"\\u005f_proto__":{}}}}', /_meta has .*"__proto__"/],
    ['taskid', '{"id":1,"method":"tasks/get","params":{"taskid":"a"}}', /take for "taskId"/],
    [
      'a meta key in other letters',
      '{"id":1,"method":"x","params":{"_meta":{"IO.modelcontextprotocol/protocolVersion":"2026-07-28"}}}',
      /_meta has the key/,
    ],
    ['one of them in a batch', `[${CALL},{"id":2,"Method":"x"}]`, /take for "method"/],
  ])('is refused, and the key is named: %s', (_what, text, expected) => {
    expect(refusal(text)).toMatch(expected);
  });

  it.each([
    ['a plain call', CALL],
    [
      'keys of its own beside them',
      '{"jsonrpc":"2.0","id":1,"method":"x","Trace":1,"params":{"Model":"x","model":"y","URIs":[]}}',
    ],
    [
      'the same key at other depths',
      '{"id":1,"method":"x","params":{"id":1,"method":"y","params":{"id":2},"name":{"name":"name"}}}',
    ],
    // what a tool is given is the server's alone, byte for byte
    [
      'doubled and other letters within the arguments',
      '{"id":1,"method":"tools/call","params":{"name":"a","arguments":{"a":1,"a":2,"Name":1,"name":2}}}',
    ],
    ['names of keys in strings', '{"id":1,"method":"x","params":{"text":"\\"method\\":\\"y\\",\\"id\\":2}"}}'],
    ['two of a batch', `[${CALL},{"id":2,"method":"x"}]`],
  ])('is none: %s', (_what, text) => {
    expect(refusal(text)).toBeUndefined();
  });

  it('is told in a few words, however long its key is', () => {
    const key = 'k'.repeat(1_000_000);
    expect(refusal(`{"id":1,"method":"x","${key}":1,"${key}":2}`)?.length).toBeLessThan(300);
  });

  it('is found wherever it stands, and nothing else is', () => {
    const key = fc.constantFrom('id', 'method', 'params', 'x', 'a"b', 'é', '\\', 'Id', 'name', '_meta');
    const value = fc.jsonValue({ maxDepth: 3 });
    const members = fc.array(fc.tuple(key, value), { maxLength: 6 });
    const texted = (list: [string, unknown][], last: string[] = []) =>
      `{${[...list.map(([name, content]) => `${JSON.stringify(name)}: ${JSON.stringify(content)}`), ...last].join(' , ')}}`;
    fc.assert(
      fc.property(members, members, (own, params) => {
        const text = texted(own, [`"params":${texted(params)}`]);
        const outer = [...own.map(([name]) => name), 'params'];
        const inner = params.map(([name]) => name);
        const isDouble = (names: string[]) => new Set(names).size < names.length;
        const metas = params.filter(([name]) => name === '_meta').length;
        fc.pre(metas === 0 || params.every(([name, content]) => name !== '_meta' || typeof content !== 'object'));
        fc.pre(!outer.includes('id') || own.every(([name, content]) => name !== 'id' || typeof content === 'number'));
        // what is no text is refused as a method, whatever stands beside it
        fc.pre(own.every(([name, content]) => name !== 'method' || content === null || typeof content === 'string'));
        const isVariant = outer.includes('Id');
        expect(refusal(text) !== undefined).toBe(isDouble(outer) || isDouble(inner) || isVariant);
      }),
      { numRuns: runs(2000) },
    );
  });
});
