import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Gateway, startGateway } from '../helpers/gateway-process.js';
import { RawClient } from '../helpers/raw-client.js';
import { type SdkServer, startEverything, type Transport } from '../helpers/sdk-servers.js';

/** The `curl` of docs/reference/dialects.md, in front of a server on the official SDK: it refuses an Accept that does not name both. */
describe.each<Transport>(['http', 'sse', 'stdio'])(
  'resources/stream of the server "everything" over %s',
  (transport) => {
    let server: SdkServer;
    let gateway: Gateway;
    let client: RawClient;
    let uri: string;

    beforeAll(async () => {
      server = await startEverything(transport);
      gateway = await startGateway({ args: server.wharfArgs });
      client = await RawClient.connect(gateway.mcp(), '2025-11-25', { capabilities: { resourceStreaming: {} } });
      const { result } = await client.request('resources/list');
      uri = (result as unknown as { resources: { uri: string }[] }).resources[0]?.uri ?? '';
    });

    afterAll(async () => {
      await gateway?.stop();
      server?.stop();
    });

    async function stream(accept: string): Promise<Response> {
      return fetch(gateway.mcp(), {
        method: 'POST',
        headers: { ...client.headers(), 'content-type': 'application/json', accept },
        body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'resources/stream', params: { uri } }),
      });
    }

    it.each(['*/*', 'text/markdown, text/plain', 'application/json, text/event-stream, */*'])(
      'gives the bytes to a client that accepts %s',
      async (accept) => {
        const { result } = await client.request('resources/read', { uri });
        const [content] = (result as unknown as { contents: { text: string }[] }).contents;
        const response = await stream(accept);
        const text = await response.text();
        expect([response.status, text]).toEqual([200, content?.text]);
        expect(response.headers.get('mcp-resource-uri')).toBe(uri);
      },
    );
  },
);
