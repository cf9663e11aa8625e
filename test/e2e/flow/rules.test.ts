import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { STORES, startWharf, type Wharf } from '../../helpers/wharf.js';
import { RawCall } from '../asking/raw-call.js';
import { announced, image } from '../files/handoff-lab.js';

const LONG = image();
const SHORT = Buffer.from('a small file of the hr server, short enough to stay in its message as it is');
const OTHER = Buffer.from('a small file that no server has given to anyone, and that may go anywhere at all');

/** What the tools of the giving server give; for each user's answer another one, since answers are remembered. */
const GIVEN: Readonly<Record<string, Buffer>> = {
  long: LONG,
  short: SHORT,
  'for one that cannot ask': Buffer.from(`${SHORT.toString()}, for those who cannot ask`),
  'for one without sessions': Buffer.from(`${SHORT.toString()}, for those who ask by results`),
};
const FILE = { type: 'object', properties: { file: { type: 'string' } } };
const TAKES = { files: { file: { encoding: 'base64' } } };

interface Offered {
  structuredContent: { file: { uri: string }; upload: { url: string } };
}

let giving: RecordingUpstream;
let taking: RecordingUpstream;

beforeAll(async () => {
  giving = await RecordingUpstream.start({
    tools: Object.keys(GIVEN).map((name) => ({ name, inputSchema: { type: 'object' } })),
    methods: {
      'tools/call': ({ name }) => ({
        content: [{ type: 'image', mimeType: 'image/png', data: GIVEN[String(name)]?.toString('base64') }],
      }),
    },
  });
  taking = await RecordingUpstream.start({ tools: [{ name: 'take', inputSchema: FILE }] });
});

afterAll(async () => {
  await giving?.stop();
  await taking?.stop();
});

function start(flow: unknown[], stores: (typeof STORES)[number] = 'filesystem+memory'): Promise<Wharf> {
  const to = { url: taking.url, transport: 'streamable-http', tools: { take: TAKES } };
  const from = { url: giving.url, transport: 'streamable-http' };
  return startWharf({ servers: { hr: from, docs: from, web: to, archive: to }, stores, config: { flow } });
}

const client = (wharf: Wharf, server: string) => RawClient.connect(`${wharf.url}/${server}/mcp`);

async function upload(wharf: Wharf, server: string, bytes: Buffer): Promise<string> {
  const { result } = await (await client(wharf, server)).call('request_file_upload', {});
  const { file, upload: link } = (result as unknown as Offered).structuredContent;
  await fetch(link.url, { method: 'PUT', body: new Uint8Array(bytes) });
  return file.uri;
}

async function take(wharf: Wharf, server: string, file: string) {
  const before = taking.with('tools/call').length;
  const { result } = await (await client(wharf, server)).call('take', { file });
  const reason = (result?._meta as Record<string, { reason?: string }> | undefined)?.['dev.wharf/fileError']?.reason;
  return { reason, text: JSON.stringify(result), isSent: taking.with('tools/call').length > before };
}

describe.each(STORES)('With deny: { from: hr, to: web }, over %s, a file of hr', (stores) => {
  let wharf: Wharf;
  let handle: string;

  beforeAll(async () => {
    wharf = await start([{ deny: { from: 'hr', to: 'web' } }], stores);
    const hr = await client(wharf, 'hr');
    handle = announced((await hr.call('long')).result).uri;
    await hr.call('short');
  });

  afterAll(() => wharf?.stop());

  const denied = { reason: 'handoffDenied', isSent: false };

  it('does not reach web by its handle (G32)', async () => {
    expect(await take(wharf, 'web', handle)).toMatchObject(denied);
  });

  it.each([
    ['a long one, which was cut', LONG],
    ['a short one, which stayed in its message', SHORT],
  ])('does not reach web inside a call: %s', async (_, bytes) => {
    expect(await take(wharf, 'web', bytes.toString('base64'))).toMatchObject(denied);
    expect(await take(wharf, 'web', `data:image/png;base64,${bytes.toString('base64')}`)).toMatchObject(denied);
  });

  it.each([
    ['a long one, which was cut', LONG],
    ['a short one, which stayed in its message', SHORT],
  ])('does not reach web by an upload: %s', async (_, bytes) => {
    expect(await take(wharf, 'web', await upload(wharf, 'web', bytes))).toMatchObject(denied);
  });

  it('reaches another server in each of these ways', async () => {
    for (const file of [handle, SHORT.toString('base64'), await upload(wharf, 'archive', SHORT)]) {
      expect(await take(wharf, 'archive', file)).toMatchObject({ reason: undefined, isSent: true });
    }
  });

  it('and no other keeps a file from web', async () => {
    expect(await take(wharf, 'web', OTHER.toString('base64'))).toMatchObject({ reason: undefined, isSent: true });
  });
});

