import { describe, expect, it } from '@jest/globals';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { Ajv } from 'ajv';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const TEXT = { type: 'string' };
const COUNT = 100;
const LETTERS = '^[A-Za-z0-9+/=]*$';

/** File arguments in every place and of every kind, one tool each. */
const KINDS: readonly ((index: number) => Json)[] = [
  () => ({ file: { ...TEXT, contentEncoding: 'base64', pattern: LETTERS } }),
  (index) => ({ file: { ...TEXT, format: 'uri', 'x-mcp-file': { maxSize: index + 1 } } }),
  () => ({ files: { type: 'array', items: { ...TEXT, contentEncoding: 'base64' }, maxItems: 3 } }),
  () => ({ doc: { type: 'object', properties: { data: { ...TEXT, contentEncoding: 'base64' }, note: TEXT } } }),
  // as zod writes two patterns
  () => ({
    file: {
      ...TEXT,
      contentEncoding: 'base64',
      allOf: [
        { ...TEXT, pattern: LETTERS },
        { ...TEXT, pattern: '^.{4,}$' },
      ],
    },
  }),
  () => ({ file: { allOf: [{ ...TEXT, contentEncoding: 'base64' }, { pattern: LETTERS }] } }),
  () => ({ file: { ...TEXT, contentEncoding: 'base64', anyOf: [{ maxLength: 0 }, { pattern: LETTERS }] } }),
  () => ({ file: { ...TEXT, contentEncoding: 'base64', not: { pattern: ':' } } }),
  // as pydantic writes what is added to an optional field
  () => ({ file: { contentEncoding: 'base64', pattern: LETTERS, anyOf: [TEXT, { type: 'null' }] } }),
  () => ({ file: { anyOf: [{ ...TEXT, contentEncoding: 'base64' }, { type: 'null' }] } }),
  () => ({ file: { ...TEXT, format: 'uri', 'x-mcp-file': { transferModes: ['upload'] } }, name: TEXT }),
];

const TOOLS = Array.from({ length: COUNT }, (_, index) => ({
  name: `tool${index}`,
  inputSchema: { type: 'object', properties: KINDS[index % KINDS.length]?.(index) },
}));

/** The schemas that Wharf shows of such tools. */
async function shown(): Promise<{ name: string; inputSchema: Json }[]> {
  const upstream = await RecordingUpstream.start({ tools: TOOLS });
  const wharf = await startWharf({ servers: { s: { url: upstream.url, transport: 'streamable-http' } } });
  const { result } = await (await RawClient.connect(wharf.mcp)).request('tools/list');
  await wharf.stop();
  await upstream.stop();
  const tools = result?.tools as { name: string; inputSchema: Json }[];
  return tools.filter(({ name }) => name.startsWith('tool'));
}

describe('what Wharf shows of file arguments (2356-42)', () => {
  it('compiles in a strict validator that knows the keyword, and takes a handle there', async () => {
    const tools = await shown();
    expect(tools).toHaveLength(COUNT);
    const ajv = new Ajv({ strict: true, allowUnionTypes: true });
    ajv.addKeyword({ keyword: 'x-mcp-file', schemaType: 'object' });
    ajv.addFormat('uri', true);
    for (const { name, inputSchema } of tools) {
      const validate = ajv.compile(inputSchema);
      const text = JSON.stringify(inputSchema);
      expect(text.match(/"x-mcp-file"/g)).toHaveLength(1);
      expect(text).not.toContain('contentEncoding');
      const handle = 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA';
      const args = { file: handle, files: [handle], doc: { data: handle } };
      expect([name, validate(args), validate.errors]).toEqual([name, true, null]);
    }
  });

  it('compiles in the official SDK’s own validator as well, which has not been told', async () => {
    const validator = new AjvJsonSchemaValidator();
    const tools = await shown();
    expect(tools.length).toBeGreaterThan(0);
    for (const { inputSchema } of tools) {
      const validate = validator.getValidator(inputSchema);
      expect(validate({ file: 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA' }).errorMessage).toBeUndefined();
    }
  });
});
