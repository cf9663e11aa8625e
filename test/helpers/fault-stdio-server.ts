/**
 * An MCP server on stdio that stops in the middle of its answers, see fault-answer.ts, and goes on at SIGUSR2. After
 * an answer to a `tools/call` with the argument `thenDie` it exits.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { McpMessage } from './fake-upstream-mcp.js';
import { answerInParts, Stop } from './fault-answer.js';

const write = async (bytes: Buffer): Promise<void> => {
  if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
};
const stop = new Stop();
process.on('SIGUSR2', () => stop.goOn());

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as McpMessage;
  await answerInParts(message, write, () => stop.here(), ['', '\n']);
  const { thenDie } = (message.params?.arguments ?? {}) as { thenDie?: boolean };
  // an exit throws away what the gateway has not taken yet
  if (thenDie) process.stdout.write('', () => process.exit(1));
}
