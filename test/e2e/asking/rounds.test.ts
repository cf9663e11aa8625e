import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { RawClient, type RawMessage } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { freshName } from '../../helpers/services.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { PNG, STDIO, startGatewayFor, startUpstream, TOOLS, textOf, upload } from './lab.js';
import { RawCall } from './raw-call.js';

const MODERN = '2026-07-28';
const ABOUT = { capabilities: { elicitation: { form: {}, url: {} } } };
const BASE64 = PNG.toString('base64');
const KEY = 'wharf-file-1';

interface Required {
  requestState: string;
  inputRequests: Record<string, { method: string; params: { mode: string; url: string; message: string } }>;
}

const required = ({ result }: RawMessage): Required => {
  expect(result?.resultType).toBe('input_required');
  return result as unknown as Required;
};

const accept = { [KEY]: { action: 'accept' } };

let upstream: RecordingUpstream;

beforeAll(async () => {
  upstream = await startUpstream();
});

afterAll(async () => {
  await upstream?.stop();
});

describe('a client that is asked by results', () => {
  let wharf: Wharf;
  let hasty: Wharf;
  let client: RawClient;

  beforeAll(async () => {
    wharf = await startGatewayFor(upstream);
    hasty = await startGatewayFor(upstream, { config: { timeouts: { elicitationRound: '1s' } } });
    client = RawClient.stateless(wharf.mcp, MODERN, ABOUT);
  });

  afterAll(async () => {
    await wharf?.stop();
    await hasty?.stop();
  });

  const take = (more: Record<string, unknown> = {}, by = client) =>
    by.request('tools/call', { name: 'take', arguments: { note: 'n' }, ...more });
  const calls = () => upstream.with('tools/call').length;

  it.each([{}, { elicitation: {} }, { files: { upload: true } }])(
    'may declare %j when it answers: what it was asked is heard, and it is not asked by what it no longer declares',
    async (capabilities) => {
      const other = RawClient.stateless(hasty.mcp, MODERN, { capabilities });
      const { requestState, inputRequests } = required(await take());
      await upload(inputRequests[KEY]?.params.url ?? '');
      const elsewhere = RawClient.stateless(wharf.mcp, MODERN, { capabilities });
      const { result } = await take({ requestState, inputResponses: accept }, elsewhere);
      expect(result?.isError).not.toBe(true);
      expect(upstream.lastArguments).toEqual({ note: 'n', file: BASE64 });
      const asked = required(await take({}, RawClient.stateless(hasty.mcp, MODERN, ABOUT)));
      const late = await take({ requestState: asked.requestState, inputResponses: accept }, other);
      expect(late.result).toMatchObject({
        isError: true,
        _meta: { 'dev.wharf/uploadRequired': { argument: 'file' } },
      });
    },
  );

  it('calls again until the file is there, with one link in every round (FB-03, FB-04)', async () => {
    const before = calls();
    const by = RawClient.stateless(hasty.mcp, MODERN, ABOUT);
    const first = required(await take({}, by));
    expect(Object.keys(first.inputRequests)).toEqual([KEY]);
    const { method, params } = first.inputRequests[KEY] ?? {};
    expect(method).toBe('elicitation/create');
    expect(Object.keys(params ?? {}).sort()).toEqual(['message', 'mode', 'url']);
    expect(params?.message).toContain("'take'");
    const began = Date.now();
    const second = required(await take({ requestState: first.requestState, inputResponses: accept }, by));
    expect(Date.now() - began).toBeGreaterThan(900);
    expect(second.inputRequests[KEY]?.params.url).toBe(params?.url);
    expect(calls()).toBe(before);
    expect(await upload(params?.url)).toBe(201);
    const { result } = await take({ requestState: second.requestState, inputResponses: accept }, by);
    expect(JSON.parse(textOf(result))).toEqual({ note: 'n', file: BASE64 });
    expect(calls()).toBe(before + 1);
    const sent = upstream.with('tools/call').at(-1)?.params ?? {};
    expect(sent).not.toHaveProperty('requestState');
    expect(sent).not.toHaveProperty('inputResponses');
  });

  it('sees an upload that comes while its call waits (FB-03)', async () => {
    const { requestState, inputRequests } = required(await take());
    setTimeout(() => void upload(inputRequests[KEY]?.params.url), 200);
    const { result } = await take({ requestState, inputResponses: accept });
    expect(textOf(result)).toContain(BASE64);
  });

  it.each(['decline', 'cancel'])('ends when the person says %s, and the page with it (FB-05)', async (action) => {
    const before = calls();
    const { requestState, inputRequests } = required(await take());
    const { result } = await take({ requestState, inputResponses: { [KEY]: { action } } });
    expect(result).toMatchObject({ resultType: 'complete', isError: true });
    expect(textOf(result)).toMatch(/Do not make up the file/);
    expect(await upload(inputRequests[KEY]?.params.url)).toBe(410);
    expect(calls()).toBe(before);
  });

  it('is asked for one file after the other, and keeps those that are there', async () => {
    const call = (more: object = {}) => client.request('tools/call', { name: 'both', arguments: {}, ...more });
    const first = required(await call());
    await upload(first.inputRequests[KEY]?.params.url);
    const second = required(await call({ requestState: first.requestState, inputResponses: accept }));
    expect(Object.keys(second.inputRequests)).toEqual(['wharf-file-2']);
    await upload(second.inputRequests['wharf-file-2']?.params.url);
    const inputResponses = { 'wharf-file-2': { action: 'accept' } };
    const { result } = await call({ requestState: second.requestState, inputResponses });
    expect(JSON.parse(textOf(result))).toEqual({ front: BASE64, back: BASE64 });
  });

  it('cannot use a state for another call, and not what it has made itself (2356-38)', async () => {
    const { requestState } = required(await take());
    const other = await client.request('tools/call', {
      name: 'take',
      arguments: { note: 'other' },
      requestState,
      inputResponses: accept,
    });
    expect(other.error).toMatchObject({ code: -32602, message: expect.stringContaining('another call') });
    const odd = await take({ requestState, inputResponses: 'x' });
    expect(odd.error?.code).toBe(-32602);
    // what Wharf has not sealed is the server's
    const before = calls();
    await take({ arguments: { file: `data:image/png;base64,${BASE64}` }, requestState: 'foreign' });
    expect(calls()).toBe(before + 1);
    expect(upstream.with('tools/call').at(-1)?.params.requestState).toBe('foreign');
  });

  it.each<[string, (state: string) => unknown]>([
    ['one character of it', (state) => `${state.slice(0, 40)}${state[40] === 'A' ? 'B' : 'A'}${state.slice(41)}`],
    ['all of it', () => 'made up'],
    ['its end', (state) => state.slice(0, -8)],
    ['its type', () => 7],
  ])('cannot change a state: not %s, whether or not it answers with it (BASE-08)', async (_, change) => {
    const before = calls();
    const { requestState, inputRequests } = required(await take());
    for (const answers of [{ inputResponses: accept }, {}]) {
      const { error } = await take({ requestState: change(requestState), ...answers });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('the requestState was changed') });
    }
    expect(calls()).toBe(before);
    // its link is as it was
    expect(await upload(inputRequests[KEY]?.params.url)).toBe(201);
    const { result } = await take({ requestState, inputResponses: accept });
    expect(textOf(result)).toContain(BASE64);
  });

  it('is not asked what it has not declared', async () => {
    const plain = RawClient.stateless(wharf.mcp, MODERN, { capabilities: { elicitation: {} } });
    const { result } = await plain.call('take', {});
    expect(result).toMatchObject({ resultType: 'complete', isError: true });
  });

  it('of the SDK finishes its call by itself (FB-03, K6)', async () => {
    const sdk = new Client(
      { name: 'asked', version: '1' },
      { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: { pin: MODERN } } },
    );
    const asked: string[] = [];
    sdk.setRequestHandler('elicitation/create', async ({ params }) => {
      const url = 'url' in params ? String(params.url) : '';
      asked.push(url);
      setTimeout(() => void upload(url), 200);
      return { action: 'accept' };
    });
    await sdk.connect(new StreamableHTTPClientTransport(new URL(wharf.mcp)));
    const result = await sdk.callTool({ name: 'take', arguments: { note: 'n' } });
    expect(JSON.parse(textOf(result))).toEqual({ note: 'n', file: BASE64 });
    expect(asked).toHaveLength(1);
    await sdk.close();
  });
});

