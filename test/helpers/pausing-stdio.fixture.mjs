// A stdio MCP server that says in which order it was told what: node pausing-stdio.fixture.mjs FOLDER
// `notifications/pause` stops it from reading until FOLDER/go exists; the tool `order` gives the labels or names of the
// tools called, and the notifications.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const go = join(process.argv[2], 'go');
const order = [];
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tools = ['take', 'small', 'order'].map((name) => ({ name, inputSchema: { type: 'object' } }));

/** What was read together with the line that says to pause. */
const unread = [];
let isPaused = false;

function pause() {
  isPaused = true;
  process.stdin.pause();
  const timer = setInterval(() => {
    if (!existsSync(go)) return;
    clearInterval(timer);
    isPaused = false;
    for (const line of unread.splice(0)) answer(line);
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
  if (method === 'notifications/pause') pause();
  if (method !== 'tools/call') return order.push(method);
  const { name, arguments: args } = params;
  const text = name === 'order' ? JSON.stringify(order) : 'done';
  order.push(args.label ?? name);
  say({ id, result: { content: [{ type: 'text', text }] } });
}

/** A line that was given up is no message. */
function parsed(line) {
  try {
    return JSON.parse(line.toString());
  } catch {
    return undefined;
  }
}

let held = [];
process.stdin.on('data', (chunk) => {
  let start = 0;
  for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
    const line = Buffer.concat([...held, chunk.subarray(start, end)]);
    held = [];
    start = end + 1;
    const message = parsed(line);
    if (isPaused && message) unread.push(message);
    else if (message) answer(message);
  }
  held.push(chunk.subarray(start));
});
