import { describe, expect, it } from '@jest/globals';
import { propose } from '../../../gateway/inspect/propose.js';
import { inspectReport } from '../../../gateway/inspect/report.js';
import { yamlFlow, yamlText } from '../../../gateway/inspect/yaml.js';
import type { JsonObject } from '../../../gateway/ports/json.js';
import { configOf, loadText } from '../config/load-text.js';
import { LEGACY_TOOLS } from './legacy-tools.js';

const [STDIO] = (await configOf(`servers: { ocr: { command: [node, "\${A}", "a: #b"] } }`, { A: `\${B}` })).servers;
const [HTTP] = (await configOf(`servers: { ocr: { url: "http://127.0.0.1:1/mcp?a=b" } }`)).servers;
if (STDIO === undefined || HTTP === undefined) throw new Error('no server');

const tool = (name: string, properties: JsonObject) =>
  propose({ name, inputSchema: { type: 'object', properties } }, []);
const report = (tools: ReturnType<typeof propose>[], server = STDIO) => inspectReport([{ server, tools }], true);

/** The report with every comment that holds YAML made YAML. */
const uncommented = (text: string) => text.replace(/^( *)# (?=.*: \{ encoding)/gm, '$1');

describe('the report', () => {
  it('is a config that holds what is certain and likely', async () => {
    const tools = LEGACY_TOOLS.map(({ name, description = '', properties, more }) =>
      propose({ name, description, inputSchema: { type: 'object', properties, ...more } }, []),
    );
    const [server] = (await configOf(report(tools))).servers;
    const meant = LEGACY_TOOLS.map(({ name, expected }) => ({
      name,
      files: expected
        .filter(({ confidence, path }) => confidence !== 'possible' && path !== 'image_url')
        .map(({ confidence: _, ...file }) => file),
    })).filter(({ files }) => files.length > 0);
    const read = Object.entries(server?.tools ?? {}).map(([name, { files }]) => ({ name, files }));
    expect(read).toEqual(meant);
    expect(server?.settings.command).toEqual(['node', `\${B}`, 'a: #b']);
  });

  it('says why, and shows what is only possible as a comment', () => {
    const lines = report([tool('t', { a_base64: { type: 'string' }, photo: { type: 'string' } })]).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        '        files:',
        '          # likely: its name is "a_base64"',
        '          a_base64: { encoding: base64 }',
        '          # photo: { encoding: base64 }',
      ]),
    );
  });

  it.each([
    ['URL or data URI of the file content to compress', {}],
    ['Either a data: URI or an https:// link', {}],
    ['Base64 of the image, or its URL', {}],
    ['Local file path or base64', {}],
    ['Data URI', { default: 'https://example.com/a.png' }],
    ['A data URI (format: data:image/png;base64,…) or a web address', {}],
  ])('shows %j, which a model can fill with an address or a path, as a comment', async (description, more) => {
    const text = report([tool('t', { data: { type: 'string', format: 'uri', description, ...more } })]);
    expect(text).toMatch(/^ +# +data: \{ encoding: \w+ \}$/m);
    expect(text).toMatch(/# it takes addresses, paths or text too \(/);
    expect((await configOf(text)).servers[0]?.tools).toEqual({});
  });

  it.each([
    'A data URI of the image',
    'Base64-encoded image, not a URL',
    'data:image/png;base64,iVBORw0KGgo=',
    'Must be a data URL; http URLs are not accepted here: never a link',
  ])('shows %j as it is meant', (description) => {
    const text = report([tool('t', { data: { type: 'string', description } })]);
    expect(text).toMatch(/^ +data: \{ encoding: \w+ \}$/m);
  });

  it('hides a tool that has nothing but possible files', async () => {
    const text = report([tool('t', { photo: { type: 'string' } })]);
    expect(text).toContain('    # tools:\n    #   t:\n    #     files:\n');
    expect((await configOf(text)).servers[0]?.tools).toEqual({});
  });

  it('names servers and tools that have nothing, and those that failed', () => {
    const failed = inspectReport([{ server: HTTP, tools: [tool('quiet', {})], failure: 'it is\ngone' }], false);
    expect(failed).toMatch(/# ocr: could not be asked to the end: it is gone\n.*# ocr: nothing to configure: quiet\n/);
    expect(failed.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
    expect(inspectReport([{ server: HTTP, tools: [] }], false)).toContain('# ocr: it has no tools');
  });

  it('leaves out what is configured, and what stands in its way', async () => {
    const [server] = (
      await configOf('servers: { a: { command: [n], tools: { t: { files: { x_b64: { encoding: hex, name: f } } } } } }')
    ).servers;
    if (server === undefined) throw new Error('no server');
    const found = tool('t', {
      x_b64: { type: 'string' },
      f: { type: 'string', format: 'byte' },
      y_b64: { type: 'string' },
    });
    const text = inspectReport([{ server, tools: [found] }], false);
    expect(text).toContain('# t, x_b64: is configured already');
    expect(text).toMatch(/# t, f: looks like a file \(format is byte\), but names an argument/);
    expect(text).toMatch(/^ {10}y_b64: \{ encoding: base64 \}$/m);
  });

  it('tells of what is configured and not there', async () => {
    const files = '{ x_b46: { encoding: base64 }, "x_b64.y": { encoding: base64 }, l: { encoding: base64 } }';
    const [server] = (await configOf(`servers: { a: { command: [n], tools: { t: { files: ${files} } } } }`)).servers;
    if (server === undefined) throw new Error('no server');
    const list = { type: 'array', items: { type: 'string' } };
    const written = { name: 't', inputSchema: { type: 'object', properties: { n: { type: 'string' }, l: list } } };
    const text = inspectReport([{ server, tools: [propose(written, [], server.tools.t?.files)] }], false);
    expect(text).toContain('# a: t, x_b46: configured, but the tool has no such argument; it has: n, l\n');
    expect(text).toContain('# a: t, x_b64.y: configured, but the tool has no such argument; it has: n, l\n');
    expect(text).toContain('# a: t, l: configured as one file, but the tool takes a list; write l[]\n');
    expect(text).not.toContain('nothing to configure');
  });

  it('tells of a path that an HTTP server takes, and offers nothing for it', () => {
    const found = tool('t', { image_path: { type: 'string', description: 'Path to the image' } });
    expect(report([found], HTTP)).toMatch(/t, image_path: looks like a file .* but is only\s/s);
    expect(report([found])).toMatch(/^ +# +image_path: \{ encoding: localPath \}$/m);
  });

  it('of names made to break out of it is still that config', async () => {
    const names = [
      'a\nservers: {}',
      '# x',
      'x: y',
      '"',
      "'",
      `\${HOME}`,
      '\u2028\u0085\u0007\u001b[31m',
      '\ud800',
      'true',
      'null',
      '1e3',
      '~',
      '- a',
      '&a',
      '*a',
      '!!js',
      '日本',
      ' blank ',
      '__proto__',
      'constructor',
      'a.b',
      'a[0]',
      '$ref',
      '',
      'x'.repeat(300),
    ];
    const schema = { type: 'string', format: 'byte', description: `\${HOME}\n  x: 1\u2028\u001b]0;x\u0007` };
    for (const name of names) {
      const properties = Object.fromEntries([
        [name, schema],
        [`${name}filename`, { type: 'string' }],
      ]) as JsonObject;
      const nested = { [`in ${name}`]: { type: 'array', items: { type: 'object', properties } } };
      const text = report([tool(name, properties), tool('nested', nested)]);
      const loaded = await loadText(text, {});
      expect({ name, text, loaded }).toMatchObject({
        name,
        loaded: { ok: true, config: { servers: [{ name: 'ocr' }] } },
      });
      expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Zl}/u);
    }
  });

  it('is a config also when all that is possible is taken in', async () => {
    const tools = [
      tool('t', { a_base64: { type: 'string' }, photo: { type: 'string' }, photo_url: { type: 'string' } }),
    ];
    const [server] = (await configOf(uncommented(report(tools)))).servers;
    expect(server?.tools.t?.files.map(({ path }) => path)).toEqual(['a_base64', 'photo', 'photo_url']);
  });
});

describe('YAML in one line', () => {
  it.each([
    ['image/png', 'image/png'],
    ['$base64', '$base64'],
    ['off', '"off"'],
    ['names[]', '"names[]"'],
    ['', '""'],
    ['a\u0085b', '"a\\u0085b"'],
  ])('%j is %s', (text, expected) => {
    expect(yamlText(text)).toBe(expected);
  });

  it('holds any JSON, and no variable', () => {
    expect(yamlFlow({ a: [1, null, true, 'x y', {}], 'b c': `\${D}` })).toBe(
      `{ a: [1, null, true, "x y", {}], "b c": "$\${D}" }`,
    );
  });
});
