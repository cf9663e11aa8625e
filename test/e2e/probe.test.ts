import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as NewClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type OutsideTools, outsideTools } from '../conformance/outside-tools.js';
import { ROOT, type Running, start } from './cli-process.js';

const COMMAND = { command: process.execPath, args: [join(ROOT, 'dist/gateway/main.js'), 'probe'] };
const INFO = { name: 'sdk', version: '3' };

interface Caller {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<object>;
}

/** A host whose model is shown each result as it came. */
async function rowBy(client: Caller): Promise<Record<string, unknown>> {
  const { tools } = await client.listTools();
  const seen: string[] = [];
  for (const { name } of tools.filter((tool) => tool.name !== 'probe_report')) {
    const result = await client.callTool({ name, arguments: {} });
    seen.push(...(JSON.stringify(result).match(/[A-Z]{4}\d{4}/g) ?? []));
  }
  const answer = (await client.callTool({ name: 'probe_report', arguments: { codes: seen } })) as {
    content: { text: string }[];
  };
  return JSON.parse(answer.content[0]?.text ?? '') as Record<string, unknown>;
}

interface Shown {
  tools?: unknown[];
  content?: { type: string; text?: string }[];
  structuredContent?: object;
}

const ROW = {
  name: 'sdk',
  match: { names: ['sdk'], versions: '3' },
  behaviour: { structured: { is: 'both' }, links: { is: 'json' }, blobs: { is: 'json' }, errors: { is: 'string' } },
  notCalled: [],
};

describe('wharf probe, asked by', () => {
  let running: Running | undefined;
  afterEach(async () => {
    running?.child.kill('SIGKILL');
    await running?.ended;
    running = undefined;
  });

  it("the SDK's client over stdio, gives a row that names the client", async () => {
    const client = new Client(INFO);
    await client.connect(new StdioClientTransport({ ...COMMAND, stderr: 'ignore' }));
    expect(await rowBy(client as unknown as Caller)).toMatchObject(ROW);
    await client.close();
  });

  it('a person in a terminal, says what it waits for', async () => {
    running = start(['probe']);
    const { code, out, err } = await running.ended;
    expect([code, out]).toEqual([0, '']);
    expect(err).toMatch(/^A host starts this as a stdio server, .*\bask its model\b/);
  });

  it("the newer SDK's client over stdio, too", async () => {
    const client = new NewClient(INFO);
    await client.connect(new NewStdio({ ...COMMAND, stderr: 'ignore' }));
    expect(await rowBy(client as unknown as Caller)).toMatchObject(ROW);
    await client.close();
  });

  it("the SDK's client over HTTP, prints the row for its operator, and keeps sessions apart", async () => {
    running = start(['probe', '--http', '0']);
    const [, url = ''] = await running.printed(/(http:\S+\/mcp)\n/);
    const [one, other] = [new Client(INFO), new Client({ name: 'other', version: '1' })];
    for (const client of [one, other]) await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
    expect(await rowBy(one as unknown as Caller)).toMatchObject(ROW);
    expect(running.err()).toContain('"name": "sdk"');
    const early = await other.callTool({ name: 'probe_report', arguments: { codes: [] } });
    expect(JSON.stringify(early)).toContain('probe_text');
    for (const client of [one, other]) await client.close();
  });

  it('a page in a browser, or by a name that was rebound, does not answer', async () => {
    running = start(['probe', '--http', '0']);
    const [, url = ''] = await running.printed(/(http:\S+\/mcp)\n/);
    for (const headers of [{ origin: 'https://evil.example' }, { host: 'evil.example' }]) {
      const status = await new Promise((resolve, reject) => {
        const sent = request(url, { method: 'POST', headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        sent.on('error', reject);
        sent.end('{}');
      });
      expect(status).toBe(403);
    }
  });

  it('a wrong port, says so', async () => {
    const { code, err } = await start(['probe', '--http', '70000']).ended;
    expect([code, err]).toEqual([2, 'error: --http must be a port\n']);
  });
});

describe("wharf probe, in the MCP Inspector's command line,", () => {
  let tools: OutsideTools;
  let home: string;
  beforeAll(async () => {
    tools = await outsideTools();
    home = await mkdtemp(join(tmpdir(), 'wharf-probe-'));
  }, 400_000);
  afterAll(() => rm(home, { recursive: true, force: true }));

  const inspect = async (...args: string[]) => {
    const line = [tools.inspector, '--cli', COMMAND.command, ...COMMAND.args, '--method', ...args];
    const env = { ...process.env, HOME: home };
    const { stdout } = await promisify(execFile)(process.execPath, line, { timeout: 60_000, env });
    return JSON.parse(stdout) as Shown;
  };

  it('lists its tools and gives each result as the protocol has it', async () => {
    expect((await inspect('tools/list')).tools).toHaveLength(10);
    const beside = await inspect('tools/call', '--tool-name', 'probe_structured');
    expect([beside.content?.map(({ type }) => type), beside.structuredContent]).toEqual([
      ['text', 'image'],
      { code: expect.stringMatching(/^[A-Z]{4}\d{4}$/) },
    ]);
    // it reports errors of tools by its exit code
    await expect(inspect('tools/call', '--tool-name', 'probe_error')).rejects.toThrow('isError:true');
    const report = await inspect('tools/call', '--tool-name', 'probe_report', '--tool-arg', 'codes=["ABCD1234"]');
    expect(JSON.parse(report.content?.[0]?.text ?? '')).toMatchObject({ notOurs: ['ABCD1234'] });
  });
});
