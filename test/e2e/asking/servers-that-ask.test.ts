import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { RawMessage } from '../../helpers/raw-client.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { connect, PNG, textOf, upload } from './lab.js';
import { RawCall } from './raw-call.js';

type Json = Record<string, unknown>;

const FIXTURE = 'test/helpers/eliciting-server.fixture.mjs';
const PATH = '/take/42?a=b%2Fc';
const TOKEN = 'Bearer of-the-operator';

const field = (more: Json = {}) => ({ type: 'file', title: 'Scan', accept: ['image/png'], maxSize: 1000, ...more });
const endpoint = (more: Json = {}) => ({ url: `$ORIGIN${PATH}`, method: 'POST', uploadId: 'their-id', ...more });
const binary = (more: { field?: Json; endpoint?: Json; properties?: Json; required?: string[] } = {}) => ({
  mode: 'binary',
  message: 'the scan to read.',
  requestedSchema: {
    type: 'object',
    properties: { scan: field(more.field), ...more.properties },
    required: more.required ?? ['scan'],
  },
  uploadEndpoints: { scan: endpoint(more.endpoint) },
});

let server: ChildProcess | undefined;
let wharf: Wharf | undefined;

afterEach(async () => {
  await wharf?.stop();
  if (server?.kill()) await once(server, 'exit');
  [wharf, server] = [undefined, undefined];
});

interface Setting {
  over?: string;
  statuses?: string;
  limits?: Json;
  /** Of the server's own address. */
  port?: number;
  /** `servers.docs` */
  more?: Json;
}

async function freePort(): Promise<number> {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  await new Promise((resolve) => taken.close(resolve));
  return port;
}

/** Wharf in front of a server whose only tool asks this before it answers. */
async function start(
  question: Json,
  { over = 'http', statuses = '200', limits = {}, port = 0, more = {} }: Setting = {},
  config: Json = {},
): Promise<Wharf> {
  const args = [FIXTURE, JSON.stringify(question), over, statuses, String(port)];
  let docs: Json = { command: [process.execPath, ...args] };
  if (over === 'http') {
    server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(server.stdout as NonNullable<ChildProcess['stdout']>, 'data');
    docs = { url: `${String(line).trim()}/mcp`, transport: 'streamable-http', headers: { authorization: TOKEN } };
  }
  wharf = await startWharf({ servers: { docs: { ...docs, limits, ...more } }, config });
  return wharf;
}

async function ask(capabilities: Json) {
  const call = await RawCall.begin((wharf as Wharf).mcp, 'ask', {}, { capabilities });
  const questions = () => call.messages.filter(({ method }) => method === 'elicitation/create');
  const question = async (number = 1): Promise<RawMessage> => {
    await call.message(() => questions().length >= number);
    return questions()[number - 1] ?? {};
  };
  const answer = (id: unknown, result: object) => call.client.post({ jsonrpc: '2.0', id, result });
  return { call, question, answer };
}

interface Told {
  came: { result?: { action: string; content?: Json }; error?: Json };
  uploads: { method: string; url: string; authorization?: string; type: string; body: string }[];
  elicitation?: Json;
}

const toldIn = (result: unknown) => JSON.parse(textOf(result)) as Told;
const parts = (one: Told['uploads'][number] | undefined) => Buffer.from(one?.body ?? '', 'base64').toString('latin1');
const URI = `data:image/png;name=page1.png;base64,${PNG.toString('base64')}`;
const FORMS = { elicitation: { form: {} }, fileInputs: {} };
const BINARY = { elicitation: { form: {}, binary: { maxFileSize: 500 } } };

const schemaIn = (params: Json | undefined) =>
  (params?.requestedSchema ?? {}) as { properties: Record<string, Json>; required: string[] };

async function send(params: Json | undefined, bytes = PNG) {
  const { scan } = (params?.uploadEndpoints ?? {}) as Record<string, { url: string; uploadId: string }>;
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(bytes)], { type: 'image/png' }), 'page1.png');
  const { status } = await fetch(String(scan?.url), { method: 'POST', body: form });
  return { status, uploadId: String(scan?.uploadId), url: String(scan?.url) };
}

