// A stdio server whose tools only name a file, and which is asked for it on the same channel:
// node naming-stdio.fixture.mjs DESCRIPTOR_URL
import { createInterface } from 'node:readline';

const [, , url] = process.argv;
const uri = 'mcp-file://stdio/1';
const DOC = { type: 'string', 'x-mcp-file': { transferModes: ['upload'] } };

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'naming', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'make', inputSchema: { type: 'object', properties: { doc: DOC } } }] }),
  'tools/call': () => ({
    content: [{ type: 'text', text: 'kept' }],
    structuredContent: { out: { uri, name: 'x.bin' } },
  }),
  'files/authorizeDownload': () => ({ file: { uri }, download: { transport: 'https', method: 'GET', url } }),
  'files/authorizeUpload': () => ({ file: { uri }, upload: { transport: 'https', method: 'PUT', url } }),
  'resources/read': (params) => ({ contents: [{ uri: params.uri, text: 'Hello world!' }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = answers[method]?.(params ?? {});
  const answer = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}
