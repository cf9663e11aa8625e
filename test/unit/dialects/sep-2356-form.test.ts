import { describe, expect, it } from '@jest/globals';
import { create as sep2356 } from '../../../adapters/dialects/sep-2356/index.js';
import type { JsonObject } from '../../../gateway/ports/json.js';

const KEYWORD = { 'x-mcp-file': { accept: ['image/png'] } };

/** The fields for files in a server's form. */
function filesIn(properties: JsonObject): string[] {
  const params = { mode: 'form', message: 'Give it', requestedSchema: { type: 'object', properties } };
  const question = sep2356().asks?.fromServer(params);
  if (question && !('files' in question)) throw new Error(question.problem);
  return question?.files.map(({ name }) => name) ?? [];
}

describe("SEP-2356: a server's form", () => {
  it.each<[string, JsonObject]>([
    ['a URI string', { type: 'string', format: 'uri', ...KEYWORD }],
    ['a string without format', { type: 'string', ...KEYWORD }],
    ['the items of a list', { type: 'array', items: { type: 'string', format: 'uri', ...KEYWORD } }],
    ['a list of strings', { type: 'array', items: { type: 'string', format: 'uri' }, ...KEYWORD }],
  ])('has a file where the keyword is on %s (2356-13)', (_what, scan) => {
    expect(filesIn({ scan, note: { type: 'string' } })).toEqual(['scan']);
  });

  it('has its fields whatever they are called', () => {
    const properties = JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"string"}}') as JsonObject;
    const requestedSchema = {
      properties: { scan: { type: 'string', ...KEYWORD }, ...properties },
      required: ['__proto__'],
    };
    const question = sep2356().asks?.fromServer({ message: 'Give it', requestedSchema });
    expect(question).toHaveProperty('besides', { properties, required: ['__proto__'] });
  });

  it.each<[string, JsonObject]>([
    ['a number', { type: 'integer', ...KEYWORD }],
    ['what is true or false', { type: 'boolean', ...KEYWORD }],
    ['a list of numbers', { type: 'array', items: { type: 'number' }, ...KEYWORD }],
    ['a field without a type', { ...KEYWORD }],
  ])('has none where it is on %s (2356-09)', (_what, scan) => {
    expect(filesIn({ scan })).toEqual([]);
  });
});