it('a server that asks by itself gets its own state back, and its file in every round (FB-03, BASE-10)', async () => {
  const asking = await RecordingUpstream.start({
    tools: TOOLS,
    methods: {
      'tools/call': ({ arguments: given, requestState, inputResponses }) =>
        requestState === 'of the server'
          ? { resultType: 'complete', content: [{ type: 'text', text: JSON.stringify({ given, inputResponses }) }] }
          : {
              resultType: 'input_required',
              inputRequests: {
                name: { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: {} } },
              },
              requestState: 'of the server',
            },
    },
  });
  const wharf = await startGatewayFor(asking);
  const client = RawClient.stateless(wharf.mcp, MODERN, ABOUT);
  const call = (more: object = {}) => client.request('tools/call', { name: 'take', arguments: {}, ...more });
  const first = required(await call());
  await upload(first.inputRequests[KEY]?.params.url);
  const second = required(await call({ requestState: first.requestState, inputResponses: accept }));
  expect(Object.keys(second.inputRequests)).toEqual(['name']);
  const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } };
  const { result } = await call({ requestState: second.requestState, inputResponses });
  expect(JSON.parse(textOf(result))).toEqual({ given: { file: BASE64 }, inputResponses });
  // without a file of Wharf's the two are alone with each other
  const own = await call({ arguments: { file: BASE64 } });
  expect(required(own).requestState).toBe('of the server');
  await wharf.stop();
  await asking.stop();
});

