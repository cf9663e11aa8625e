// A stdio MCP server that says in which order it was told what: node pausing-stdio.fixture.mjs FOLDER
// `pause` stops it from reading until FOLDER/go exists; `order` gives the names of the tools called and notifications.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const go = join(process.argv[2], 'go');
const order = [];
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tools = ['take', 'pause', 'small', 'order'].map((name) => ({ name, inputSchema: { type: 'object' } }));

function pause() {
  process.stdin.pause();
  const timer = setInterval(() => {
    if (!existsSync(go)) return;
    clearInterval(timer);
    process.stdin.resume();
  }, 10);
}

function answer({ id, method, params }) {
  if (method === 'initialize') {
    const { protocolVersion } = params;
    const serverInfo = { name: 'pausing', version: '1' };
    return say({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
  }
  if (method === 'tools/list') return say({ id, result: { tools } });
  if (method !== 'tools/call') return order.push(method);
  const { name, arguments: args } = params;
  if (name === 'pause') pause();
  const text = name === 'order' ? JSON.stringify(order) : 'done';
  order.push(args.label ?? name);
  say({ id, result: { content: [{ type: 'text', text }] } });
}

let held = [];
process.stdin.on('data', (chunk) => {
  let start = 0;
  for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
    const line = Buffer.concat([...held, chunk.subarray(start, end)]);
    held = [];
    start = end + 1;
    answer(JSON.parse(line.toString()));
  }
  held.push(chunk.subarray(start));
});
