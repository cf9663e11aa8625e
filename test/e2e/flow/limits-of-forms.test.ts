import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { auditLines } from '../../helpers/audit-lines.js';
import { messagesIn, RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { AskingServer, call, heard, MODERN, wanted } from '../asking/input-lab.js';
import { PNG } from '../asking/lab.js';
import { RawCall } from '../asking/raw-call.js';
import { ask, binary, FORMS, schemaIn, start, stop, toldIn, URI, wharf } from '../asking/server-lab.js';
import { asked, begin, look, outcome, TaskLab, update } from '../asking/task-lab.js';

type Json = Record<string, unknown>;

const PDF = ['application/pdf'];
const form = (keyword: Json = {}) => ({
  mode: 'form',
  message: 'a picture',
  requestedSchema: {
    type: 'object',
    properties: { scan: { type: 'string', format: 'uri', 'x-mcp-file': keyword } },
    required: ['scan'],
  },
});
const question = (keyword: Json = {}) => ({ method: 'elicitation/create', params: form(keyword) });
const given = { action: 'accept', content: { scan: URI } };
const KEY = 'wharf-file-1';

let folder: string;
const stops: (() => Promise<void>)[] = [stop];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-form-limits-'));
});
afterEach(async () => {
  for (const one of stops.splice(1)) await one();
  await stop();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What a client is asked that fills a form with a picture, and what the server hears once it declines to give another. */
async function refused(): Promise<{ asked: Json | undefined; why: string; came: Json }> {
  const { call, question, answer } = await ask(FORMS);
  const first = await question();
  await answer(first.id, given);
  const second = await question(2);
  await answer(second.id, { action: 'decline' });
  const { came } = toldIn(await call.result());
  return { asked: first.params, why: String(second.params?.message), came };
}

describe('the types of files that a server may be given hold for what it asks for by a form', () => {
  const WHY = 'The file is image/png, which is not accepted here; accepted: application/pdf.';

  it.each<[string, Parameters<typeof start>[1], Json]>([
    ['of the config', {}, { limits: { accept: PDF } }],
    ['of the server', { limits: { accept: PDF } }, {}],
    ['of the tool', { more: { tools: { ask: { limits: { accept: PDF } } } } }, {}],
    ['of a ceiling', {}, { ceiling: { accept: PDF } }],
  ])('where they are those %s', async (_whose, setting, config) => {
    await start(form(), setting, config);
    const { asked, why, came } = await refused();
    expect(schemaIn(asked).properties.scan).toMatchObject({ 'x-mcp-file': { accept: PDF } });
    expect(why).toContain(WHY);
    expect(came).toEqual({ result: { action: 'decline' } });
  });

  it('where it wants the file at an address of its own', async () => {
    await start(binary({ field: { accept: undefined } }), { limits: { accept: PDF } });
    const { why, came } = await refused();
    expect(why).toContain(WHY);
    expect(came).toEqual({ result: { action: 'decline' } });
  });

  it('and a file of one of them is passed on', async () => {
    await start(form(), { limits: { accept: ['image/*'] } });
    const { call, question, answer } = await ask(FORMS);
    await answer((await question()).id, given);
    expect(toldIn(await call.result()).came.result).toEqual({
      action: 'accept',
      content: { scan: `data:image/png;base64,${PNG.toString('base64')}` },
    });
  });

  it('where they have none in common with those of the server: it hears cancel, and the audit log says why', async () => {
    const path = join(folder, 'none.jsonl');
    await start(form({ accept: ['image/png'] }), { limits: { accept: PDF } }, { audit: { use: 'file', path } });
    const { call, question, answer } = await ask(FORMS);
    await answer((await question()).id, given);
    expect(toldIn(await call.result()).came).toEqual({ result: { action: 'cancel' } });
    await until(async () => (await auditLines(path, 'handoff')).length > 0);
    expect(await auditLines(path, 'handoff')).toMatchObject([
      { server: 'docs', allowed: false, code: 'file_refused', rule: 'servers.docs.limits.accept' },
    ]);
  });

  it('on 2026-07-28, of the tool in which it asks', async () => {
    const tools = { ask: { limits: { accept: PDF } } };
    const lab = await AskingServer.start({ scan: question() }, { server: { tools } });
    stops.push(() => lab.stop());
    const client = RawClient.stateless(lab.wharf.mcp, MODERN, { capabilities: FORMS });
    const first = wanted(await call(client));
    const answers = { requestState: first.requestState, inputResponses: { [KEY]: given } };
    const again = wanted(await call(client, answers));
    expect(String(again.inputRequests?.[KEY]?.params.message)).toContain(WHY);
    const declined = { requestState: again.requestState, inputResponses: { [KEY]: { action: 'decline' } } };
    expect(heard(await call(client, declined))).toEqual({ scan: { action: 'decline' } });
  });

  it('in a task, of the tool that it runs', async () => {
    const tools = { ask: { limits: { accept: PDF } } };
    const lab = await TaskLab.start({ scan: question() }, { server: { tools } });
    stops.push(() => lab.stop());
    const client = lab.client(FORMS);
    const taskId = await begin(client);
    const [key] = asked(await look(client, taskId));
    await update(client, taskId, { [key]: given });
    const [again, { message }] = asked(await look(client, taskId));
    expect(again).not.toBe(key);
    expect(message).toContain(WHY);
    await update(client, taskId, { [again]: { action: 'decline' } });
    expect((await outcome(client, taskId)).heard).toEqual({ scan: { action: 'decline' } });
  });

  it('on the stream of a session, where the tool is not known: of every tool', async () => {
    await start(form(), { over: 'get', more: { tools: { other: { limits: { accept: PDF } } } } });
    const client = await RawClient.connect(wharf().mcp, '2025-11-25', { capabilities: FORMS });
    const leaving = new AbortController();
    const headers = { ...client.headers(), accept: 'text/event-stream' };
    const { body } = await fetch(wharf().mcp, { headers, signal: leaving.signal });
    const call = RawCall.on(client, 'ask', {});
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes('elicitation/create') && text.endsWith('\n\n')) break;
    }
    const asked = messagesIn(text, 'text/event-stream').find(({ method }) => method === 'elicitation/create');
    expect(schemaIn(asked?.params).properties.scan).toMatchObject({ 'x-mcp-file': { accept: PDF } });
    await client.post({ jsonrpc: '2.0', id: asked?.id, result: { action: 'decline' } });
    expect(toldIn(await (await call).result()).came).toEqual({ result: { action: 'decline' } });
    leaving.abort();
  });

  it('and a client that knows no fields for files is not asked', async () => {
    await start(form(), { limits: { accept: PDF } });
    const { call } = await ask({ elicitation: { form: {} } });
    expect(JSON.stringify(toldIn(await call.result()).came.error)).toContain('knows no fields for files');
  });
});

describe('the sizes of files hold for what a server asks for by a form', () => {
  it.each<[string, Parameters<typeof start>[1]]>([
    ['limits.file', { limits: { file: '60B' } }],
    ['limits.file of the tool', { more: { tools: { ask: { limits: { file: '60B' } } } } }],
    ['limits.inlineArgument', { limits: { inlineArgument: '60B' } }],
  ])('%s', async (_name, setting) => {
    await start(form(), setting);
    const { asked, why, came } = await refused();
    expect(schemaIn(asked).properties.scan).toMatchObject({ 'x-mcp-file': { maxSize: 60 } });
    expect(why).toMatch(new RegExp(`${PNG.length} bytes`));
    expect(came).toEqual({ result: { action: 'decline' } });
  });

  it('limits.inlineArgument, where the file goes to an address of the server', async () => {
    await start(binary(), { limits: { inlineArgument: '60B' } });
    const { why, came } = await refused();
    expect(why).toContain(`The file in the answer has ${PNG.length} bytes, and may have 60 bytes.`);
    expect(came).toEqual({ result: { action: 'decline' } });
  });
});
