import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type HonestCall, tell } from '../messages.js';

/** How an honest caller reaches the gateway. */
export interface HonestTarget {
  /** Such as `http://127.0.0.1:8080`. */
  url: string;
  key: string;
}

/** Does one thing and tells how long it took. What fails is told as well, and ends the round. */
export async function timed<T>(kind: string, act: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const call: HonestCall = { type: 'honest', kind, ms: 0 };
  try {
    return await act();
  } catch (error) {
    call.error = error instanceof Error ? `${error.message}${causeOf(error)}` : String(error);
    throw error;
  } finally {
    tell({ ...call, ms: performance.now() - began });
  }
}

function causeOf({ cause }: Error): string {
  return cause instanceof Error ? ` (${cause.message})` : '';
}

/** A session as the official SDK opens it. */
export async function openSession({ url, key }: HonestTarget, server: string): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/${server}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  const client = new Client({ name: 'soak', version: '1.0.0' });
  // The class says `sessionId: string | undefined` where the interface says `sessionId?: string`.
  await client.connect(transport as Transport);
  return client;
}

/** Ends the session at the server as well, as a well-behaved client does. */
export async function closeSession(client: Client): Promise<void> {
  await (client.transport as StreamableHTTPClientTransport | undefined)?.terminateSession().catch(() => undefined);
  await client.close();
}
