import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { backToNow, later } from '../../helpers/later.js';
import { RawClient } from '../../helpers/raw-client.js';
import type { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { connect, PNG, STDIO, soon, startGatewayFor, startUpstream, textOf, upload } from './lab.js';
import { RawCall } from './raw-call.js';

const URL_CLIENT = { elicitation: { url: {} } };
const BASE64 = PNG.toString('base64');

let upstream: RecordingUpstream;

beforeAll(async () => {
  upstream = await startUpstream();
});

afterAll(async () => {
  await upstream?.stop();
});

const calls = () => upstream.with('tools/call').length;
const statusOf = async (url: string | undefined) =>
  (await fetch(String(url), { headers: { accept: 'application/json' } })).json();

describe('a call that lacks its file, of a client that opens pages', () => {
  let wharf: Wharf;
  const open: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    wharf = await startGatewayFor(upstream);
  });

  afterEach(async () => {
    for (const client of open.splice(0)) await client.close();
  });

  afterAll(async () => {
    await wharf?.stop();
  });

  const sdk = async (...parameters: Parameters<typeof connect> extends [string, ...infer Rest] ? Rest : never) => {
    const connected = await connect(wharf.mcp, ...parameters);
    open.push(connected.client);
    return connected;
  };

  it('asks for it on the stream of the call, and finishes the call with it (FB-01, FB-08, K6)', async () => {
    const { client, asked, completed } = await sdk(({ url }) => {
      setTimeout(() => void upload(url), 300);
      return { action: 'accept' };
    });
    const result = await client.callTool({ name: 'take', arguments: { note: 'n' } });
    expect(JSON.parse(textOf(result))).toEqual({ file: BASE64, note: 'n' });
    expect(asked).toHaveLength(1);
    expect(Object.keys(asked[0] ?? {}).sort()).toEqual(['elicitationId', 'message', 'mode', 'url']);
    expect(asked[0]?.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/u\/[\w-]{43}$/);
    for (const part of ["'take'", '"docs"', "'file'", 'image/png', '1 MB']) expect(asked[0]?.message).toContain(part);
    expect(completed).toEqual([asked[0]?.elicitationId]);
    expect(await statusOf(asked[0]?.url)).toEqual({ status: 'completed' });
  });

  it('shows on the page what the person was asked (FB-08)', async () => {
    const call = await RawCall.begin(wharf.mcp, 'take', {}, { capabilities: URL_CLIENT });
    const question = await call.message(({ method }) => method === 'elicitation/create');
    const page = await (await fetch(String(question.params?.url), { headers: { accept: 'text/html' } })).text();
    const text = page
      .replace(/<[^>]+>/g, ' ')
      .replaceAll('&#39;', "'")
      .replaceAll('&quot;', '"');
    expect(text).toContain('What the assistant’s window has asked you');
    expect(text).toContain(String(question.params?.message).replace(' Open the page to choose and upload it.', ''));
    await call.client.post({ jsonrpc: '2.0', id: question.id, result: { action: 'decline' } });
    await call.result();
  });

  it('keeps the answer from the server, under an id that no server has (FB-01)', async () => {
    const before = upstream.requests.length;
    const call = await RawCall.begin(wharf.mcp, 'take', {}, { capabilities: URL_CLIENT });
    const question = await call.message(({ method }) => method === 'elicitation/create');
    expect(question.id).toMatch(/^wharf-[\w-]{24}$/);
    const answered = await call.client.post({ jsonrpc: '2.0', id: question.id, result: { action: 'accept' } });
    expect(answered.status).toBe(202);
    await upload(String(question.params?.url));
    expect((await call.result()).isError).toBeUndefined();
    expect(call.messages.map(({ method, id }) => method ?? id)).toEqual([
      'elicitation/create',
      'notifications/elicitation/complete',
      call.id,
    ]);
    // a late answer is not the server's either
    await call.client.post({ jsonrpc: '2.0', id: question.id, result: { action: 'decline' } });
    expect(upstream.requests.slice(before).filter(({ method }) => method === undefined)).toEqual([]);
    // and one that Wharf does not know is the server's
    await call.client.post({ jsonrpc: '2.0', id: `wharf-${'x'.repeat(24)}`, result: { action: 'decline' } });
    expect(upstream.requests.slice(before).filter(({ method }) => method === undefined)).toHaveLength(1);
  });

  it('does not take an accepted request for an upload (FB-04)', async () => {
    const before = calls();
    const call = await RawCall.begin(wharf.mcp, 'take', {}, { capabilities: URL_CLIENT });
    const question = await call.message(({ method }) => method === 'elicitation/create');
    await call.client.post({ jsonrpc: '2.0', id: question.id, result: { action: 'accept' } });
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(calls()).toBe(before);
    expect(await statusOf(String(question.params?.url))).toMatchObject({ status: 'open' });
    await upload(String(question.params?.url));
    await call.result();
    expect(calls()).toBe(before + 1);
  });

  it.each(['decline', 'cancel'] as const)(
    'ends when the person says %s, and the page with it (FB-05)',
    async (action) => {
      const before = calls();
      const { client, asked } = await sdk(() => ({ action }));
      const result = await client.callTool({ name: 'take', arguments: {} });
      expect(result.isError).toBe(true);
      expect(textOf(result)).toMatch(/^The (person was asked|request) .* 'take' .* 'file'.*Do not make up the file/);
      // a client without a person closes it by itself, and its model may know the file
      const knows = action === 'cancel';
      expect(textOf(result).includes('call the tool again with its handle')).toBe(knows);
      expect(calls()).toBe(before);
      expect(await upload(asked[0]?.url)).toBe(410);
      expect(await statusOf(asked[0]?.url)).toEqual({ status: 'cancelled' });
    },
  );

  it('asks for each file that is missing, and for a list of them', async () => {
    const { client, asked } = await sdk(async ({ url }) => {
      await upload(url);
      return { action: 'accept' };
    });
    const both = await client.callTool({ name: 'both', arguments: {} });
    expect(JSON.parse(textOf(both))).toEqual({ front: BASE64, back: BASE64 });
    const many = await client.callTool({ name: 'many', arguments: { images: '@attach' } });
    expect(JSON.parse(textOf(many))).toEqual({ images: [BASE64] });
    expect(asked.map(({ message }) => /argument '(\w+)'/.exec(message)?.[1])).toEqual(['front', 'back', 'images']);
  });

  it('says so to a client that cancels its call, and takes the page back', async () => {
    const { client, asked } = await sdk(() => ({ action: 'accept' }));
    const cancelled = new AbortController();
    const call = client.callTool({ name: 'take', arguments: {} }, undefined, { signal: cancelled.signal });
    call.catch(() => undefined);
    const { url } = await soon(() => asked[0], 'the question');
    cancelled.abort('enough');
    await expect(call).rejects.toThrow('enough');
    await soon(() => wharf.lines.find(({ fields }) => fields.outcome === 'left'), 'the end of the wait');
    expect(await upload(url)).toBe(410);
  });

  it('goes on to the link where the client cannot ask that way after all (FB-06, FB-07)', async () => {
    const call = await RawCall.begin(wharf.mcp, 'take', {}, { capabilities: URL_CLIENT });
    const question = await call.message(({ method }) => method === 'elicitation/create');
    await call.client.post({ jsonrpc: '2.0', id: question.id, error: { code: -32601, message: 'no' } });
    const result = await call.result();
    const required = (result._meta as Record<string, { human: { url: string } }>)['dev.wharf/uploadRequired'];
    expect(required?.human.url).toBe(question.params?.url);
    expect(textOf(result)).toContain(String(question.params?.url));
    expect(textOf(result)).toContain(
      'The client answers that it cannot ask its user for the file: give them the link.',
    );
    expect(await upload(required?.human.url)).toBe(201);
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['declares no elicitation', '2025-11-25', {}],
    ['declares forms only', '2025-11-25', { elicitation: {} }],
    ['declares forms by name', '2025-11-25', { elicitation: { form: {} } }],
    ['speaks a version without pages', '2025-06-18', URL_CLIENT],
    ['speaks a version without elicitation', '2025-03-26', URL_CLIENT],
  ])('asks nothing of a client that %s (1306-40)', async (_what, version, capabilities) => {
    const client = await RawClient.connect(wharf.mcp, version, { capabilities });
    const { result, answer } = await client.call('take', {});
    expect(result?.isError).toBe(true);
    expect(answer.messages).toHaveLength(1);
    expect(textOf(result)).toMatch(/\/u\/[\w-]{43}/);
  });
});

