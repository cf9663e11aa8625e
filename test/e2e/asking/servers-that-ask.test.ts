import { afterEach, describe, expect, it } from '@jest/globals';
import { freePort } from '../../helpers/gateway-process-ports.js';
import { messagesIn, RawClient, type RawMessage } from '../../helpers/raw-client.js';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';
import { until } from '../../helpers/wait.js';
import { upload as uploadFile } from '../files/sep-2631-lab.js';
import { connect, PNG, soon, upload, uploadAll } from './lab.js';
import { RawCall } from './raw-call.js';
import {
  ask,
  BINARY,
  binary,
  FORMS,
  PATH,
  parts,
  schemaIn,
  send,
  start,
  stop,
  TOKEN,
  toldIn,
  URI,
  wharf,
} from './server-lab.js';

afterEach(stop);

describe('a server that asks in binary mode', () => {
  it('for several files gets them in one form, and the answer for each (1306-11, 1306-26, 1306-32)', async () => {
    await start(binary({ field: { multiple: true, maxSize: 100_000 } }));
    const { call, question, answer } = await ask(FORMS);
    const { id, params } = await question();
    expect(schemaIn(params).properties.scan).toMatchObject({ type: 'array', minItems: 1, maxItems: 10 });
    const pictures = [8, 9].map(noisePng);
    const scan = pictures.map((png, at) => `data:image/png;name=${at + 1}.png;base64,${png.toString('base64')}`);
    await answer(id, { action: 'accept', content: { scan } });
    const { came, uploads } = toldIn(await call.result());
    expect(uploads).toHaveLength(1);
    const form = parts(uploads[0]);
    expect([...form.matchAll(/name="file"; filename="(\d)\.png"/g)].map(([, name]) => name)).toEqual(['1', '2']);
    for (const png of pictures) expect(form).toContain(png.toString('latin1'));
    expect(came.result?.content?.scan).toEqual(
      pictures.map(({ length: size }, at) => ({
        name: `${at + 1}.png`,
        size,
        mimeType: 'image/png',
        uploadId: 'their-id',
      })),
    );
  });

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
    expect(url).toContain(wharf().url);
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

  it('gets nothing that its client has said it cannot give (1306-03, 1306-04, 1306-37, 1306-38)', async () => {
    await start(binary({ field: { accept: ['image/*'] } }));
    for (const [declared, status] of [
      [{ maxFileSize: PNG.length - 1 }, 413],
      [{ supportedMimeTypes: ['image/webp'] }, 415],
      [{ maxFileSize: PNG.length, supportedMimeTypes: ['image/png'] }, 201],
    ] as const) {
      const { call, question, answer } = await ask({ elicitation: { form: {}, binary: declared } });
      const { id, params } = await question();
      expect((await send(params)).status).toBe(status);
      await answer(id, { action: 'cancel' });
      await call.result();
    }
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

  it('over stdio is heard by a client that has a stream of its own open as well (BR-04)', async () => {
    const port = await freePort();
    const more = { fetch: { origins: [`http://127.0.0.1:${port}`] } };
    const { mcp } = await start(binary(), { over: 'stdio', port, more });
    const { client, asked } = await connect(mcp, async ({ url }) => {
      await upload(url);
      return { action: 'accept' };
    });
    const { came } = toldIn(await client.callTool({ name: 'ask', arguments: {} }));
    expect(came.result?.action).toBe('accept');
    expect(asked.map(({ mode }) => mode)).toEqual(['url']);
    await client.close();
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
    expect(came.error).toMatchObject({
      message: expect.stringContaining('The only call that may wait for a user here at once does.'),
    });
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
    const { call, question, answer } = await ask({ elicitation: { binary: {} } });
    const { id, params } = await question();
    const { uploadId } = await send(params, Buffer.alloc(300_000, 1));
    await answer(id, { action: 'accept', content: { scan: { uploadId } } });
    expect(toldIn(await call.result()).came).toEqual({ result: { action: 'cancel' } });
    await until(() => wharf().logged().includes('held_full'));
  });

  it('is not told of binary mode where no user can be asked for a file (1306-01)', async () => {
    await start({ mode: 'form', message: 'a word', requestedSchema: { type: 'object', properties: {} } });
    const { call, question, answer } = await ask({ elicitation: { form: {} } });
    await answer((await question()).id, { action: 'decline' });
    expect(toldIn(await call.result()).elicitation).toEqual({ form: {} });
  });
});

describe('a server whose client listens', () => {
  /** A session's GET stream. */
  async function listen(client: RawClient, headers: Record<string, string> = {}) {
    const ended = new AbortController();
    const { signal } = ended;
    const { body } = await fetch(wharf().mcp, {
      headers: { ...client.headers(), accept: 'text/event-stream', ...headers },
      signal,
    });
    let text = '';
    const read = async () => {
      const decoder = new TextDecoder();
      for await (const chunk of body ?? []) text += decoder.decode(chunk, { stream: true });
    };
    const over = read().catch(() => {});
    const messages = () => messagesIn(text.slice(0, text.lastIndexOf('\n\n') + 2), 'text/event-stream');
    const leave = async () => {
      ended.abort();
      await over;
    };
    return { text: () => text, messages, leave };
  }

  /** A call of a client whose GET stream is open. */
  async function listening() {
    const client = await RawClient.connect(wharf().mcp, '2025-11-25', { capabilities: FORMS });
    const stream = await listen(client);
    const call = await RawCall.on(client, 'ask', {});
    const question = (where: { messages: () => RawMessage[] }) =>
      soon(() => where.messages().find(({ method }) => method === 'elicitation/create'), 'a question');
    const answer = (id: unknown) =>
      client.post({ jsonrpc: '2.0', id, result: { action: 'accept', content: { scan: URI } } });
    return { client, stream, call, question, answer };
  }

  it('is answered on that stream in the same way (BR-04, BR-06)', async () => {
    await start(binary(), { over: 'get' });
    const { stream, call, question, answer } = await listening();
    const { id, params } = await question(stream);
    expect(schemaIn(params).properties).toMatchObject({ scan: { type: 'string', 'x-mcp-file': {} } });
    await answer(id);
    const { came, uploads } = toldIn(await call.result());
    expect(came.result).toMatchObject({ action: 'accept', content: { scan: { uploadId: 'their-id' } } });
    expect(uploads).toHaveLength(1);
    expect(stream.text()).not.toMatch(/their-id|take\/42/);
    await stream.leave();
  });

  it('is answered on the stream of its only call, where it has one channel for all (BR-04)', async () => {
    const port = await freePort();
    await start(binary(), { over: 'stdio', port, more: { fetch: { origins: [`http://127.0.0.1:${port}`] } } });
    const { stream, call, question, answer } = await listening();
    const { id } = await question({ messages: () => call.messages });
    await answer(id);
    expect(toldIn(await call.result()).came.result?.action).toBe('accept');
    expect(stream.messages()).toEqual([]);
    await stream.leave();
  });

  it('has its question asked once, however often a resumed stream repeats it', async () => {
    await start(binary(), { over: 'get' });
    const { client, stream, call, question, answer } = await listening();
    const { id } = await question(stream);
    await stream.leave();
    const again = await listen(client, { 'last-event-id': '-1' });
    await soon(() => (again.text().includes('id: 0') ? true : undefined), 'the repeated event');
    expect(again.messages()).toEqual([]);
    await answer(id);
    expect(toldIn(await call.result()).came.result?.action).toBe('accept');
    await again.leave();
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

  it('for a list gets all that were uploaded, in a client’s binary mode and on a page (BR-05)', async () => {
    const items = { type: 'string', format: 'uri', 'x-mcp-file': {} };
    const scan = { type: 'array', items, minItems: 2, maxItems: 3 };
    await start({ mode: 'form', message: 'pages', requestedSchema: { type: 'object', properties: { scan } } });
    const pictures = [8, 9].map(noisePng);
    const wanted = pictures.map((png) => `data:image/png;base64,${png.toString('base64')}`);
    const pages = pictures.map((png, at) => [`${at}.png`, png] as const);
    const { call, question, answer } = await ask(BINARY);
    const { id, params } = await question();
    const { url, uploadId } =
      (params?.uploadEndpoints as { scan: { url: string; uploadId: string } } | undefined)?.scan ?? {};
    expect(await uploadAll(url, pages)).toBe(201);
    await answer(id, { action: 'accept', content: { scan: pages.map(() => ({ uploadId })) } });
    expect(toldIn(await call.result()).came.result?.content).toEqual({ scan: wanted });
    const { client } = await connect(wharf().mcp, async ({ url: page }) => {
      expect(await uploadAll(page, pages.slice(1))).toBe(400);
      expect(await uploadAll(page, pages)).toBe(201);
      return { action: 'accept' };
    });
    expect(toldIn(await client.callTool({ name: 'ask' })).came.result?.content).toEqual({ scan: wanted });
    await client.close();
  });

  it('gets the bytes of a file that its client has uploaded, and names by its handle (2631-67, HO-17)', async () => {
    await start(form);
    const { call, question, answer } = await ask({ ...FORMS, files: { upload: true } });
    const { id, params } = await question();
    expect(schemaIn(params).properties).toMatchObject(form.requestedSchema.properties);
    const handle = await uploadFile(call.client, PNG, 'page1.png', 'image/png');
    await answer(id, { action: 'accept', content: { scan: handle, note: handle } });
    const scan = `data:image/png;base64,${PNG.toString('base64')}`;
    expect(toldIn(await call.result()).came.result?.content).toEqual({ scan, note: handle });
  });

  it('gets the file of the answer that could be used, and none of one before it', async () => {
    await start(form, { limits: { accept: ['image/png'] } });
    const { call, question, answer } = await ask(FORMS);
    const [first, second] = [8, 9].map((edge) => `data:image/png;base64,${noisePng(edge).toString('base64')}`);
    await answer((await question()).id, { action: 'accept', content: { scan: first, note: 'x'.repeat(70_000) } });
    const { id, params } = await question(2);
    expect(params?.message).toContain('The other fields are too long.');
    await answer(id, { action: 'accept', content: { scan: second, note: 'x' } });
    expect(toldIn(await call.result()).came.result?.content).toEqual({ scan: second, note: 'x' });
  });

  const uploaded = (keyword: Record<string, unknown>) => ({
    ...form,
    requestedSchema: { type: 'object', properties: { scan: { type: 'string', format: 'uri', 'x-mcp-file': keyword } } },
  });
  const UPLOADS = { ...FORMS, files: { upload: true } };
  const THEIRS = 'mcp-file://eliciting/1';

  it('gets a file that it wants uploaded in no other way, and its URI in the answer (2631-16, 2631-23)', async () => {
    await start(uploaded({ accept: ['image/png'], transferModes: ['upload'] }));
    const { call, question, answer } = await ask(UPLOADS);
    const { id, params } = await question();
    expect(schemaIn(params).properties.scan?.['x-mcp-file']).toMatchObject({ transferModes: ['upload'] });
    const handle = await uploadFile(call.client, PNG, 'page1.png', 'image/png');
    await answer(id, { action: 'accept', content: { scan: handle } });
    const { came, uploads } = toldIn(await call.result());
    expect(came.result).toEqual({ action: 'accept', content: { scan: THEIRS } });
    expect(uploads).toEqual([
      expect.objectContaining({ method: 'PUT', url: PATH, type: 'image/png', body: PNG.toString('base64') }),
    ]);
    expect(uploads[0]).not.toHaveProperty('authorization');
  });

  it('has it uploaded on a page by a client that would fill the field with the bytes (2631-16)', async () => {
    await start(uploaded({ transferModes: ['upload'] }));
    const { client, asked } = await connect(
      wharf().mcp,
      async ({ url }) => {
        await upload(url);
        return { action: 'accept' };
      },
      { elicitation: { form: { fileInputs: {} }, url: {} } },
    );
    const { came, uploads } = toldIn(await client.callTool({ name: 'ask', arguments: {} }));
    expect(asked.map(({ mode }) => mode)).toEqual(['url']);
    expect(came.result?.content).toEqual({ scan: THEIRS });
    expect(uploads.map(({ body }) => body)).toEqual([PNG.toString('base64')]);
    await client.close();
  });

  it('has its form passed as it is where it takes files in no way that Wharf knows (2631-17)', async () => {
    const unknown = uploaded({ transferModes: ['future'] });
    await start(unknown);
    const { call, question, answer } = await ask(UPLOADS);
    const { id, params } = await question();
    expect(schemaIn(params)).toEqual(unknown.requestedSchema);
    await answer(id, { action: 'decline' });
    expect(toldIn(await call.result()).came.result).toEqual({ action: 'decline' });
  });

  it('that takes both gets a short file in its answer, and has a long one uploaded (2631-14)', async () => {
    await start(uploaded({ transferModes: ['inline', 'upload'] }), { limits: { inlineArgument: '600B' } });
    for (const [bytes, took] of [
      [PNG, `data:image/png;base64,${PNG.toString('base64')}`],
      [noisePng(40), THEIRS],
    ] as const) {
      const { call, question, answer } = await ask(UPLOADS);
      const { id, params } = await question();
      expect(schemaIn(params).properties.scan?.['x-mcp-file']).toMatchObject({
        maxSize: expect.any(Number),
        transferModes: ['inline', 'upload'],
      });
      const handle = await uploadFile(call.client, bytes, 'page1.png', 'image/png');
      await answer(id, { action: 'accept', content: { scan: handle } });
      expect(toldIn(await call.result()).came.result?.content).toEqual({ scan: took });
    }
  });

  it('is told that there is no file where it refuses the upload that it wants (2631-16)', async () => {
    await start(uploaded({ transferModes: ['upload'] }), { statuses: '422' });
    const { call, question, answer } = await ask(UPLOADS);
    const { id } = await question();
    const handle = await uploadFile(call.client, PNG, 'page1.png', 'image/png');
    await answer(id, { action: 'accept', content: { scan: handle } });
    expect(toldIn(await call.result()).came.result).toEqual({ action: 'cancel' });
  });

  it('passes unchanged to a client that knows such fields', async () => {
    await start(form);
    const { call, question, answer } = await ask(FORMS);
    const { id, params } = await question();
    expect({ id, params }).toEqual({ id: 'ask-1', params: form });
    await answer(id, { action: 'accept', content: { scan: URI } });
    expect(toldIn(await call.result()).came.result?.content).toEqual({ scan: URI });
  });
});
