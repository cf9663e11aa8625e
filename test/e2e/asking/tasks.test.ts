import { afterEach, describe, expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { messagesIn } from '../../helpers/raw-client.js';
import { freshName } from '../../helpers/services.js';
import { until } from '../../helpers/wait.js';
import { upload as uploadFile } from '../files/sep-2631-lab.js';
import { MODERN, PATH, TOKEN } from './input-lab.js';
import { PNG, upload } from './lab.js';
import { BINARY, binary, FORMS, schemaIn, send, URI } from './server-lab.js';
import { asked, begin, look, outcome, TaskLab, type TaskSeen, update } from './task-lab.js';

type Json = Record<string, unknown>;

const ask = (params: Json) => ({ method: 'elicitation/create', params });
const PAGES = { elicitation: { form: {}, url: {} } };
const UPLOADS = { elicitation: { form: {} }, files: { upload: true, transports: ['https'] } };
const form = (more: Json = {}) => ({
  mode: 'form',
  message: 'a picture.',
  requestedSchema: {
    type: 'object',
    properties: { scan: { type: 'string', format: 'uri', 'x-mcp-file': more } },
    required: ['scan'],
  },
});
const WHO = ask({ mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } });
const base64 = PNG.toString('base64');

let lab: TaskLab | undefined;

afterEach(async () => {
  await lab?.stop();
  lab = undefined;
});

async function start(...args: Parameters<typeof TaskLab.start>): Promise<TaskLab> {
  lab = await TaskLab.start(...args);
  return lab;
}

describe('a task that wants a file by binary elicitation', () => {
  it('gets what the client has uploaded to Wharf, before its answer (BR-06, BR-21, 1306-06, 1306-30)', async () => {
    const client = (await start({ scan: ask(binary()) })).client(BINARY);
    const taskId = await begin(client);
    const first = await look(client, taskId);
    expect(first).toMatchObject({ resultType: 'complete', status: 'input_required', 'com.example/weight': 1 });
    const [key, params] = asked(first);
    expect(schemaIn(params).properties.scan).toMatchObject({ type: 'file', maxSize: 500, accept: ['image/png'] });
    expect(JSON.stringify(first)).not.toMatch(/take\/42|their-id/);
    // a client asks as often as it likes
    expect(await look(client, taskId)).toEqual(first);
    const { status, uploadId } = await send(params);
    expect(status).toBe(201);
    expect((await look(client, taskId)).inputRequests).toEqual(first.inputRequests);
    const scan = { name: 'page1.png', size: PNG.length, mimeType: 'image/png', uploadId };
    const { result } = await update(client, taskId, { [key]: { action: 'accept', content: { scan } } });
    expect(result).toEqual({ resultType: 'complete' });
    const { heard, uploads, updates } = await outcome(client, taskId);
    expect(heard).toEqual({ scan: { action: 'accept', content: { scan: { ...scan, uploadId: 'their-id' } } } });
    expect(uploads).toEqual([expect.objectContaining({ method: 'POST', url: PATH, authorization: TOKEN })]);
    expect(Buffer.from(uploads[0]?.body ?? '', 'base64').includes(PNG)).toBe(true);
    expect(updates).toBe(1);
  });

  it('gets what comes to a page, although its client asks for the task no more (BR-04, BR-21)', async () => {
    const server = await start({ scan: ask(binary()) });
    const client = server.client(PAGES);
    const taskId = await begin(client);
    const [key, { mode, url, message }] = asked(await look(client, taskId));
    expect([mode, message]).toEqual(['url', expect.stringMatching(/The server "docs" asks: the scan to read\./)]);
    const page = await (await fetch(String(url), { headers: { accept: 'text/html' } })).text();
    expect(page).toMatch(/<bdi>ask<\/bdi>.*<bdi>docs<\/bdi>/s);
    expect(page).not.toContain(taskId);
    await update(client, taskId, { [key]: { action: 'accept' } });
    const waiting = await look(client, taskId);
    expect(waiting).toMatchObject({ status: 'working', statusMessage: expect.stringContaining(String(url)) });
    expect(waiting).not.toHaveProperty('inputRequests');
    expect(await upload(String(url))).toBe(201);
    const { heard, uploads } = await outcome(server.direct(), taskId);
    expect(heard.scan).toMatchObject({ action: 'accept', content: { scan: { uploadId: 'their-id' } } });
    expect(uploads).toHaveLength(1);
    expect((await look(client, taskId)).status).toBe('completed');
  });
});

