// A raw MCP server on stdio that answers by one of these scripts: node scripted-stdio.fixture.mjs SCRIPT [ARGUMENT] [SAYS]
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [, , name, argument, says] = process.argv;
const serverInfo = { name, version: '1' };
const opening = (capabilities) => (params) => ({ protocolVersion: params.protocolVersion, capabilities, serverInfo });
const listed = (tool, properties = {}, more = {}) => ({
  tools: [{ name: tool, inputSchema: { type: 'object', properties }, ...more }],
});
let calls = 0;
const file = { uri: 'mcp-file://stdio/1' };

/** By method: what the server answers to its parameters, as a result unless it has an error. */
const scripts = {
  /** The tool `link` gives a link to a resource of ARGUMENT bytes. */
  linking: {
    initialize: opening({ tools: {}, resources: {} }),
    'tools/list': () => listed('link'),
    'tools/call': () => ({ content: [{ type: 'resource_link', uri: 'doc://stdio/a.bin', name: 'a.bin' }] }),
    'resources/read': ({ uri }) => ({
      contents: [{ uri, blob: Buffer.alloc(Number(argument), 'stdio ').toString('base64') }],
    }),
  },
  /** Of SEP-2631: its tool only names a file, which is asked for on the same channel, and is at the URL ARGUMENT. */
  naming: {
    initialize: opening({ tools: {} }),
    'tools/list': () => listed('make', { doc: { type: 'string', 'x-mcp-file': { transferModes: ['upload'] } } }),
    'tools/call': () => ({
      content: [{ type: 'text', text: 'kept' }],
      structuredContent: { out: { ...file, name: 'x.bin' } },
    }),
    'files/authorizeDownload': () => ({ file, download: { transport: 'https', method: 'GET', url: argument } }),
    'files/authorizeUpload': () => ({ file, upload: { transport: 'https', method: 'PUT', url: argument } }),
    'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'Hello world!' }] }),
  },
  /** Of SEP-2631: its resource only names a file, which is at the URL ARGUMENT. */
  keeping: {
    initialize: opening({ resources: {} }),
    'resources/read': ({ uri }) => ({ contents: [{ uri, content: file }] }),
    'files/authorizeDownload': () => ({ file, download: { transport: 'https', method: 'GET', url: argument } }),
  },
  /**
   * Asked for its tool, it makes the file `asked` in the folder ARGUMENT, and lists it once `go` is there. The tool says
   * how often it was called.
   */
  counting: {
    initialize: opening({ tools: {} }),
    'tools/list': async () => {
      writeFileSync(join(argument, 'asked'), '');
      while (!existsSync(join(argument, 'go'))) await new Promise((resolve) => setTimeout(resolve, 10));
      return listed('count');
    },
    'tools/call': () => {
      calls += 1;
      return { content: [{ type: 'text', text: String(calls) }] };
    },
  },
  /** Its tool logs SAYS if there is any, makes the file `asked` in the folder ARGUMENT, and ends once `go` is there. */
  ending: {
    initialize: opening({ tools: {}, logging: {} }),
    'tools/list': () => listed('end'),
    'tools/call': async () => {
      const message = { method: 'notifications/message', params: { level: 'info', data: says } };
      if (says) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      writeFileSync(join(argument, 'asked'), '');
      while (!existsSync(join(argument, 'go'))) await new Promise((resolve) => setTimeout(resolve, 10));
      process.exit();
    },
  },
  /** Of SEP-2356's early days: it refuses every file. */
  refusing: {
    initialize: opening({ tools: {} }),
    'tools/list': () => listed('early', { image: { type: 'string', format: 'uri' } }, { inputFiles: { image: {} } }),
    'tools/call': () => ({
      error: { code: -32602, message: 'No such file', data: { reason: 'file_type_rejected', argument: 'image' } },
    }),
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = (await scripts[name][method]?.(params ?? {})) ?? {
    error: { code: -32601, message: 'Method not found' },
  };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...(result.error ? result : { result }) })}\n`);
}
