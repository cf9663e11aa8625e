import { describe, expect, it } from '@jest/globals';
import { ENCODINGS, PLACEHOLDERS } from '../../../gateway/encodings.js';
import { encodeFile } from '../../../gateway/files/encode/index.js';
import { configOf, problemsOf } from './load-text.js';

/** A config of one stdio server with one tool. */
const tool = (settings: string) => `servers: { a: { command: [node], tools: { t: { ${settings} } } } }\n`;
const files = (settings: string) => tool(`files: { ${settings} }`);
const SERVER = 'servers: { a: { url: "http://127.0.0.1:1/" }, b: { url: "http://127.0.0.1:2/" } }\n';
const AT = 'servers.a.tools.t.files';
const NAMES = { request: 'request_file_upload', link: 'get_file_link' };

describe('file arguments', () => {
  it('are read with all they can say', async () => {
    const { servers } = await configOf(`
servers:
  a:
    command: [node]
    tools:
      t:
        files:
          image_base64: { encoding: base64, accept: [image/png, image/*, .pdf], maxSize: 5MiB, name: filename, mimeType: mime, size: bytes }
          "pages[].data": { encoding: object, template: { data: $base64, size: $size, literal: [1, null, $$base64] } }
          "matrix[][]": { encoding: hex, name: "names[][]" }
        results: { text: json, files: [image.data, "pages[].data"] }
      bare: {}
`);
    expect(servers[0]?.tools).toEqual({
      t: {
        files: [
          {
            path: 'image_base64',
            encoding: 'base64',
            accept: ['image/png', 'image/*', '.pdf'],
            maxSize: 5 * 1024 * 1024,
            name: 'filename',
            mimeType: 'mime',
            size: 'bytes',
          },
          {
            path: 'pages[].data',
            encoding: 'object',
            template: { data: '$base64', size: '$size', literal: [1, null, '$$base64'] },
          },
          { path: 'matrix[][]', encoding: 'hex', name: 'names[][]' },
        ],
        results: { text: 'json', files: ['image.data', 'pages[].data'] },
      },
      bare: { files: [], results: { text: 'auto', files: [] } },
    });
  });

  it('of a tool that is not configured are not found on the map itself', async () => {
    const [server] = (await configOf(files('x: { encoding: base64 }'))).servers;
    for (const name of ['constructor', 'toString', '__proto__']) expect(server?.tools[name]).toBeUndefined();
  });

  it.each(Object.keys(ENCODINGS).filter((name) => name !== 'object'))('may be encoded as %s', async (encoding) => {
    const [server] = (await configOf(files(`x: { encoding: ${encoding} }`))).servers;
    expect(server?.tools.t?.files).toEqual([{ path: 'x', encoding }]);
  });
});

