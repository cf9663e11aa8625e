import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Transport as ClientTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type Gateway, startGateway } from '../helpers/gateway-process.js';
import { type SdkServer, startEverything, type Transport } from '../helpers/sdk-servers.js';
import {
  connect,
  directly,
  overHttp,
  overStdio,
  type Transcript,
  transcribe,
} from '../helpers/sdk-servers-transcript.js';

const MCP_REMOTE = fileURLToPath(new URL('../../../node_modules/mcp-remote/dist/proxy.js', import.meta.url));

async function transcribeOver(transport: ClientTransport): Promise<Transcript> {
  const client = await connect(transport);
  try {
    return await transcribe(client);
  } finally {
    await client.close();
  }
}

describe.each<Transport>(['stdio', 'sse', 'http'])('the server "everything" over %s', (transport) => {
  let server: SdkServer;
  let gateway: Gateway;
  let expected: Transcript;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-clients-'));
    server = await startEverything(transport);
    expected = await transcribeOver(directly(server));
    gateway = await startGateway({ args: server.wharfArgs });
  });

  afterAll(async () => {
    await gateway?.stop();
    server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('answers, asks and notifies an SDK client through Wharf as it does directly', async () => {
    expect(await transcribeOver(overHttp(gateway.mcp()))).toEqual(expected);
  });

  it('does so for many clients at once, each with its own session', async () => {
    const transcripts = await Promise.all(Array.from({ length: 4 }, () => transcribeOver(overHttp(gateway.mcp()))));
    for (const transcript of transcripts) expect(transcript).toEqual(expected);
  });

  it('does so for a stdio client behind mcp-remote', async () => {
    const command = [process.execPath, MCP_REMOTE, gateway.mcp(), '--allow-http', '--transport', 'http-only'];
    const throughRemote = await transcribeOver(overStdio(command, { MCP_REMOTE_CONFIG_DIR: folder }));
    expect(throughRemote).toEqual(expected);
  });
});