describe('a call that waits too long for its file', () => {
  let wharf: Wharf;

  beforeAll(async () => {
    wharf = await startGatewayFor(upstream, { config: { limits: { questions: 1 } } });
  });

  afterEach(backToNow);

  afterAll(async () => {
    await wharf?.stop();
  });

  it('tells its progress, and then how to go on with the same link and handle (FB-02, FB-06)', async () => {
    const { client, asked } = await connect(wharf.mcp, () => ({ action: 'accept' }));
    const told: { progress: number; message?: string | undefined }[] = [];
    const onprogress = (progress: { progress: number; message?: string | undefined }) => told.push(progress);
    const call = client.callTool({ name: 'take', arguments: {} }, undefined, { onprogress });
    await soon(() => told[0], 'progress');
    await fetch(String(asked[0]?.url), { headers: { accept: 'text/html' } });
    later(6 * 60_000);
    const result = await call;
    expect(result.isError).toBe(true);
    expect(told[0]?.message).toContain(asked[0]?.url);
    expect(told[0]?.progress).toBeLessThan(1);
    expect(textOf(result)).toMatch(/was asked for it, and has uploaded nothing within 5 min/);
    expect(textOf(result)).toContain(asked[0]?.url);
    const [handle] = /mcp-file:\/\/\S+/.exec(textOf(result)) ?? [];
    expect(await upload(asked[0]?.url)).toBe(201);
    const again = await client.callTool({ name: 'take', arguments: { file: handle } });
    expect(JSON.parse(textOf(again))).toEqual({ file: BASE64 });
    await client.close();
  });

  it('keeps no other from its answer: beyond limits.questions a call does not wait', async () => {
    const call = await RawCall.begin(wharf.mcp, 'take', {}, { capabilities: URL_CLIENT });
    const question = await call.message(({ method }) => method === 'elicitation/create');
    const other = await RawCall.begin(wharf.mcp, 'take', {}, { capabilities: URL_CLIENT });
    expect(textOf(await other.result())).toMatch(
      /does not wait for the file\. The only call that may wait for a user here at once does\./,
    );
    expect(other.messages).toHaveLength(1);
    await call.client.post({ jsonrpc: '2.0', id: question.id, result: { action: 'decline' } });
    await call.result();
    const next = await RawCall.begin(wharf.mcp, 'take', {}, { capabilities: URL_CLIENT });
    const asked = await next.message(({ method }) => method === 'elicitation/create');
    await next.client.post({ jsonrpc: '2.0', id: asked.id, result: { action: 'cancel' } });
    await next.result();
  });
});

it('asks for nothing where the config forbids it', async () => {
  const wharf = await startGatewayFor(upstream, { config: { elicitation: { order: [] } } });
  const { client, asked } = await connect(wharf.mcp, () => ({ action: 'accept' }));
  expect((await client.callTool({ name: 'take', arguments: {} })).isError).toBe(true);
  expect(asked).toEqual([]);
  await client.close();
  await wharf.stop();
});

it('asks for the file of a server over stdio as well (FB-01)', async () => {
  const wharf = await startWharf({ servers: { docs: STDIO } });
  const { client } = await connect(wharf.mcp, async ({ url }) => {
    await upload(url);
    return { action: 'accept' };
  });
  const result = await client.callTool({ name: 'take', arguments: { file: '@attach' } });
  expect(JSON.parse(textOf(result))).toEqual({ value: BASE64 });
  await client.close();
  await wharf.stop();
});
