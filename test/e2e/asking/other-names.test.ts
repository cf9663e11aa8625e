import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import type { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { connect, PNG, SETTINGS, startUpstream, textOf, upload } from './lab.js';

const FILLED = { note: 'n', file: PNG.toString('base64') };

describe('a call of a tool that has another name for clients, and lacks its file', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    upstream = await startUpstream();
    const take = { ...SETTINGS.take, name: 'hand_over' };
    wharf = await startWharf({
      servers: { docs: { url: upstream.url, transport: 'streamable-http', tools: { take } } },
    });
  });

  afterAll(async () => {
    await wharf?.stop();
    await upstream?.stop();
  });

  it('reaches the server under its own name once the person has uploaded it', async () => {
    const { client, asked } = await connect(wharf.mcp, async ({ url }) => {
      await upload(url);
      return { action: 'accept' };
    });
    const result = await client.callTool({ name: 'hand_over', arguments: { note: 'n' } });
    expect(asked[0]?.message).toContain("'hand_over'");
    expect(JSON.parse(textOf(result))).toEqual(FILLED);
    expect(upstream.with('tools/call').at(-1)?.params).toMatchObject({ name: 'take', arguments: FILLED });
    await client.close();
  });

  it('reaches it so in the next round of a client that is asked by results', async () => {
    const about = { capabilities: { elicitation: { form: {}, url: {} } } };
    const client = RawClient.stateless(wharf.mcp, '2026-07-28', about);
    const call = (more: Record<string, unknown> = {}) =>
      client.request('tools/call', { name: 'hand_over', arguments: { note: 'n' }, ...more });
    const { result } = await call();
    const [key, { params }] = Object.entries(
      result?.inputRequests as Record<string, { params: { url: string } }>,
    )[0] as [string, { params: { url: string } }];
    expect(await upload(params.url)).toBe(201);
    const done = await call({ requestState: result?.requestState, inputResponses: { [key]: { action: 'accept' } } });
    expect(JSON.parse(textOf(done.result))).toEqual(FILLED);
    expect(upstream.with('tools/call').at(-1)).toMatchObject({
      headers: { 'mcp-name': 'take' },
      params: { name: 'take', arguments: FILLED },
    });
  });
});