describe('With ask: { from: hr, to: web }', () => {
  let wharf: Wharf;

  beforeAll(async () => {
    wharf = await start([{ ask: { from: 'hr', to: 'web' } }]);
    await (await client(wharf, 'hr')).call('short');
  });

  afterAll(() => wharf?.stop());

  it('a client that cannot ask is refused, and told why', async () => {
    const name = 'for one that cannot ask';
    await (await client(wharf, 'hr')).call(name);
    const { reason, text } = await take(wharf, 'web', String(GIVEN[name]?.toString('base64')));
    expect(reason).toBe('handoffDenied');
    expect(text).toContain('only if the user agrees, and this client cannot ask');
  });

  it('the user is asked once, and the answer counts for that file and that server (HO-08)', async () => {
    const capabilities = { elicitation: {} };
    const args = { file: SHORT.toString('base64') };
    const call = await RawCall.begin(`${wharf.url}/web/mcp`, 'take', args, { capabilities });
    await call.message(() => call.messages.some(({ method }) => method === 'elicitation/create'));
    const question = call.messages.find(({ method }) => method === 'elicitation/create');
    expect(question?.params).toMatchObject({
      message: expect.stringMatching(/'take' of the server "web" is to get a file of "hr" \(.*\)\. May it\?/),
      requestedSchema: { properties: { allow: { type: 'boolean' } }, required: ['allow'] },
    });
    const answer = { action: 'accept', content: { allow: true } };
    await call.client.post({ jsonrpc: '2.0', id: question?.id, result: answer });
    await call.result();
    expect(taking.lastArguments.file).toBe(args.file);
    expect(await take(wharf, 'web', args.file)).toMatchObject({ reason: undefined, isSent: true });
  });

  it('and a user who declines is not asked again at once', async () => {
    await (await client(wharf, 'hr')).call('long');
    const capabilities = { elicitation: {} };
    const args = { file: LONG.toString('base64') };
    const call = await RawCall.begin(`${wharf.url}/web/mcp`, 'take', args, { capabilities });
    await call.message(() => call.messages.some(({ method }) => method === 'elicitation/create'));
    const question = call.messages.find(({ method }) => method === 'elicitation/create');
    await call.client.post({ jsonrpc: '2.0', id: question?.id, result: { action: 'decline' } });
    expect(JSON.stringify(await call.result())).toContain('the user has declined');
    expect((await take(wharf, 'web', args.file)).text).toContain('the user has declined');
  });

  it('and a client without sessions is asked by a result, after which it calls again', async () => {
    const name = 'for one without sessions';
    await (await client(wharf, 'hr')).call(name);
    const about = { capabilities: { elicitation: { form: {} } } };
    const late = RawClient.stateless(`${wharf.url}/web/mcp`, '2026-07-28', about);
    const args = { name: 'take', arguments: { file: String(GIVEN[name]?.toString('base64')) } };
    const { result } = await late.request('tools/call', args);
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { 'wharf-file-consent': { method: 'elicitation/create', params: { mode: 'form' } } },
    });
    const { requestState } = result as unknown as { requestState: string };
    const inputResponses = { 'wharf-file-consent': { action: 'accept', content: { allow: true } } };
    const again = await late.request('tools/call', { ...args, requestState, inputResponses });
    expect(again.result).toMatchObject({ content: [{ type: 'text', text: 'done' }] });
    expect(taking.lastArguments.file).toBe(args.arguments.file);
    expect(taking.with('tools/call').at(-1)?.params).not.toHaveProperty('requestState');
  });
});