it('a call is finished on another replica than the one that asked (FB-03)', async () => {
  const shared = { stores: 's3+redis', bucket: freshName('rounds'), keyPrefix: `${freshName('rounds')}:` } as const;
  const [one, two] = [await startGatewayFor(upstream, shared), await startGatewayFor(upstream, shared)];
  const at = (wharf: Wharf) => RawClient.stateless(wharf.mcp, MODERN, ABOUT);
  const { requestState, inputRequests } = required(await at(one).call('take', {}));
  await upload(inputRequests[KEY]?.params.url);
  const call = { name: 'take', arguments: {}, requestState, inputResponses: accept };
  const { result } = await at(two).request('tools/call', call);
  expect(JSON.parse(textOf(result))).toEqual({ file: BASE64 });
  await one.stop();
  await two.stop();
});

it('a call with more arguments than Wharf parses is asked for its file, and finished (FB-03)', async () => {
  const wharf = await startGatewayFor(upstream);
  const client = RawClient.stateless(wharf.mcp, MODERN, ABOUT);
  const rows = Array.from({ length: 10_001 }, (_, row) => row);
  const call = (more: object = {}, args: object = { rows }) =>
    client.request('tools/call', { name: 'take', arguments: args, ...more });
  const { requestState, inputRequests } = required(await call());
  await upload(inputRequests[KEY]?.params.url);
  const { result } = await call({ requestState, inputResponses: accept });
  expect(JSON.parse(textOf(result))).toEqual({ rows, file: BASE64 });
  const other = await call({ requestState, inputResponses: accept }, { rows: [...rows, 1] });
  expect(other.error).toMatchObject({ code: -32602, message: expect.stringContaining('another call') });
  await wharf.stop();
});

it('a client is told to go on by itself where as many calls wait as may, and does not call again and again', async () => {
  const wharf = await startGatewayFor(upstream, { config: { limits: { questions: 1 } } });
  const waiting = await RawCall.begin(wharf.mcp, 'take', {}, ABOUT);
  const { id } = await waiting.message(({ method }) => method === 'elicitation/create');
  const client = RawClient.stateless(wharf.mcp, MODERN, ABOUT);
  const { requestState, inputRequests } = required(await client.call('take', {}));
  const again = { name: 'take', arguments: {}, requestState, inputResponses: accept };
  const { result } = await client.request('tools/call', again);
  expect(result).toMatchObject({ resultType: 'complete', isError: true });
  expect(textOf(result)).toMatch(
    /does not wait for the file\. The only call that may wait for a user here at once does\./,
  );
  expect(textOf(result)).toContain(inputRequests[KEY]?.params.url);
  const [handle] = /mcp-file:\/\/\S+/.exec(textOf(result)) ?? [];
  expect(await upload(inputRequests[KEY]?.params.url)).toBe(201);
  expect(JSON.parse(textOf((await client.call('take', { file: handle })).result))).toEqual({ file: BASE64 });
  await waiting.client.post({ jsonrpc: '2.0', id, result: { action: 'decline' } });
  await waiting.result();
  await wharf.stop();
});

it('works for a server over stdio (FB-03)', async () => {
  const wharf = await startWharf({ servers: { docs: STDIO } });
  const client = RawClient.stateless(wharf.mcp, MODERN, ABOUT);
  const call = (more: object = {}) =>
    client.request('tools/call', { name: 'take', arguments: { file: '@attach' }, ...more });
  const { requestState, inputRequests } = required(await call());
  await upload(inputRequests[KEY]?.params.url);
  const { result } = await call({ requestState, inputResponses: accept });
  expect(JSON.parse(textOf(result))).toEqual({ value: BASE64 });
  await wharf.stop();
});