describe('a server that asks in binary mode', () => {
  it('gets what a form has given, before the answer (BR-04, P2, 1306-13, 1306-18, 1306-19, 1306-22, 1306-23, 1306-25, 1306-31)', async () => {
    await start(binary({ field: { required: true } }));
    const { call, question, answer } = await ask(FORMS);
    const { id, params } = await question();
    expect(params?.message).toBe('The server "docs" asks: the scan to read.');
    expect(schemaIn(params).properties).toMatchObject({
      scan: { type: 'string', 'x-mcp-file': { accept: ['image/png'], maxSize: 1000 } },
    });
    expect(JSON.stringify(call.messages)).not.toContain('their-id');
    await answer(id, { action: 'accept', content: { scan: URI } });
    const { came, uploads, elicitation } = toldIn(await call.result());
    expect(uploads).toHaveLength(1);
    expect(uploads[0]).toMatchObject({ method: 'POST', url: PATH, authorization: TOKEN });
    expect(uploads[0]?.type).toMatch(/^multipart\/form-data; boundary=/);
    expect(parts(uploads[0])).toContain('name="file"; filename="page1.png"\r\nContent-Type: image/png\r\n\r\n');
    expect(parts(uploads[0])).toContain(PNG.toString('latin1'));
    const file = { name: 'page1.png', size: PNG.length, mimeType: 'image/png', uploadId: 'their-id' };
    expect(came.result).toEqual({ action: 'accept', content: { scan: file } });
    expect(elicitation).toMatchObject({ form: {}, binary: { maxFileSize: expect.any(Number) } });
  });

  it('gets what was uploaded on a page, and what an SDK client has filled in (BR-04, 1306-12, 1306-15, 1306-32)', async () => {
    const properties = { note: { type: 'string', title: 'Note' } };
    const more = { field: { multiple: true }, endpoint: { method: 'PUT' }, properties, required: ['scan', 'note'] };
    const { mcp } = await start(binary(more), { statuses: '204' });
    const { client, asked } = await connect(
      mcp,
      async ({ url }) => {
        if (url === undefined) return { action: 'accept', content: { note: 'by hand' } };
        await upload(url);
        return { action: 'accept' };
      },
      { elicitation: { form: {}, url: {} } },
    );
    const { came, uploads } = toldIn(await client.callTool({ name: 'ask', arguments: {} }));
    expect(asked.map(({ mode }) => mode)).toEqual(['url', 'form']);
    expect(uploads.map(({ method }) => method)).toEqual(['PUT']);
    expect(came.result?.content).toMatchObject({ note: 'by hand', scan: [{ uploadId: 'their-id' }] });
    await client.close();
  });

  it('does not show its address to a client that uploads by itself (BR-06, 1306-03, 1306-05, 1306-09, 1306-12)', async () => {
    const properties = { note: { type: 'string' } };
    await start(binary({ field: { accept: ['.png', 'image/*'] }, properties }), { limits: { file: '600B' } });
    const { call, question, answer } = await ask(BINARY);
    const { id, params } = await question();
    const schema = schemaIn(params);
    expect(schema.properties.scan).toMatchObject({ type: 'file', maxSize: 500, accept: ['.png', 'image/*'] });
    expect(schema).toMatchObject({ properties, required: ['scan'] });
    const { status, uploadId, url } = await send(params);
    expect(status).toBe(201);
    expect(url).toContain((wharf as Wharf).url);
    const scan = { name: 'page1.png', size: PNG.length, mimeType: 'image/png', uploadId };
    await answer(id, { action: 'accept', content: { scan, note: 'mine' } });
    const { came, uploads, elicitation } = toldIn(await call.result());
    expect(uploads).toHaveLength(1);
    expect(came.result?.content).toEqual({ scan: { ...scan, uploadId: 'their-id' }, note: 'mine' });
    expect(elicitation).toEqual({ form: {}, binary: { maxFileSize: 500 } });
    expect(JSON.stringify(call.messages.slice(0, -1))).not.toMatch(/take\/42|their-id/);
  });

  it('is asked for no more than both sides take (1306-05, 1306-10)', async () => {
    await start(binary(), { limits: { file: '60B' } });
    const { call, question, answer } = await ask({ elicitation: { form: {}, binary: {} } });
    const { id, params } = await question();
    expect(schemaIn(params).properties.scan?.maxSize).toBe(60);
    expect((await send(params)).status).toBe(413);
    await answer(id, { action: 'cancel' });
    await call.result();
  });

  it.each(['decline', 'cancel'])('hears %s as it is, and the link ends (1306-34)', async (action) => {
    await start(binary());
    const { call, question, answer } = await ask(BINARY);
    const { id, params } = await question();
    await answer(id, { action });
    expect(toldIn(await call.result())).toMatchObject({ came: { result: { action } }, uploads: [] });
    expect((await send(params)).status).toBe(410);
  });

  it('is never told of a file that it has refused (1306-29)', async () => {
    await start(binary(), { statuses: '500' });
    const { call, question, answer } = await ask(FORMS);
    await answer((await question()).id, { action: 'accept', content: { scan: URI } });
    const { came, uploads } = toldIn(await call.result());
    expect(came).toEqual({ result: { action: 'cancel' } });
    expect(uploads).toHaveLength(2);
  });

  it('gets the file at the second try (1306-28, 1306-29)', async () => {
    await start(binary(), { statuses: '503,204' });
    const { call, question, answer } = await ask(FORMS);
    await answer((await question()).id, { action: 'accept', content: { scan: URI } });
    expect(toldIn(await call.result()).came.result?.action).toBe('accept');
  });

  it('sees no credentials at another origin (1306-19)', async () => {
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    const more = { fetch: { origins: [origin] } };
    await start(binary({ endpoint: { url: `${origin}/other`, uploadId: 'x' } }), { port, more });
    const { call, question, answer } = await ask(FORMS);
    await answer((await question()).id, { action: 'accept', content: { scan: URI } });
    const { came, uploads } = toldIn(await call.result());
    expect(came.result?.action).toBe('accept');
    expect(uploads).toEqual([expect.not.objectContaining({ authorization: expect.anything() })]);
  });

  it('over stdio gets the file at an address that the operator allows (BR-04)', async () => {
    const port = await freePort();
    await start(binary(), { over: 'stdio', port, more: { fetch: { origins: [`http://127.0.0.1:${port}`] } } });
    const { call, question, answer } = await ask(FORMS);
    await answer((await question()).id, { action: 'accept', content: { scan: URI } });
    const { came, uploads } = toldIn(await call.result());
    expect(came.result).toMatchObject({ action: 'accept', content: { scan: { uploadId: 'their-id' } } });
    expect(uploads).toEqual([expect.not.objectContaining({ authorization: expect.anything() })]);
  });

  it('cannot name a private address at another origin (1306-47)', async () => {
    await start(binary({ endpoint: { url: 'http://127.0.0.1:9/elsewhere' } }));
    const { call, question, answer } = await ask(FORMS);
    await answer((await question()).id, { action: 'accept', content: { scan: URI } });
    expect(toldIn(await call.result()).came).toEqual({ result: { action: 'cancel' } });
  });

  it('over stdio cannot name a private address that is not allowed (1306-47)', async () => {
    await start(binary(), { over: 'stdio' });
    const { call, question, answer } = await ask(FORMS);
    await answer((await question()).id, { action: 'accept', content: { scan: URI } });
    expect(toldIn(await call.result())).toMatchObject({ came: { result: { action: 'cancel' } }, uploads: [] });
  });

  it('is told at once where a file has no endpoint', async () => {
    await start({ ...binary(), uploadEndpoints: {} });
    const { call } = await ask(FORMS);
    expect(toldIn(await call.result()).came.error).toMatchObject({ code: -32602 });
  });

  it('is told of the limit where as many calls wait as may', async () => {
    await start(binary(), {}, { limits: { questions: 1 } });
    const first = await ask(FORMS);
    const { id } = await first.question();
    const second = await ask(FORMS);
    const { came } = toldIn(await second.call.result());
    expect(came.error).toMatchObject({ message: expect.stringContaining('All 1 calls that may wait for a user') });
    await first.answer(id, { action: 'decline' });
    expect(toldIn(await first.call.result()).came.result).toEqual({ action: 'decline' });
    const third = await ask(FORMS);
    await third.answer((await third.question()).id, { action: 'decline' });
    expect(toldIn(await third.call.result()).came.result).toEqual({ action: 'decline' });
  });

  it('holds no more than limits.held with the file that stands in its answer', async () => {
    const form = {
      mode: 'form',
      message: 'a picture',
      requestedSchema: {
        type: 'object',
        properties: {
          scan: { type: 'string', format: 'uri', 'x-mcp-file': {} },
        },
        required: ['scan'],
      },
    };
    const limits = { held: '1MiB', message: '600KiB', inlineArgument: '600KiB', response: '900KiB' };
    await start(form, {}, { limits });
    const { call, question, answer } = await ask(BINARY);
    const { id, params } = await question();
    const { uploadId } = await send(params, Buffer.alloc(300_000, 1));
    await answer(id, { action: 'accept', content: { scan: { uploadId } } });
    expect(toldIn(await call.result()).came).toEqual({ result: { action: 'cancel' } });
    expect((wharf as Wharf).logged()).toContain('held_full');
  });

  it('is not told of binary mode where nobody can be asked for a file (1306-01)', async () => {
    await start({ mode: 'form', message: 'a word', requestedSchema: { type: 'object', properties: {} } });
    const { call, question, answer } = await ask({ elicitation: { form: {} } });
    await answer((await question()).id, { action: 'decline' });
    expect(toldIn(await call.result()).elicitation).toEqual({ form: {} });
  });
});