describe('a bad file argument is refused by name', () => {
  it.each([
    ['no encoding', 'x: {}', `${AT}.x.encoding`, /must be one of: base64, /],
    ['an unknown encoding', 'x: { encoding: base32 }', `${AT}.x.encoding`, /must be one of: base64, /],
    ['an unknown key', 'x: { encoding: hex, maxsize: 1 }', `${AT}.x.maxsize`, /did you mean "maxSize"/],
    ['nothing', 'x:', `${AT}.x`, /must be a map/],
    ['JSONPath', '"$.x": { encoding: hex }', `${AT}["$.x"]`, /must be a path such as/],
    ['a star', '"x[*]": { encoding: hex }', `${AT}["x[*]"]`, /must be a path such as/],
    ['an index', '"x[0]": { encoding: hex }', `${AT}["x[0]"]`, /must be a path such as/],
    ['an empty name', 'a..b: { encoding: hex }', `${AT}["a..b"]`, /must be a path such as/],
    ['a last dot', 'a.: { encoding: hex }', `${AT}["a."]`, /must be a path such as/],
    ['a list without a name', '"[].a": { encoding: hex }', `${AT}["[].a"]`, /must be a path such as/],
    ['a prototype', 'a.__proto__: { encoding: hex }', `${AT}["a.__proto__"]`, /__proto__/],
    ['a path without an end', `${'a.'.repeat(120)}a: { encoding: hex }`, `${AT}["${'a.'.repeat(32)}"]`, /too long/],
    ['an object without a template', 'x: { encoding: object }', `${AT}.x.template`, /is required with encoding object/],
    ['a template elsewhere', 'x: { encoding: hex, template: $hex }', `${AT}.x.template`, /only for encoding: object/],
    ['a template without the file', 'x: { encoding: object, template: { n: $name } }', `${AT}.x.template`, /must hold/],
    ['an escaped file', 'x: { encoding: object, template: [$$base64] }', `${AT}.x.template`, /must hold the file/],
    [
      'a mistyped placeholder',
      'x: { encoding: object, template: [$bas64] }',
      `${AT}.x.template`,
      /did you mean \$base64\?/,
    ],
    [
      'a placeholder unlike any',
      'x: { encoding: object, template: [$wrongest] }',
      `${AT}.x.template`,
      /known are \$base64/,
    ],
    [
      'a placeholder inside a text',
      'x: { encoding: object, template: [$hex, "a $name"] }',
      `${AT}.x.template`,
      /\$name inside another/,
    ],
    ['a number that JSON has not', 'x: { encoding: object, template: [$hex, .nan] }', `${AT}.x.template`, /JSON/],
    ['an empty accept', 'x: { encoding: hex, accept: [] }', `${AT}.x.accept`, /any file/],
    ['any type', 'x: { encoding: hex, accept: ["*/*"] }', `${AT}.x.accept[0]`, /media type/],
    [
      'a type with a parameter',
      'x: { encoding: hex, accept: [text/a, text/b;c=d] }',
      `${AT}.x.accept[1]`,
      /media type/,
    ],
    ['an ending without a dot', 'x: { encoding: hex, accept: [pdf] }', `${AT}.x.accept[0]`, /\.pdf/],
    ['a size of nothing', 'x: { encoding: hex, maxSize: 0 }', `${AT}.x.maxSize`, /must be a size/],
    [
      'more than a file may have',
      'x: { encoding: hex, maxSize: 101MiB }',
      `${AT}.x.maxSize`,
      /limits\.file, which is 100MiB/,
    ],
    ['a companion further down', 'x: { encoding: hex, name: a.b }', `${AT}.x.name`, /without dots/],
    ['one companion for a list', '"x[]": { encoding: hex, name: n }', `${AT}["x[]"].name`, /must end with \[\]/],
    ['a list for one companion', 'x: { encoding: hex, mimeType: "n[]" }', `${AT}.x.mimeType`, /must not end with \[\]/],
    ['itself for its companion', 'x: { encoding: hex, name: x }', `${AT}.x.name`, /is itself a file/],
    [
      'a file for its companion',
      'o.x: { encoding: hex, name: y }, o.y: { encoding: hex }',
      `${AT}["o.x"].name`,
      /itself a file/,
    ],
    ['one companion for two', 'x: { encoding: hex, name: n, size: n }', `${AT}.x.size`, /already filled from x/],
    [
      'two files for one companion',
      'x: { encoding: hex, name: n }, y: { encoding: hex, name: n }',
      `${AT}.y.name`,
      /already filled from x/,
    ],
    ['a file in a file', 'o: { encoding: hex }, "o.x[].y": { encoding: hex }', `${AT}["o.x[].y"]`, /is inside o,/],
  ])('%s', async (_name, text, path, message) => {
    expect(await problemsOf(files(text))).toEqual([
      expect.objectContaining({ path, message: expect.stringMatching(message) }),
    ]);
  });

  it('companions of the same name beside different files are fine', async () => {
    const text =
      '"a[].x": { encoding: hex, name: n }, "b[].x": { encoding: hex, name: n }, x: { encoding: hex, name: n }';
    expect(await problemsOf(files(text))).toEqual([]);
  });

  it.each(['localPath', 'fileUri'])('%s over HTTP', async (encoding) => {
    const text = `servers: { a: { url: "http://127.0.0.1:1/", tools: { t: { files: { x: { encoding: ${encoding} } } } } } }`;
    expect(await problemsOf(text)).toEqual([
      { path: `${AT}.x.encoding`, message: expect.stringContaining('only for stdio servers'), value: `"${encoding}"` },
    ]);
  });

  it("more than the server's own limit", async () => {
    const text = `servers: { a: { command: [n], limits: { file: 1MiB }, tools: { t: { files: { x: { encoding: hex, maxSize: 2MiB } } } } } }`;
    expect(await problemsOf(text)).toEqual([
      expect.objectContaining({ path: `${AT}.x.maxSize`, message: expect.stringContaining('which is 1MiB') }),
    ]);
  });

  it.each([
    ['results: { text: yaml }', 'servers.a.tools.t.results.text'],
    ['results: { files: ["$.x"] }', 'servers.a.tools.t.results.files[0]'],
    ['results: { paths: [x] }', 'servers.a.tools.t.results.paths'],
    ['file: {}', 'servers.a.tools.t.file'],
    ['files: []', AT],
  ])('%s', async (text, path) => {
    expect((await problemsOf(tool(text))).map((found) => found.path)).toEqual([path]);
  });

  it('with all other problems at once', async () => {
    const text = `servers:
  a:
    url: http://127.0.0.1:1/
    accepts: many
    tools:
      t:
        files:
          x: { encoding: localPath, template: {}, accept: [pdf], maxSize: 1GiB, name: x, more: 1 }
          "y[*]": { encoding: base6 }
handoff: [{ from: aa, to: "*", allow: never }]
clients: [{ match: {}, dialects: [latin] }]
`;
    expect((await problemsOf(text)).map(({ path }) => path).toSorted()).toEqual(
      [
        'clients[0].dialects[0]',
        'clients[0].match',
        'handoff[0].allow',
        'servers.a.accepts',
        `${AT}["y[*]"]`,
        `${AT}.x.accept[0]`,
        `${AT}.x.encoding`,
        `${AT}.x.maxSize`,
        `${AT}.x.more`,
        `${AT}.x.name`,
        `${AT}.x.template`,
        `${AT}.x.template`,
      ].toSorted(),
    );
  });
});

