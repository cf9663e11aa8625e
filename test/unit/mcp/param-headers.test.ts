import { describe, expect, it } from '@jest/globals';
import { checkParamHeaders, paramHeadersFor, paramHeadersOf } from '../../../gateway/mcp/param-headers.js';

const declared = paramHeadersOf({
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    shard: { type: 'integer', 'x-mcp-header': 'Shard' },
    options: { type: 'object', properties: { dry: { type: 'boolean', 'x-mcp-header': 'Dry' } } },
    plain: { type: 'string' },
  },
});

describe('arguments that are repeated in headers', () => {
  it('are found through properties', () => {
    expect(declared).toEqual([
      { header: 'mcp-param-region', path: ['region'] },
      { header: 'mcp-param-shard', path: ['shard'] },
      { header: 'mcp-param-dry', path: ['options', 'dry'] },
    ]);
  });

  it.each(['a b', 'a\r\nx: y', 'ä', ''])('are not by the name %j, which no header can have', (name) => {
    const properties = { region: { type: 'string', 'x-mcp-header': name } };
    expect(paramHeadersOf({ type: 'object', properties })).toEqual([]);
  });

  it('are not what every object inherits', () => {
    const properties = { constructor: { type: 'string', 'x-mcp-header': 'Maker' } };
    const made = paramHeadersOf({ type: 'object', properties });
    expect(() => checkParamHeaders(made, {}, {})).not.toThrow();
    expect(paramHeadersFor(made, {})).toEqual({});
  });

  it.each([
    [
      'equal',
      { region: 'eu', shard: 7, options: { dry: true } },
      { 'mcp-param-region': 'eu', 'mcp-param-shard': '7', 'mcp-param-dry': 'true' },
    ],
    ['absent on both sides', { region: null }, {}],
    ['encoded', { region: '北' }, { 'mcp-param-region': `=?base64?${Buffer.from('北').toString('base64')}?=` }],
    ['the same integer', { shard: 7 }, { 'mcp-param-shard': '07' }],
    ['unknown to the schema', {}, { 'mcp-param-other': 'x' }],
  ])('pass when they are %s', (_how, args, headers) => {
    expect(() => checkParamHeaders(declared, args, headers)).not.toThrow();
  });

  it.each([
    ['another value', { region: 'eu' }, { 'mcp-param-region': 'us' }],
    ['another case', { region: 'eu' }, { 'mcp-param-region': 'EU' }],
    ['no header', { region: 'eu' }, {}],
    ['no argument', {}, { 'mcp-param-region': 'eu' }],
    ['another number', { shard: 7 }, { 'mcp-param-shard': '8' }],
    ['no number', { shard: 7 }, { 'mcp-param-shard': '7x' }],
  ])('are refused with %s', (_how, args, headers) => {
    expect(() => checkParamHeaders(declared, args, headers)).toThrow(
      expect.objectContaining({ code: 'header_mismatch', httpStatus: 400 }),
    );
  });
});
