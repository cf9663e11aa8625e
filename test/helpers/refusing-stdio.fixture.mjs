// A stdio MCP server of SEP-2356's early days, which refuses every file: node refusing-stdio.fixture.mjs
import { createInterface } from 'node:readline';

const image = { type: 'string', format: 'uri' };
const tool = { name: 'early', inputSchema: { type: 'object', properties: { image } }, inputFiles: { image: {} } };
const data = { reason: 'file_type_rejected', argument: 'image' };

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const { protocolVersion } = params;
  const answers = {
    initialize: {
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'refusing', version: '1' } },
    },
    'tools/list': { result: { tools: [tool] } },
    'tools/call': { error: { code: -32602, message: 'No such file', data } },
  };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answers[method] })}\n`);
});
