import { type Attack, asked, FILE, many, result } from './attacks.js';

const TEXT = '{"type":"string"}';
const FILE_ARGUMENT = `{"type":"string","format":"uri",${FILE}}`;

const tool = (name: string, properties: string, more = '') =>
  `{"name":"${name}","inputSchema":{"type":"object","properties":{${properties}}}${more}}`;
const tools = (list: string, more = '') => ({
  request: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  answer: result(`{"tools":[${list}]${more}}`),
});

/** Lists, by what they are long of. */
export const LISTS: Readonly<Record<string, Attack>> = {
  'a tool of many properties': {
    most: 200_000,
    make: (shape) =>
      tools(
        tool(
          't',
          many(shape, (at) => `"p${at}":${TEXT}`),
        ),
      ),
  },
  'a tool of many files': {
    most: 15_000,
    make: (shape) =>
      tools(
        tool(
          't',
          many(shape, (at) => `"p${at}":${FILE_ARGUMENT}`),
        ),
      ),
  },
  'files among many siblings': {
    most: 4200,
    make: (shape) =>
      tools(
        tool(
          't',
          `${many(shape, (at) => `"p_${at}_name":${TEXT}`)},${many({ count: 100, blank: '' }, (at) => `"f${at}":${FILE_ARGUMENT}`)}`,
        ),
      ),
  },
  'many tools with files': {
    most: 400,
    make: (shape) =>
      tools(
        many(shape, (at) =>
          tool(`t${at}`, `${many({ count: 10, blank: '' }, (p) => `"p${p}":${FILE_ARGUMENT}`)},"s":${TEXT}`),
        ),
      ),
  },
  'the name of an object with many files': {
    most: 1_000_000,
    make: ({ count, blank }) => {
      const files = many({ count: 100, blank: '' }, (at) => `"f${at}":${FILE_ARGUMENT}`);
      return tools(blank + tool('t', `"${'a'.repeat(count)}":{"type":"object","properties":{${files}}}`));
    },
  },
  'the names of a file and of the object around it': {
    most: 3_500_000,
    make: ({ count, blank }) => {
      const name = 'é'.repeat(count);
      return tools(blank + tool('t', `"${name}":{"type":"object","properties":{"${name}":${FILE_ARGUMENT}}}`));
    },
  },
  'many small tools': { most: 40_000, make: (shape) => tools(many(shape, (at) => tool(`t${at}`, `"p":${TEXT}`))) },
  'many schemas of results': {
    most: 25,
    make: (shape) =>
      tools(
        many(shape, (at) => {
          const members = many(
            { count: 800, blank: '' },
            (p) => `"p${p}":{"type":"string","contentEncoding":"base64"}`,
          );
          return tool(`t${at}`, '', `,"outputSchema":{"type":"object","properties":{${members}}}`);
        }),
      ),
  },
  'references to a large schema': {
    most: 100,
    make: (shape) => {
      const members = many({ count: 4000, blank: '' }, (at) => `"m${at}":{}`);
      return tools(
        tool(
          't',
          `${many(shape, (at) => `"p${at}":{"$ref":"#/properties/x"}`)},"x":{"$ref":"#/properties/x",${FILE},${members}}`,
        ),
      );
    },
  },
  'unions that compare many types': {
    most: 4900,
    make: (shape) => {
      const types = (name: string) => `{"type":[${many(shape, (at) => `"${name}${at}"`)}]}`;
      const schema = `{"oneOf":[${types('a')},${types('b')}],"properties":{"x":{"contentEncoding":"base64"}}}`;
      return tools(tool('t', '', `,"outputSchema":${schema}`));
    },
  },
  'unions of long references': {
    // with more of them the tool is not read to its files
    most: 1000,
    make: (shape) => {
      const files = many({ count: 100, blank: '' }, (at) => `"f${at}":${FILE_ARGUMENT}`);
      const way = `${'{"a":'.repeat(250)}{}${'}'.repeat(249)}`.slice(1);
      const union = many(shape, () => `{"$ref":"#${'/a'.repeat(250)}"}`);
      const own = `{"type":"object","properties":{${files}},"anyOf":[${union},{"properties":{${files}}}],${way}}`;
      return tools(`{"name":"t","inputSchema":${own}}`);
    },
  },
  'one argument that is named many times': {
    most: 3000,
    make: (shape) => {
      const back = '{"$ref":"#/$defs/n"}';
      const union = `"$defs":{"n":{"anyOf":[${many({ count: 2000, blank: '' }, () => back)}]}}`;
      const names = `"_meta":{"openai/fileParams":[${many(shape, () => '"a"')}]}`;
      return tools(`{"name":"t","inputSchema":{"properties":{"a":${back}},${union}},${names}}`);
    },
  },
  'files with one long list of types that they accept': {
    most: 900,
    make: (shape) => {
      const files = many({ count: 100, blank: '' }, (at) => `"p${at}":{"$ref":"#/x"}`);
      const accept = many(shape, (at) => `"image/${'a'.repeat(60)}${at}"`);
      const file = `{"type":"string","format":"uri","x-mcp-file":{"accept":[${accept}]}}`;
      return tools(`{"name":"t","inputSchema":{"properties":{${files}},"x":${file}}}`);
    },
  },
  'many resources': {
    most: 30_000,
    make: (shape) => asked('resources/list', result(`{"resources":[${many(shape, (at) => `{"uri":"a://${at}"}`)}]}`)),
  },
  'many prompts': {
    most: 30_000,
    make: (shape) => asked('prompts/list', result(`{"prompts":[${many(shape, (at) => `{"name":"p${at}"}`)}]}`)),
  },
};
