import { afterEach, describe, expect, it } from '@jest/globals';
import { freePort } from '../../helpers/gateway-process-ports.js';
import { PNG } from './lab.js';
import { RawCall } from './raw-call.js';
import { ask, BINARY, binary, FORMS, send, start, stop, toldIn, URI, wharf } from './server-lab.js';

type Json = Record<string, unknown>;

afterEach(stop);

const asking = () => ({ ...binary({ field: { maxSize: 3_000_000 } }), _meta: { progressToken: 'theirs' } });
const BIG = Buffer.concat([PNG.subarray(0, 8), Buffer.alloc(2_000_000)]);
const metaOf = (params: Json | undefined) => (params?._meta ?? {}) as { progressToken?: string };

describe('progress of an upload', () => {
  it('is told to a server that has asked for it, up to the whole file and never backwards (1306-36)', async () => {
    await start(asking(), { statuses: '500,200' });
    const { call, question, answer } = await ask({ elicitation: { form: {}, binary: {} } });
    const { id, params } = await question();
    const { uploadId } = await send(params, BIG);
    await answer(id, { action: 'accept', content: { scan: { uploadId } } });
    const { came, progress, uploads } = toldIn(await call.result());
    expect(came.result?.action).toBe('accept');
    expect(uploads).toHaveLength(2);
    const done = progress.map((one) => Number(one.progress));
    expect(done).toEqual([...new Set(done)].sort((a, b) => a - b));
    expect(done.at(-1)).toBe(2_000_008);
    expect(done.length).toBeLessThanOrEqual(20);
    for (const one of progress)
      expect(one).toMatchObject({ progressToken: 'theirs', total: 2_000_008, message: 'Uploading page1.png' });
  });

  it('is told to a server over stdio before its answer (1306-36)', async () => {
    const port = await freePort();
    await start(asking(), { over: 'stdio', port, more: { fetch: { origins: [`http://127.0.0.1:${port}`] } } });
    const { call, question, answer } = await ask(FORMS);
    await answer((await question()).id, { action: 'accept', content: { scan: URI } });
    expect(toldIn(await call.result()).progress).toEqual([
      { progressToken: 'theirs', progress: PNG.length, total: PNG.length, message: 'Uploading page1.png' },
    ]);
  });

  it('is not told to a server that has not asked for it (1306-36)', async () => {
    await start(binary());
    const { call, question, answer } = await ask(FORMS);
    await answer((await question()).id, { action: 'accept', content: { scan: URI } });
    expect(toldIn(await call.result()).progress).toEqual([]);
  });

  it('may be told by the client, by a token that no server ever sees (1306-35)', async () => {
    await start(asking());
    const call = await RawCall.begin(
      wharf().mcp,
      'ask',
      {},
      {
        capabilities: BINARY,
        meta: { progressToken: 'mine' },
      },
    );
    const { id, params } = await call.message(({ method }) => method === 'elicitation/create');
    const { progressToken } = metaOf(params);
    expect(progressToken).toMatch(/^wharf-/);
    const tell = (progress: number, token = progressToken) =>
      call.client.post({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: token, progress, total: PNG.length },
      });
    expect((await tell(30)).status).toBe(202);
    const heard = await call.message(({ params: told }) => String(told?.message).includes('uploaded'));
    expect(heard.params).toMatchObject({ progressToken: 'mine' });
    expect(heard.params?.message).toBe('Waiting for an answer: 30 bytes of 70 bytes uploaded');
    const { uploadId } = await send(params);
    await call.client.post({ jsonrpc: '2.0', id, result: { action: 'accept', content: { scan: { uploadId } } } });
    const { progress } = toldIn(await call.result());
    expect(progress.map((one) => one.progressToken)).toEqual(['theirs']);
    // a late word is no more for the server than an early one
    expect((await tell(70)).status).toBe(202);
    // what Wharf has not asked is the server's
    await tell(1, 'of the server');
    const other = await RawCall.begin(wharf().mcp, 'ask', {}, { capabilities: { elicitation: {} } });
    const tokens = toldIn(await other.result()).progress.map((one) => one.progressToken);
    expect(tokens).toEqual(['theirs', 'of the server']);
  });

  it('is not asked for where the client opens a page (1306-35)', async () => {
    await start(binary());
    const { question } = await ask({ elicitation: { url: {} } });
    expect((await question()).params).not.toHaveProperty('_meta');
  });
});
