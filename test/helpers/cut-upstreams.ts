import { fileURLToPath } from 'node:url';
import { type FakeUpstream, startFakeUpstream } from './fake-upstream.js';

export const TRANSPORTS = ['json', 'sse', 'legacy-sse', 'stdio'] as const;
export type TransportName = (typeof TRANSPORTS)[number];

export interface ServedUpstream {
  /** What stands under the server's name in the config. */
  server: Record<string, unknown>;
  fake: FakeUpstream | undefined;
  close: () => Promise<void>;
}

/** The fake MCP server behind one of the transports. */
export async function serve(transport: TransportName): Promise<ServedUpstream> {
  if (transport === 'stdio') {
    const script = fileURLToPath(new URL('./fake-stdio-server.js', import.meta.url));
    return { server: { command: [process.execPath, script] }, fake: undefined, close: async () => {} };
  }
  const fake = await startFakeUpstream({ transport });
  return { server: { url: fake.url }, fake, close: () => fake.close() };
}