describe('the tools that Wharf adds', () => {
  it.each([
    ['', NAMES],
    ['uploadTool: off', 'off'],
    ['uploadTool: { link: give }', { ...NAMES, link: 'give' }],
  ])('are called the same on every server: %j', async (text, expected) => {
    const config = await configOf(SERVER + text);
    expect(config.uploadTool).toEqual(expected);
    for (const server of config.servers) expect(server.uploadTool).toEqual(expected);
  });

  it.each([
    ['off', '', 'off'],
    ['{ request: take }', 'uploadTool: { link: give }', { request: 'take', link: 'give' }],
    ['{ request: take }', 'uploadTool: off', { ...NAMES, request: 'take' }],
  ])('a server may say %s', async (own, text, expected) => {
    const config = await configOf(`servers: { a: { command: [node], uploadTool: ${own} } }\n${text}`);
    expect(config.servers[0]?.uploadTool).toEqual(expected);
  });

  it.each([
    ['uploadTool: on', 'uploadTool', /must be off, or a map/],
    ['uploadTool: [a]', 'uploadTool', /must be off, or a map/],
    ['uploadTool: { requst: a }', 'uploadTool.requst', /did you mean "request"/],
    ['uploadTool: { link: a/b }', 'uploadTool.link', /must be 1 to 64 of/],
    ['uploadTool: { link: request_file_upload }', 'uploadTool', /two different names/],
  ])('%s is refused', async (text, path, message) => {
    expect(await problemsOf(SERVER + text)).toEqual([
      expect.objectContaining({ path, message: expect.stringMatching(message) }),
    ]);
  });

  it("a server's name may not become the other's", async () => {
    const text = 'servers: { a: { command: [node], uploadTool: { link: x } } }\nuploadTool: { request: x }';
    expect((await problemsOf(text)).map(({ path }) => path)).toEqual(['servers.a.uploadTool']);
  });
});

describe('rules between servers', () => {
  it('are kept in their order', async () => {
    const rules = '[{ from: a, to: b, allow: true }, { from: "*", to: b, allow: false }]';
    expect((await configOf(`${SERVER}handoff: ${rules}`)).handoff).toEqual([
      { from: 'a', to: 'b', allow: true },
      { from: '*', to: 'b', allow: false },
    ]);
  });

  it.each([
    ['{ from: a, to: bb, allow: true }', 'handoff[0].to', /is not a server of this file; did you mean "b"/],
    ['{ from: nobody, to: b, allow: true }', 'handoff[0].from', /is not a server of this file/],
    ['{ from: a, allow: true }', 'handoff[0].to', /is required/],
    ['{ from: a, to: b }', 'handoff[0].allow', /is required/],
    ['{ from: a, to: b, allow: true, if: x }', 'handoff[0].if', /not a known key/],
  ])('%s is refused', async (rule, path, message) => {
    expect(await problemsOf(`${SERVER}handoff: [${rule}]`)).toEqual([
      expect.objectContaining({ path, message: expect.stringMatching(message) }),
    ]);
  });

  it('may name a server that has a problem of its own', async () => {
    const text = 'servers: { a: { url: x }, b: { command: [n] } }\nhandoff: [{ from: a, to: b, allow: false }]';
    expect((await problemsOf(text)).map(({ path }) => path)).toEqual(['servers.a.url']);
  });
});