describe('a task that wants a file', () => {
  it.each(['http', 'stdio'])(
    'by a form, over %s, gets the bytes from a client that uploads (BR-05, BR-21)',
    async (over) => {
      const client = (await start({ scan: ask(form()) }, { over })).client(BINARY);
      const taskId = await begin(client);
      const [key, params] = asked(await look(client, taskId));
      const { uploadId } = await send(params);
      await update(client, taskId, { [key]: { action: 'accept', content: { scan: { uploadId } } } });
      const { heard } = await outcome(client, taskId);
      expect(heard).toEqual({ scan: { action: 'accept', content: { scan: `data:image/png;base64,${base64}` } } });
    },
  );

  it('gets the bytes of a file that its client names by a handle (2631-67, HO-17)', async () => {
    const client = (await start({ scan: ask(form()) })).client(UPLOADS);
    const taskId = await begin(client);
    const [key] = asked(await look(client, taskId));
    const scan = await uploadFile(client, PNG, 'page1.png', 'image/png');
    await update(client, taskId, { [key]: { action: 'accept', content: { scan } } });
    const { heard } = await outcome(client, taskId);
    expect(heard).toEqual({ scan: { action: 'accept', content: { scan: `data:image/png;base64,${base64}` } } });
  });

  it('and takes uploads only gets one by its own methods (2631-16)', async () => {
    const client = (await start({ scan: ask(form({ transferModes: ['upload'] })) })).client(UPLOADS);
    const taskId = await begin(client);
    const [key] = asked(await look(client, taskId));
    const scan = await uploadFile(client, PNG, 'page1.png', 'image/png');
    await update(client, taskId, { [key]: { action: 'accept', content: { scan } } });
    const { heard, uploads } = await outcome(client, taskId);
    expect(heard).toEqual({ scan: { action: 'accept', content: { scan: 'mcp-file://tasks/1' } } });
    expect(uploads).toEqual([expect.objectContaining({ method: 'PUT', url: PATH, body: base64 })]);
  });

  it('by a form that the client knows is alone with it', async () => {
    const client = (await start({ scan: ask(form()), who: WHO })).client(FORMS);
    const taskId = await begin(client);
    const { inputRequests } = await look(client, taskId);
    expect(inputRequests).toEqual({ scan: ask(form()), who: WHO });
    const answers = { scan: { action: 'accept', content: { scan: URI } }, who: { action: 'decline' } };
    await update(client, taskId, answers);
    expect(await outcome(client, taskId)).toMatchObject({ heard: answers, updates: 1 });
  });

  it('asks for other things besides, which pass as they are (BR-21)', async () => {
    const client = (await start({ scan: ask(binary()), who: WHO })).client(BINARY);
    const taskId = await begin(client);
    const { who, ...others } = (await look(client, taskId)).inputRequests ?? {};
    expect(who).toEqual(WHO);
    const [key] = Object.keys(others);
    await update(client, taskId, { who: { action: 'cancel' }, [String(key)]: { action: 'decline' } });
    const { heard } = await outcome(client, taskId);
    expect(heard).toEqual({ who: { action: 'cancel' }, scan: { action: 'decline' } });
    expect((await send(others[String(key)]?.params)).status).toBe(410);
  });

  it('gets what is filled in beside its page (1306-12)', async () => {
    const properties = { note: { type: 'string' } };
    const client = (await start({ scan: ask(binary({ properties, required: ['scan', 'note'] })) })).client(PAGES);
    const taskId = await begin(client);
    const { inputRequests = {} } = await look(client, taskId);
    const [page, fields] = Object.entries(inputRequests).sort(([, one]) => (one.params.mode === 'url' ? -1 : 1));
    await upload(String(page?.[1].params.url));
    await update(client, taskId, { [String(page?.[0])]: { action: 'accept' } });
    const [key] = asked(await look(client, taskId));
    expect(key).toBe(fields?.[0]);
    await update(client, taskId, { [key]: { action: 'accept', content: { note: 'by hand' } } });
    const { heard } = await outcome(client, taskId);
    expect(heard.scan).toMatchObject({ action: 'accept', content: { note: 'by hand', scan: { size: PNG.length } } });
  });

  it('is asked for again by another key, where an answer holds none, and hears cancel in the end (2356-36)', async () => {
    const options = { config: { elicitation: { rounds: 2 } } };
    const client = (await start({ scan: ask(binary()) }, options)).client(BINARY);
    const taskId = await begin(client);
    const [first, params] = asked(await look(client, taskId));
    const { uploadId } = await send(params);
    const wrong = { action: 'accept', content: { scan: { uploadId, size: 1 } } };
    await update(client, taskId, { [first]: wrong });
    const [second, again] = asked(await look(client, taskId));
    expect(second).not.toBe(first);
    expect(again.message).toContain('The file was not taken: The file that was uploaded has 70');
    await update(client, taskId, { [first]: wrong });
    expect(asked(await look(client, taskId))).toEqual([second, again]);
    await update(client, taskId, { [second]: wrong });
    expect((await outcome(client, taskId)).heard).toEqual({ scan: { action: 'cancel' } });
  });

  it('hears cancel at once, where its client cannot be asked or the question cannot be read (BR-13)', async () => {
    const questions = { scan: ask(binary()), bad: ask({ ...binary(), uploadEndpoints: {} }), who: WHO };
    const client = (await start(questions)).client({ elicitation: { form: {} } });
    const taskId = await begin(client);
    const [key] = asked(await look(client, taskId));
    expect(key).toBe('who');
    await update(client, taskId, { who: { action: 'decline' } });
    const { heard } = await outcome(client, taskId);
    expect(heard).toMatchObject({ scan: { action: 'cancel' }, bad: { action: 'cancel' } });
  });

  it('is asked for anew, by another key and link, once its link has ended', async () => {
    const client = (await start({ scan: ask(binary()) }, { config: { links: { ttl: '2s' } } })).client(PAGES);
    const taskId = await begin(client);
    const [first, { url: old }] = asked(await look(client, taskId));
    await update(client, taskId, { [first]: { action: 'accept' } });
    expect((await look(client, taskId)).status).toBe('working');
    await until(async () => (await look(client, taskId)).status === 'input_required');
    const [second, { url }] = asked(await look(client, taskId));
    expect([second === first, url === old]).toEqual([false, false]);
    expect(await upload(String(url))).toBe(201);
    await update(client, taskId, { [second]: { action: 'accept' } });
    expect((await outcome(client, taskId)).heard.scan).toMatchObject({ action: 'accept' });
  });

  it('hears cancel from a client that answers with an error, and is not asked for again', async () => {
    const client = (await start({ scan: ask(binary()) })).client(PAGES);
    const taskId = await begin(client);
    const [key] = asked(await look(client, taskId));
    await update(client, taskId, { [key]: { error: 'no browser' } });
    expect((await outcome(client, taskId)).heard).toEqual({ scan: { action: 'cancel' } });
  });

  it('is an error where its questions are too long to be read, and one for the model passes', async () => {
    const sampling = { method: 'sampling/createMessage', params: { messages: [], systemPrompt: '$LONG' } };
    const server = await start({ scan: ask({ ...binary(), message: '$LONG' }) });
    const client = server.client(BINARY);
    const { error } = await client.request('tasks/get', { taskId: await begin(client) });
    expect(error?.message).toMatch(/its task asks for input with more than 262\.1 kB/);
    await server.stop();
    const other = (await start({ think: sampling })).client(BINARY);
    const { think } = (await look(other, await begin(other))).inputRequests ?? {};
    expect(think?.params).toMatchObject({ systemPrompt: 'x'.repeat(300_000) });
  });

  it('is brought where only one question may wait at a time', async () => {
    const client = (await start({ scan: ask(binary()) }, { config: { limits: { questions: 1 } } })).client(PAGES);
    const taskId = await begin(client);
    const [key, { url }] = asked(await look(client, taskId));
    await update(client, taskId, { [key]: { action: 'accept' } });
    await upload(String(url));
    expect((await outcome((lab as TaskLab).direct(), taskId)).heard.scan).toMatchObject({ action: 'accept' });
  });

  it('has its links taken back when its client cancels it (FB-05)', async () => {
    const client = (await start({ scan: ask(binary()) })).client(BINARY);
    const taskId = await begin(client);
    const [, params] = asked(await look(client, taskId));
    await client.request('tasks/cancel', { taskId });
    expect((await send(params)).status).toBe(410);
    expect((await look(client, taskId)).status).toBe('cancelled');
  });

  it('tells of it on a stream of subscriptions, in the same words and by the same keys (BR-06, BR-21)', async () => {
    const client = (await start({ scan: ask(binary()) })).client(BINARY);
    const taskId = await begin(client);
    const stop = new AbortController();
    const stream = await client.open('subscriptions/listen', { notifications: { taskIds: [taskId] } }, {}, stop.signal);
    let text = '';
    const reading = (async () => {
      for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>)
        text += Buffer.from(chunk).toString();
    })().catch(() => {});
    const told = () => {
      const messages = messagesIn(text.slice(0, text.lastIndexOf('\n\n') + 2), 'text/event-stream');
      return messages.flatMap(({ method, params }) =>
        method === 'notifications/tasks' ? [params as unknown as TaskSeen] : [],
      );
    };
    await until(() => told().length > 0);
    const [first] = told();
    const { inputRequests } = await look(client, taskId);
    expect(first).toMatchObject({ taskId, status: 'input_required', inputRequests, 'com.example/weight': 1 });
    expect(text).not.toMatch(/take\/42|their-id/);
    const [key, params] = asked(first as TaskSeen);
    const { uploadId } = await send(params);
    await update(client, taskId, { [key]: { action: 'accept', content: { scan: { uploadId } } } });
    await until(() => told().some(({ status }) => status === 'completed'));
    stop.abort();
    await reading;
  });

  it('gets it from an SDK client that asks for its task by schemas of its own (BR-04, K6)', async () => {
    const server = await start({ scan: ask(binary()) });
    const taskId = await begin(server.client(PAGES));
    const sdk = new Client(
      { name: 'task', version: '1' },
      {
        capabilities: { elicitation: { url: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } },
        versionNegotiation: { mode: { pin: MODERN } },
      },
    );
    await sdk.connect(new StreamableHTTPClientTransport(new URL(server.wharf.mcp)));
    const Question = z.object({ method: z.literal('elicitation/create'), params: z.object({ url: z.url() }) });
    const Task = z.looseObject({ status: z.string(), inputRequests: z.record(z.string(), Question).optional() });
    const get = () => sdk.request({ method: 'tasks/get', params: { taskId } }, Task);
    const [first] = Object.entries((await get()).inputRequests ?? {});
    const [key = '', question] = first ?? [];
    expect(await upload(String(question?.params.url))).toBe(201);
    const inputResponses = { [key]: { action: 'accept' } };
    await sdk.request({ method: 'tasks/update', params: { taskId, inputResponses } }, z.looseObject({}));
    expect((await outcome(server.direct(), taskId)).heard.scan).toMatchObject({ action: 'accept' });
    expect(await get()).toMatchObject({ status: 'completed' });
    await sdk.close();
  });

  it('is nothing to a client that answers of a task that is not known', async () => {
    const client = (await start({ scan: ask(binary()) })).client(BINARY);
    const { error } = await update(client, 'no-such-task', { 'wharf-file-x': { action: 'accept' } });
    expect(error).toMatchObject({ code: -32602, message: 'Failed to retrieve task: Task not found' });
  });

  it('goes on at any replica, which brings each answer once (VER-03)', async () => {
    const shared = { stores: 's3+redis', bucket: freshName('tasks'), keyPrefix: `${freshName('tasks')}:` } as const;
    const one = await start({ scan: ask(binary()) }, shared);
    const other = await one.replica(shared);
    const here = one.client(BINARY);
    const there = one.client(BINARY, other.mcp);
    const taskId = await begin(here);
    const [first, second] = await Promise.all([look(here, taskId), look(there, taskId)]);
    expect(first).toEqual(second);
    const [key, params] = asked(first);
    const { uploadId } = await send(params);
    await update(there, taskId, { [key]: { action: 'accept', content: { scan: { uploadId } } } });
    await Promise.all([outcome(here, taskId), outcome(there, taskId)]);
    const { uploads, updates } = await outcome(here, taskId);
    expect([uploads.length, updates]).toEqual([1, 1]);
    await other.stop();
  });
});
