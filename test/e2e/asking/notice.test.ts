import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { backToNow, later } from '../../helpers/later.js';
import { RawClient, type RawMessage } from '../../helpers/raw-client.js';
import type { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { freshName } from '../../helpers/services.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { AskingServer, call as callAsk, heard, MODERN, wanted } from './input-lab.js';
import { connect, PNG, startGatewayFor, startUpstream, textOf, upload } from './lab.js';
import { RawCall } from './raw-call.js';
import { binary } from './server-lab.js';

const URL_CLIENT = { elicitation: { url: {} } };
const BASE64 = PNG.toString('base64');
const KEY = 'wharf-file-1';
const PAGE = { accept: 'text/html' };
/** More than `timeouts.elicitation`, and much more than `timeouts.elicitationNotice`. */
const TOO_LONG_MS = 6 * 60_000;

let upstream: RecordingUpstream;
let wharfs: Wharf[] = [];

beforeAll(async () => {
  upstream = await startUpstream();
});

afterAll(async () => {
  await upstream?.stop();
});

afterEach(async () => {
  backToNow();
  for (const wharf of wharfs) await wharf.stop();
  wharfs = [];
});

async function gateway(timeouts: Record<string, string>, more: object = {}, config: object = {}): Promise<Wharf> {
  const wharf = await startGatewayFor(upstream, { config: { timeouts, ...config }, ...more });
  wharfs.push(wharf);
  return wharf;
}

async function open(url: unknown, headers: Record<string, string> = PAGE): Promise<void> {
  const response = await fetch(String(url), { headers });
  await response.arrayBuffer();
  expect(response.status).toBe(200);
}

const isQuestion = ({ method }: RawMessage) => method === 'elicitation/create';

describe('a call whose page is not opened in time', () => {
  it('ends with the link, which still works, and with the handle for the next call (FB-02, FB-06)', async () => {
    const wharf = await gateway({ elicitationNotice: '300ms' });
    const { client, asked } = await connect(wharf.mcp, () => ({ action: 'accept' }));
    const result = await client.callTool({ name: 'take', arguments: {} });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/asked to open the upload page, and did not open it within 300 ms/);
    expect(textOf(result)).toContain(asked[0]?.url);
    const [handle] = /mcp-file:\/\/\S+/.exec(textOf(result)) ?? [];
    expect(await upload(asked[0]?.url)).toBe(201);
    const again = await client.callTool({ name: 'take', arguments: { file: handle } });
    expect(JSON.parse(textOf(again))).toEqual({ file: BASE64 });
    await client.close();
  });

  it('takes the question back from a client that has shown nothing', async () => {
    const wharf = await gateway({ elicitationNotice: '300ms' });
    const call = await RawCall.begin(wharf.mcp, 'take', {}, { capabilities: URL_CLIENT });
    const { id, params } = await call.message(isQuestion);
    // a browser that loads a page in advance, and a program that asks how it is, open nothing
    await open(params?.url, { ...PAGE, 'sec-purpose': 'prefetch;prerender' });
    await open(params?.url, { accept: 'application/json' });
    expect((await call.result()).isError).toBe(true);
    const taken = await call.message(({ method }) => method === 'notifications/cancelled');
    expect(taken.params).toMatchObject({ requestId: id });
  });

  it('waits on where it was opened, on whichever replica', async () => {
    const shared = { stores: 's3+redis', bucket: freshName('notice'), keyPrefix: `${freshName('notice')}:` } as const;
    const waiting = await gateway({}, shared);
    const other = await gateway({}, shared);
    const call = await RawCall.begin(waiting.mcp, 'take', {}, { capabilities: URL_CLIENT });
    const { params } = await call.message(isQuestion);
    await open(String(params?.url).replace(waiting.url, other.url));
    later(TOO_LONG_MS);
    expect(textOf(await call.result())).toMatch(/has uploaded nothing within 5 min/);
  });

  it('waits on where a program has begun to upload without it', async () => {
    const wharf = await gateway({});
    const call = await RawCall.begin(wharf.mcp, 'take', {}, { capabilities: URL_CLIENT });
    const { params } = await call.message(isQuestion);
    expect(await upload(String(params?.url), Buffer.from('no image'))).toBe(415);
    later(TOO_LONG_MS);
    expect(textOf(await call.result())).toMatch(/has uploaded nothing within 5 min/);
  });
});

describe('on 2026-07-28 a call whose page is not opened in time', () => {
  const ask = (wharf: Wharf) => {
    const client = RawClient.stateless(wharf.mcp, '2026-07-28', { capabilities: URL_CLIENT });
    const call = async (more: object = {}) => {
      const { result = {} } = await client.request('tools/call', { name: 'take', arguments: {}, ...more });
      return result as Record<string, unknown> & { inputRequests?: Record<string, { params: { url: string } }> };
    };
    return { client, call };
  };
  const inputResponses = { [KEY]: { action: 'accept' } };

  it('ends with the link and the handle (FB-03)', async () => {
    const { client, call } = ask(await gateway({ elicitationNotice: '300ms' }));
    const { requestState, inputRequests } = await call();
    const url = inputRequests?.[KEY]?.params.url;
    const result = await call({ requestState, inputResponses });
    expect(result).toMatchObject({ resultType: 'complete', isError: true });
    expect(textOf(result)).toMatch(/did not open it within 300 ms/);
    expect(textOf(result)).toContain(url);
    const [handle] = /mcp-file:\/\/\S+/.exec(textOf(result)) ?? [];
    expect(await upload(url)).toBe(201);
    expect(textOf((await client.call('take', { file: handle })).result)).toContain(BASE64);
  });

  it('goes on, over as many rounds as it takes, once it was opened (FB-03)', async () => {
    const { call } = ask(await gateway({ elicitationNotice: '300ms', elicitationRound: '700ms' }));
    let { requestState, inputRequests } = await call();
    const url = inputRequests?.[KEY]?.params.url;
    await open(url);
    for (let round = 0; round < 2; round++) {
      ({ requestState, inputRequests } = await call({ requestState, inputResponses }));
      expect(inputRequests?.[KEY]?.params.url).toBe(url);
    }
  });
});

