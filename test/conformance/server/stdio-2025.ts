import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { server2025 } from './server-2025.js';

/** Speaks on stdin and stdout. */
export async function stdio2025(): Promise<void> {
  await server2025().connect(new StdioServerTransport());
}