describe('profiles of clients', () => {
  const KEYS = `auth: { use: apiKeys, keys: [{ name: ci, hash: "sha256:${'0'.repeat(64)}" }] }\n`;

  it('are read', async () => {
    const text = `${SERVER}${KEYS}clients: [{ match: { name: "codex-*", principal: ci }, dialects: [mcp-inline] }]`;
    expect((await configOf(text)).clients).toEqual([
      { match: { name: 'codex-*', principal: 'ci' }, dialects: ['mcp-inline'], host: {} },
    ]);
  });

  it('may say how a client asks its user', async () => {
    const text = `${SERVER}clients: [{ match: { name: x }, elicitation: [url] }, { match: { name: y }, elicitation: [] }]`;
    expect((await configOf(text)).clients).toEqual([
      { match: { name: 'x' }, dialects: [], elicitation: ['url'], host: {} },
      { match: { name: 'y' }, dialects: [], elicitation: [], host: {} },
    ]);
  });

  it('may say what a host shows of results', async () => {
    const host = '{ structured: drop, imageTypes: [image/png], text: { most: 50000 }, curl: true }';
    const text = `${SERVER}clients: [{ match: { name: x, version: ">=2 <3" }, like: vscode, host: ${host} }]`;
    expect((await configOf(text)).clients).toEqual([
      {
        match: { name: 'x', version: '>=2 <3' },
        dialects: [],
        like: 'vscode',
        host: {
          structured: 'drop',
          imageTypes: ['image/png'],
          text: { most: 50_000, unit: 'characters', per: 'block' },
          curl: true,
        },
      },
    ]);
  });

  it.each([
    ['{ match: { name: x }, dialects: [sep-0] }', '', 'clients[0].dialects[0]', /must be.* mcp-inline/],
    ['{ match: { name: x }, dialects: [] }', '', 'clients[0].dialects', /at least one dialect/],
    ['{ match: { name: x } }', '', 'clients[0]', /"dialects", "elicitation", "like", "host" or "limits"/],
    ['{ match: { name: x }, elicitation: [fax] }', '', 'clients[0].elicitation[0]', /binary.*form.*url/],
    ['{ match: { name: x }, like: netscape }', '', 'clients[0].like', /must be.* vscode/],
    ['{ match: { name: x }, host: { structured: lose } }', '', 'clients[0].host.structured', /keep.*drop/],
    ['{ match: { name: x }, host: { structurd: drop } }', '', 'clients[0].host.structurd', /did you mean "structured"/],
    ['{ match: { name: x }, host: { text: all } }', '', 'clients[0].host.text', /must be keep, or a map with "most"/],
    ['{ match: { name: x, version: ^2 }, like: vscode }', '', 'clients[0].match.version', /">=1\.2 <2"/],
    ['{ match: {}, dialects: [mcp-inline] }', '', 'clients[0].match', /"name" or "principal"/],
    ['{ match: { nam: x }, dialects: [mcp-inline] }', '', 'clients[0].match.nam', /did you mean "name"/],
    ['{ match: { principal: x }, dialects: [mcp-inline] }', '', 'clients[0].match.principal', /never matches/],
    ['{ match: { principal: x }, dialects: [mcp-inline] }', KEYS, 'clients[0].match.principal', /none of auth\.keys/],
  ])('%s is refused', async (profile, rest, path, message) => {
    expect(await problemsOf(`${SERVER}${rest}clients: [${profile}]`)).toContainEqual(
      expect.objectContaining({ path, message: expect.stringMatching(message) }),
    );
  });
});

describe('a placeholder that the config takes', () => {
  const file = {
    name: 'a.txt',
    mimeType: 'text/plain',
    size: 1,
    async *read() {
      yield Buffer.from('A');
    },
  };

  it.each(Object.keys(PLACEHOLDERS))('$%s is replaced', async (name) => {
    const template = `$${name}`;
    const links = { url: 'https://a.example/d/1', handle: 'mcp-file://wharf/f_1' };
    const { pieces } = await encodeFile('object', file, { template, path: 'x', ...links });
    const parts: Buffer[] = [];
    for (const piece of pieces) {
      if (Buffer.isBuffer(piece)) parts.push(piece);
      else for await (const chunk of piece()) parts.push(chunk);
    }
    expect(Buffer.concat(parts).toString()).not.toContain('$');
  });
});
