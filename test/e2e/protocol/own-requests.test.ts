import { afterEach, describe, expect, it } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { gauge } from '../../helpers/fault-checks.js';
import { RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

let fake: FakeUpstream;
let wharf: Wharf;
/** Ends what still writes on the fake server's connections: the next test's server has connections of the same numbers. */
let hush: (() => void)[] = [];

afterEach(async () => {
  for (const end of hush) end();
  hush = [];
  await wharf.stop();
  await fake.close();
});

const isOwnList = (body: Buffer) => body.includes('"tools/list"') && body.includes('wharf-');

/** A stream that says the same, again and again, and never ends. */
function endless(words: string) {
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n';
  return { raw: head + words, cut: 'stall' as const };
}

describe('a request of Wharf’s own over HTTP', () => {
  it('keeps no caller waiting for longer than timeouts.upstream when its answer never comes (by reading)', async () => {
    fake = await startFakeUpstream();
    const config = { timeouts: { upstream: '1s' } };
    wharf = await startWharf({ servers: { one: { url: fake.url } }, config });
    const client = await RawClient.connect(wharf.mcp);
    let listed = 0;
    fake.respond = ({ body, connection }) => {
      if (!isOwnList(body)) return undefined;
      listed += 1;
      const talk = setInterval(() => fake.speakOn(connection, ': still here\n\n'), 50);
      hush.push(() => clearInterval(talk));
      return endless(': hello\n\n');
    };
    // counted by a timer, which stands still with the gateway where the machine has no time for this process
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 50);
    hush.push(() => clearInterval(timer));
    // a handle makes Wharf look for the tool's declaration before the call goes out
    const calls = Array.from({ length: 6 }, () =>
      client.call('echo', { text: 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA' }),
    );
    await Promise.all(calls);
    expect(listed).toBeGreaterThan(0);
    expect(ticks).toBeLessThan(15_000 / 50);
  });

  it('is refused an answer larger than limits.response, and the call goes on', async () => {
    fake = await startFakeUpstream();
    wharf = await startWharf({ servers: { one: { url: fake.url, limits: { response: '64KiB' } } } });
    const client = await RawClient.connect(wharf.mcp);
    fake.respond = ({ body }) => {
      if (!isOwnList(body)) return undefined;
      const { id } = JSON.parse(body.toString()) as { id: string };
      const tools = [{ name: 'echo', description: 'x'.repeat(200_000), inputSchema: { type: 'object' } }];
      return { contentType: 'application/json', body: JSON.stringify({ jsonrpc: '2.0', id, result: { tools } }) };
    };
    const { result } = await client.call('echo', { text: 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA' });
    expect(result?.content?.length).toBeGreaterThan(0);
    const { adminUrl } = wharf;
    // what the call itself held goes a moment after its answer
    await until(async () => (await gauge(adminUrl, 'wharf_held_bytes')) === 0);
  });
});
