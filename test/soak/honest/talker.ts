import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { closeSession, type HonestTarget, openSession, timed } from './target.js';

/** Small calls between two sessions. */
const CALLS = 10;
const PAUSE_MS = 100;

/** What a client without files does: short questions, which no other client's files may hold up. */
export async function talk(target: HonestTarget, server: string): Promise<void> {
  const kind = (what: string) => `${server}: ${what}`;
  const client = await timed(kind('initialize'), () => openSession(target, server));
  try {
    await timed(kind('tools/list'), () => client.listTools());
    await timed(kind('resources/list'), () => client.listResources());
    for (let call = 0; call < CALLS; call += 1) {
      await timed(kind('echo'), async () => {
        const message = `message ${call}`;
        const { content } = (await client.callTool({ name: 'echo', arguments: { message } })) as CallToolResult;
        if (!JSON.stringify(content).includes(message)) throw new Error(`echo: ${JSON.stringify(content)}`);
      });
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    await timed(kind('small image'), () => client.callTool({ name: 'get-tiny-image', arguments: {} }));
  } finally {
    await closeSession(client);
  }
}
