import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from '@jest/globals';
import { RawClient } from '../helpers/raw-client.js';
import { until } from '../helpers/wait.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

const SCRIPT = fileURLToPath(new URL('../../../test/helpers/talkative-server.fixture.mjs', import.meta.url));
const MIB = 1024 * 1024;

let wharf: Wharf | undefined;

afterEach(async () => {
  await wharf?.stop();
  wharf = undefined;
});

async function connected(config: Record<string, unknown> = {}): Promise<RawClient> {
  wharf = await startWharf({ servers: { one: { command: [process.execPath, SCRIPT] } }, config });
  return RawClient.connect(wharf.mcp);
}

/** A call that the server works on for a minute, and whose client goes away once it has the head, which takes a second. */
async function abandon(client: RawClient, say = 'never'): Promise<void> {
  const gone = new AbortController();
  const answer = await client.open('tools/call', { name: 'wait', arguments: { ms: 60_000, say } }, {}, gone.signal);
  gone.abort();
  await answer.text().catch(() => undefined);
}

/** How many calls the server has been told to cancel. */
async function cancelled(client: RawClient): Promise<string> {
  const { result } = await client.call('cancelled');
  return String(result?.content?.[0]?.text);
}

/** Bytes that live after everything unused has been collected. */
async function living(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    collect();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe('a call over stdio whose client has gone', () => {
  it('keeps nothing of its message', async () => {
    const client = await connected();
    const say = 'x'.repeat(3 * MIB);
    await abandon(client, say);
    const before = await living();
    for (let round = 0; round < 6; round++) await Promise.all(Array.from({ length: 5 }, () => abandon(client, say)));
    // the server has them all, since a call behind them is answered
    expect(await cancelled(client)).toBe('0');
    expect((await living()) - before).toBeLessThan(30 * MIB);
    // a busy machine takes minutes for a hundred megabytes through two processes
  }, 600_000);

  it('is cancelled when there are more than limits.abandoned', async () => {
    const client = await connected({ limits: { abandoned: 3 } });
    await Promise.all(Array.from({ length: 5 }, () => abandon(client)));
    await until(async () => (await cancelled(client)) === '2');
  });

  it('is cancelled after timeouts.upstream', async () => {
    // within which a process begins on a busy machine too
    const client = await connected({ timeouts: { upstream: '10s' } });
    await Promise.all([abandon(client), abandon(client)]);
    await until(async () => (await cancelled(client)) === '2');
  });
});
