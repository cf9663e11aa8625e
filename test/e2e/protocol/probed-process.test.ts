import { afterEach, describe, expect, it } from '@jest/globals';
import { isRunning } from '../../helpers/is-running.js';
import { RawClient } from '../../helpers/raw-client.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

/** A server that tells its process id, in sessions and without. */
const SERVER = `
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...message }) + '\\n');
    const { protocolVersion } = params ?? {};
    if (method === 'initialize')
      say({ result: { protocolVersion, capabilities: {}, serverInfo: { name: 's', version: String(process.pid) } } });
    else if (method === 'ping') say({ result: { resultType: 'complete', pid: process.pid } });
    else if (id !== undefined) say({ error: { code: -32601, message: 'Method not found', data: { pid: process.pid } } });
  }).on('close', () => process.exit());`;

const VERSION = '2026-07-28';
const _meta = { 'io.modelcontextprotocol/protocolVersion': VERSION, 'io.modelcontextprotocol/clientCapabilities': {} };

let wharf: Wharf;

afterEach(() => wharf.stop());

const start = async () => {
  wharf = await startWharf({ servers: { one: { command: [process.execPath, '-e', SERVER] } } });
};

const ask = (id: number, method: string) =>
  RawClient.stateless(wharf.mcp, VERSION).post(
    { jsonrpc: '2.0', id, method, params: { _meta } },
    { 'mcp-protocol-version': VERSION, 'mcp-method': method },
  );

const pidIn = (value: unknown): number => Number(/"pid":(\d+)/.exec(JSON.stringify(value))?.[1]);

describe('the process of a client without a session', () => {
  it('ends before a session is opened, if it was only asked for its versions', async () => {
    await start();
    const pid = pidIn((await ask(1, 'server/discover')).messages);
    expect(isRunning(pid)).toBe(true);
    await RawClient.connect(wharf.mcp);
    expect(isRunning(pid)).toBe(false);
  });

  it('goes on beside the sessions of others, if it was used', async () => {
    await start();
    await ask(1, 'server/discover');
    const pid = pidIn((await ask(2, 'ping')).messages);
    await RawClient.connect(wharf.mcp);
    expect(pidIn((await ask(3, 'ping')).messages)).toBe(pid);
  });
});
