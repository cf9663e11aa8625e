// A raw MCP server on stdio that prints beside its messages: ARGUMENT lines before the answer to each call
import { createInterface } from 'node:readline';

const most = Number(process.argv[2]);
const print = (line) => process.stdout.write(`${line}\n`);
print('Listening with token=t0p5ecret2026 ...');
for await (const text of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(text);
  if (id === undefined) continue;
  const results = {
    initialize: () => ({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'printing', version: '1' },
    }),
    'tools/list': () => ({ tools: [{ name: 'work', inputSchema: { type: 'object' } }] }),
    'tools/call': () => {
      for (let step = 0; step < most; step++)
        print(step % 2 === 0 ? `step ${step} ${'of '.repeat(1000)}` : JSON.stringify({ level: 'info', step }));
      return { content: [{ type: 'text', text: 'done' }] };
    },
  };
  print(JSON.stringify({ jsonrpc: '2.0', id, result: results[method]?.() ?? {} }));
}
