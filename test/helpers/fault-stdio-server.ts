/** An MCP server on stdio that stops in the middle of its answers, see fault-answer.ts, and goes on at SIGUSR2. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { McpMessage } from './fake-upstream-mcp.js';
import { answerInParts, Stop } from './fault-answer.js';

const write = async (bytes: Buffer): Promise<void> => {
  if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
};
const stop = new Stop();
process.on('SIGUSR2', () => stop.goOn());

for await (const line of createInterface({ input: process.stdin }))
  await answerInParts(JSON.parse(line) as McpMessage, write, () => stop.here(), ['', '\n']);
