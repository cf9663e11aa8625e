/**
 * The fake MCP server of fake-upstream-mcp.ts on stdin and stdout: `node dist/test/helpers/fake-stdio-server.js`.
 * One message per line; answers are written one after the other, with backpressure. The tool `die {code}` exits.
 */
import { once } from 'node:events';
import { type McpMessage, mcpReplies, pieceBytes } from './fake-upstream-mcp.js';

const NEWLINE = Buffer.from('\n');

async function write(bytes: Buffer): Promise<void> {
  if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
}

async function answer(line: Buffer): Promise<void> {
  const message = JSON.parse(line.toString()) as McpMessage;
  const args = (message.params?.arguments ?? {}) as Record<string, unknown>;
  if (message.method === 'tools/call' && message.params?.name === 'die') process.exit(Number(args.code ?? 1));
  for (const pieces of mcpReplies(message)) {
    for (const bytes of pieceBytes(pieces)) await write(bytes);
    await write(NEWLINE);
  }
}

let rest: Buffer[] = [];
for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
  let start = 0;
  for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
    const line = Buffer.concat([...rest, chunk.subarray(start, end)]);
    rest = [];
    start = end + 1;
    if (line.length > 0) await answer(line);
  }
  if (start < chunk.length) rest.push(chunk.subarray(start));
}
