import { describe, expect, it } from '@jest/globals';
import { FILLED_WITH_NAME } from '../../../gateway/policy/file-words.js';
import type { JsonObject } from '../../../gateway/ports/json.js';
import { withNameCompanions } from '../../../gateway/tools/companions.js';
import { requiredOf } from '../../../gateway/tools/required.js';

const TEXT = { type: 'string' };
const toolOf = (properties: JsonObject, required: string[] = []): JsonObject => ({
  name: 't',
  inputSchema: { type: 'object', properties, required },
});
/** The arguments that take the names of these files. */
const namesIn = (properties: JsonObject, ...files: string[]) =>
  withNameCompanions(
    toolOf(properties),
    files.map((file) => ({
      path: [file],
      declaredBy: 'mcp-inline',
      deliveries: [{ kind: 'encoded' as const, encoding: 'base64' as const }],
      companions: {},
    })),
  ).map(({ companions }) => companions.name);

describe('the argument for the name of a file', () => {
  it('may be called for no file in particular only beside a single one', () => {
    expect(namesIn({ photo: TEXT, filename: TEXT }, 'photo')).toEqual(['filename']);
    expect(namesIn({ photo: TEXT, scan: TEXT, filename: TEXT }, 'photo', 'scan')).toEqual([undefined, undefined]);
  });

  it('is not one that is a file itself', () => {
    expect(namesIn({ photo: TEXT, photo_name: TEXT }, 'photo', 'photo_name')).toEqual([undefined, undefined]);
  });

  it('is the first of several in the order of the tool', () => {
    expect(namesIn({ photo: TEXT, photo_filename: TEXT, photo_name: TEXT }, 'photo')).toEqual(['photo_filename']);
    expect(namesIn({ photo: TEXT, photo_name: TEXT, photo_filename: TEXT }, 'photo')).toEqual(['photo_name']);
  });

  it('is beside a single file the only one whose description says that it is filled with a name', () => {
    const told = { type: 'string', description: `The title. ${FILLED_WITH_NAME}` };
    expect(namesIn({ photo: TEXT, title: told }, 'photo')).toEqual(['title']);
    expect(namesIn({ photo: TEXT, filename: TEXT, title: told }, 'photo')).toEqual(['title']);
    expect(namesIn({ photo: TEXT, title: told, label: told }, 'photo')).toEqual([undefined]);
    expect(namesIn({ photo: TEXT, title: { ...told, description: `${FILLED_WITH_NAME} Or not.` } }, 'photo')).toEqual([
      undefined,
    ]);
    expect(namesIn({ photo: TEXT, title: { ...told, enum: ['a'] } }, 'photo')).toEqual([undefined]);
    expect(namesIn({ photo: TEXT, scan: TEXT, title: told }, 'photo', 'scan')).toEqual([undefined, undefined]);
    expect(namesIn({ photo: TEXT, title: { ...told, type: 'array', items: TEXT } }, 'photo')).toEqual([undefined]);
  });

  it('takes any text', () => {
    expect(namesIn({ photo: TEXT, photo_name: { type: 'string', enum: ['a', 'b'] } }, 'photo')).toEqual([undefined]);
    expect(namesIn({ photo: TEXT, photo_name: { type: 'string', const: 'a' } }, 'photo')).toEqual([undefined]);
  });
});

describe('a file that a tool requires', () => {
  it('may be null where its schema says so in either way', () => {
    const takesNull = (schema: JsonObject) => requiredOf(toolOf({ a: schema }, ['a']), ['a'])?.takesNull;
    expect([TEXT, { type: ['string', 'null'] }, { ...TEXT, nullable: true }].map(takesNull)).toEqual([
      false,
      true,
      true,
    ]);
  });
});
