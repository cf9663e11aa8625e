import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type OutsideTools, outsideTools } from '../conformance/outside-tools.js';
import { type Gateway, startGateway } from '../helpers/gateway-process.js';
import { type SdkServer, startEverything, type Transport } from '../helpers/sdk-servers.js';

const CALLS = {
  'tools/list': [],
  'tools/call': ['--tool-name', 'get-structured-content', '--tool-arg', 'location=Chicago'],
  'prompts/list': [],
  'prompts/get': ['--prompt-name', 'args-prompt', '--prompt-args', 'city=Oslo'],
  'resources/list': [],
  'resources/read': ['--uri', 'demo://resource/static/document/features.md'],
  'resources/templates/list': [],
};

/** Milliseconds one run may take; it takes 1 s on a quiet machine. */
const RUN_MS = 100_000;

describe("the MCP Inspector's command line", () => {
  let tools: OutsideTools;
  let home: string;
  let direct: SdkServer;
  const gateways: Partial<Record<Transport, Gateway>> = {};
  const servers: SdkServer[] = [];

  beforeAll(async () => {
    tools = await outsideTools();
    home = await mkdtemp(join(tmpdir(), 'wharf-inspector-'));
    direct = await startEverything('http');
    for (const transport of ['stdio', 'sse', 'http'] as const) {
      const server = await startEverything(transport);
      servers.push(server);
      gateways[transport] = await startGateway({ args: server.wharfArgs });
    }
  }, 400_000);

  afterAll(async () => {
    for (const gateway of Object.values(gateways)) await gateway.stop();
    for (const server of [...servers, direct]) server?.stop();
    await rm(home, { recursive: true, force: true });
  });

  async function inspect(url: string, method: string, args: string[]): Promise<unknown> {
    const line = [tools.inspector, '--cli', url, '--transport', 'http', '--method', method, ...args];
    const options = { timeout: RUN_MS, env: { ...process.env, HOME: home } };
    const { stdout } = await promisify(execFile)(process.execPath, line, options);
    return JSON.parse(stdout);
  }

  it.each(Object.entries(CALLS))(
    'prints the same for %s through Wharf over every transport',
    async (method, args) => {
      const expected = await inspect(direct.url ?? '', method, args);
      for (const transport of ['stdio', 'sse', 'http'] as const) {
        expect(await inspect(gateways[transport]?.mcp() ?? '', method, args)).toEqual(expected);
      }
    },
    4 * RUN_MS,
  );
});