describe('a server that asks by itself, whose page is not opened in time', () => {
  const field = { type: 'string', format: 'uri', 'x-mcp-file': { accept: ['image/png'] } };
  const question = {
    mode: 'form',
    message: 'a picture.',
    requestedSchema: { type: 'object', properties: { scan: field }, required: ['scan'] },
  };
  const docs = {
    command: [process.execPath, 'test/helpers/eliciting-server.fixture.mjs', JSON.stringify(question), 'stdio'],
  };

  it('hears cancel; its client gets the link, and the same call made again gets the file (BR-13, BR-05)', async () => {
    const wharf = await startWharf({ servers: { docs }, config: { timeouts: { elicitationNotice: '300ms' } } });
    wharfs.push(wharf);
    const { client, asked } = await connect(wharf.mcp, () => ({ action: 'accept' }));
    const call = (page: number) => client.callTool({ name: 'ask', arguments: { page } });
    const first = await call(1);
    expect(first.isError).toBe(true);
    expect(textOf(first)).toMatch(/The server "docs" asks: a picture\. The user was asked to open .* within 300 ms/);
    expect(textOf(first)).toContain(asked[0]?.url);
    expect(textOf(first)).toMatch(/mcp-file:\/\//);
    expect(await upload(asked[0]?.url)).toBe(201);
    const other = await call(2);
    expect(textOf(other)).toContain(asked[1]?.url);
    expect(asked[1]?.url).not.toBe(asked[0]?.url);
    const again = JSON.parse(textOf(await call(1))) as { came: { result: unknown } };
    const scan = `data:image/png;base64,${BASE64}`;
    expect(again.came.result).toEqual({ action: 'accept', content: { scan } });
    expect(asked).toHaveLength(2);
    // the file was for that one call; a link without a file is offered again
    expect(textOf(await call(1))).toContain(asked[2]?.url);
    expect(textOf(await call(2))).toContain(asked[1]?.url);
    expect(asked[3]?.url).toBe(asked[1]?.url);
    await client.close();
  });
});

describe('on 2026-07-28 a server that asks by itself, whose page is not opened in time', () => {
  it('has its call answered with the link; the same call made again gets the file (BR-13)', async () => {
    const requests = { scan: { method: 'elicitation/create', params: binary() } };
    const lab = await AskingServer.start(requests, { config: { timeouts: { elicitationNotice: '300ms' } } });
    const client = RawClient.stateless(lab.wharf.mcp, MODERN, { capabilities: URL_CLIENT });
    const first = wanted(await callAsk(client));
    const url = first.inputRequests?.[KEY]?.params.url;
    const inputResponses = { [KEY]: { action: 'accept' } };
    const { result } = await callAsk(client, { requestState: first.requestState, inputResponses });
    expect(result).toMatchObject({ resultType: 'complete', isError: true });
    expect(textOf(result)).toMatch(/asks: the scan to read\. The user was asked to open .* within 300 ms/);
    expect(textOf(result)).toContain(url);
    expect(wanted(await callAsk(client)).inputRequests?.[KEY]?.params.url).toBe(url);
    // that call has the link now: it puts it off as well
    const again = wanted(await callAsk(client));
    expect(again.inputRequests?.[KEY]?.params.url).not.toBe(url);
    await callAsk(client, { requestState: again.requestState, inputResponses });
    const other = again.inputRequests?.[KEY]?.params.url;
    expect(await upload(String(other))).toBe(201);
    const last = wanted(await callAsk(client));
    expect(last.inputRequests).toBeUndefined();
    const answer = heard(await callAsk(client, { requestState: last.requestState }));
    expect(answer.scan).toMatchObject({ action: 'accept', content: { scan: { uploadId: 'their-id' } } });
    expect(lab.uploads).toHaveLength(1);
    await lab.stop();
  });
});

describe('a client that can do other than it declares', () => {
  const clients = [
    { match: { name: 'shy' }, elicitation: [] },
    { match: { name: 'able' }, elicitation: ['url'] },
  ];

  it.each(['2025-11-25', '2026-07-28'])('is asked as clients: says, on %s', async (version) => {
    const wharf = await gateway({ elicitationNotice: '300ms' }, {}, { clients });
    const sent = async (name: string, capabilities: Record<string, unknown>) => {
      const about = { name, capabilities };
      const client =
        version === '2025-11-25'
          ? await RawClient.connect(wharf.mcp, version, about)
          : RawClient.stateless(wharf.mcp, version, about);
      const { answer } = await client.call('take', {});
      return answer.text;
    };
    expect(await sent('shy', URL_CLIENT)).not.toContain('elicitation/create');
    expect(await sent('other', URL_CLIENT)).toContain('elicitation/create');
    expect(await sent('other', {})).not.toContain('elicitation/create');
  });

  it('is asked where it declares nothing', async () => {
    const wharf = await gateway({ elicitationNotice: '300ms' }, {}, { clients });
    const call = await RawCall.begin(wharf.mcp, 'take', {}, { name: 'able' });
    const { params } = await call.message(isQuestion);
    expect(params).toMatchObject({ mode: 'url' });
    await call.result();
  });
});
