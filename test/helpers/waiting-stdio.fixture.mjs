// A raw MCP server on stdio: `wait` is answered after `go`, `seen` once `wait` has come, and `file` with a file of 600 kB.
import { createInterface } from 'node:readline';

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const sound = () => Buffer.alloc(600_000, 'sound ').toString('base64');
const waiting = [];
const seen = [];

const answer = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);

function call(id, name) {
  if (name === 'wait') waiting.push(id);
  else if (name === 'seen') seen.push(id);
  else if (name === 'file') answer(id, { content: [{ type: 'audio', mimeType: 'audio/wav', data: sound() }] });
  else if (name === 'go') for (const one of [...waiting.splice(0), id]) answer(one, text('gone'));
  if (waiting.length > 0) for (const one of seen.splice(0)) answer(one, text('seen'));
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'tools/call') call(id, params.name);
  else if (method === 'initialize') {
    const { protocolVersion } = params;
    answer(id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'waiting', version: '1' } });
  } else if (id !== undefined) answer(id, { tools: [] });
}