describe('a server that asks by forms with fields for files', () => {
  const form = {
    mode: 'form',
    message: 'a picture.',
    requestedSchema: {
      type: 'object',
      properties: {
        scan: { type: 'string', format: 'uri', 'x-mcp-file': { accept: ['image/png'] } },
        note: { type: 'string' },
      },
      required: ['scan'],
    },
  };

  it.each(['http', 'stdio'])(
    'gets the file in its answer from a client that uploads, over %s (BR-05)',
    async (over) => {
      await start(form, { over });
      const { call, question, answer } = await ask(BINARY);
      const { id, params } = await question();
      expect(params).toMatchObject({ mode: 'binary', requestedSchema: { properties: { note: { type: 'string' } } } });
      const { uploadId } = await send(params);
      await answer(id, { action: 'accept', content: { scan: { uploadId }, note: 'x' } });
      const scan = `data:image/png;base64,${PNG.toString('base64')}`;
      expect(toldIn(await call.result()).came.result).toEqual({ action: 'accept', content: { scan, note: 'x' } });
    },
  );

  it('passes unchanged to a client that knows such fields', async () => {
    await start(form);
    const { call, question, answer } = await ask(FORMS);
    const { id, params } = await question();
    expect({ id, params }).toEqual({ id: 'ask-1', params: form });
    await answer(id, { action: 'accept', content: { scan: URI } });
    expect(toldIn(await call.result()).came.result?.content).toEqual({ scan: URI });
  });
});
