// An MCP server over stdio whose tool `link` gives a link to a resource of ARGV[2] bytes.
import { createInterface } from 'node:readline';

const size = Number(process.argv[2]);
const answer = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: 'linking', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'link', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'resource_link', uri: 'doc://stdio/a.bin', name: 'a.bin' }] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, blob: Buffer.alloc(size, 'stdio ').toString('base64') }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const result = answer[method]?.(params ?? {});
  if (id === undefined) continue;
  const error = { code: -32601, message: 'Method not found' };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) })}\n`);
}
