import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PIXEL } from '../../helpers/pixel.js';
import { RawClient } from '../../helpers/raw-client.js';
import type { RecordingUpstream } from '../../helpers/recording-upstream.js';
import type { Wharf } from '../../helpers/wharf.js';
import { startGatewayFor, startUpstream, textOf, uploadAll } from '../asking/lab.js';
import { asked, RawCall } from '../asking/raw-call.js';

const VERSION = '2025-11-25';
const FORM = { elicitation: {}, fileInputs: {} };
const PAGE = { elicitation: { url: {} } };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const picture = `data:image/png;base64,${PIXEL.toString('base64')}`;

let upstream: RecordingUpstream;
let wharf: Wharf;

beforeAll(async () => {
  upstream = await startUpstream();
  wharf = await startGatewayFor(upstream, { config: { auth: { use: 'passthrough' } } });
});

afterAll(async () => {
  await wharf?.stop();
  await upstream?.stop();
});

const calls = () => upstream.with('tools/call').length;

/** A call with the first token that waits for its file, and the same client with its second token. */
async function begin(capabilities: object) {
  const headers = bearer('first');
  const { call, question } = asked(
    await RawCall.begin(wharf.mcp, 'take', {}, { capabilities: { ...capabilities }, headers }),
  );
  const renewed = RawClient.of(wharf.mcp, VERSION, {
    ...bearer('second'),
    'mcp-session-id': String(call.client.session),
  });
  const { id, params } = await question();
  return { call, renewed, id, params };
}

describe('a client that renews its token while a call of its waits for a file (passthrough)', () => {
  it.each(['accept', 'decline', 'cancel'])(
    'is heard when it answers with %s, and the server is not',
    async (action) => {
      const { call, renewed, id } = await begin(FORM);
      const before = calls();
      const result = { action, ...(action === 'accept' && { content: { file: picture } }) };
      expect((await renewed.post({ jsonrpc: '2.0', id, result })).status).toBe(202);
      const answer = await call.result();
      expect(answer.isError ?? false).toBe(action !== 'accept');
      if (action === 'accept') expect(JSON.parse(textOf(answer)).file).toBe(PIXEL.toString('base64'));
      expect(calls() - before).toBe(action === 'accept' ? 1 : 0);
      expect(upstream.requests.some(({ body }) => body.includes(String(id)))).toBe(false);
    },
  );

  it('cancels the call, whose link then takes nothing', async () => {
    const { renewed, call, params } = await begin(PAGE);
    await renewed.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: call.id } });
    expect(await call.broken()).toBe(false);
    expect(await uploadAll(String(params?.url), [['a.png', PIXEL]])).toBe(410);
  });

  it('is not heard in another session', async () => {
    const { call, id } = await begin(FORM);
    const other = await RawClient.connect(wharf.mcp, VERSION, { capabilities: FORM, headers: bearer('second') });
    await other.post({ jsonrpc: '2.0', id, result: { action: 'decline' } });
    await call.client.post({ jsonrpc: '2.0', id, result: { action: 'accept', content: { file: picture } } });
    expect((await call.result()).isError).toBeUndefined();
  });
});
