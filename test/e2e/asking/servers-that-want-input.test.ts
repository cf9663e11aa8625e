import { afterEach, describe, expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startFakeUpstream } from '../../helpers/fake-upstream.js';
import { RawClient } from '../../helpers/raw-client.js';
import { freshName } from '../../helpers/services.js';
import { startWharf } from '../../helpers/wharf.js';
import { upload as uploadFile } from '../files/sep-2631-lab.js';
import { AskingServer, call, heard, MODERN, PATH, TOKEN, wanted } from './input-lab.js';
import { discover, PNG, textOf, upload } from './lab.js';
import { BINARY, binary, FORMS, schemaIn, send, URI } from './server-lab.js';

type Json = Record<string, unknown>;

const ask = (params: Json) => ({ method: 'elicitation/create', params });
const KEY = 'wharf-file-1';
const PAGES = { elicitation: { form: {}, url: {} } };

let server: AskingServer | undefined;

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function start(...args: Parameters<typeof AskingServer.start>): Promise<AskingServer> {
  server = await AskingServer.start(...args);
  return server;
}

const clientOf = ({ wharf }: AskingServer, capabilities: Json) =>
  RawClient.stateless(wharf.mcp, MODERN, { capabilities });

describe('a client that answers what Wharf has not asked, on 2026-07-28', () => {
  const who = ask({ mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } });
  const answered = async (value: unknown, config: Json) => {
    const client = clientOf(await start({ who }, { config }), FORMS);
    const { requestState } = wanted(await call(client));
    return call(client, { requestState, inputResponses: { who: { action: 'accept', content: { name: value } } } });
  };

  it.each([
    ['a file', URI],
    ['several files', ['Ann', URI]],
    ['a file that lenient servers read', ' DATA:text/plain;x=1,ab'],
  ])('is refused %s where a rule judges files', async (_, value) => {
    const { error } = await answered(value, { limits: { accept: ['image/png'] } });
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(/has not asked for/) });
    expect(server?.upstream.with('tools/call')).toHaveLength(1);
  });

  it('may give it where none does, and other words everywhere', async () => {
    expect(heard(await answered(URI, {})).who?.content).toEqual({ name: URI });
    await server?.stop();
    const words = 'data: one, two';
    const answer = heard(await answered(words, { limits: { accept: ['image/png'] } }));
    expect(answer.who?.content).toEqual({ name: words });
  });
});

describe('a server that wants a file by binary elicitation, on 2026-07-28', () => {
  it('is not kept waiting for what its client can never send: answers too long to be given back with the file', async () => {
    const who = ask({ mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } });
    const lab = await start({ scan: ask(binary()), who }, { config: { limits: { message: '64KiB' } } });
    const client = clientOf(lab, FORMS);
    const { requestState } = wanted(await call(client));
    const said = (length: number) => ({ who: { action: 'accept', content: { name: 'x'.repeat(length) } } });
    const { error } = await call(client, { requestState, inputResponses: said(60_000) });
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/limits\.message leaves 64\.5 kB for it\.$/),
    });
    const again = wanted(await call(client, { requestState, inputResponses: said(40_000) }));
    const inputResponses = { [KEY]: { action: 'accept', content: { scan: URI } } };
    const answer = heard(await call(client, { requestState: again.requestState, inputResponses }));
    expect(answer.who?.content).toEqual({ name: 'x'.repeat(40_000) });
  });

  it('gets what the client has uploaded to Wharf, before its answer (BR-06, 1306-06, 1306-30, 1306-35, VER-01)', async () => {
    const { uploads, upstream, ...lab } = await start({ scan: ask(binary()) });
    const client = clientOf({ ...lab, uploads, upstream } as AskingServer, BINARY);
    const first = await call(client);
    const { requestState, inputRequests = {} } = wanted(first);
    expect(Object.keys(inputRequests)).toEqual([KEY]);
    const { method, params } = inputRequests[KEY] ?? {};
    expect(method).toBe('elicitation/create');
    expect(Object.keys(params ?? {}).sort()).toEqual(['message', 'mode', 'requestedSchema', 'uploadEndpoints']);
    expect(schemaIn(params).properties.scan).toMatchObject({ type: 'file', maxSize: 500, accept: ['image/png'] });
    expect(JSON.stringify(first)).not.toMatch(/take\/42|their-id|of the server/);
    const { status, uploadId } = await send(params);
    expect(status).toBe(201);
    const scan = { name: 'page1.png', size: PNG.length, mimeType: 'image/png', uploadId };
    const inputResponses = { [KEY]: { action: 'accept', content: { scan } } };
    const answer = heard(await call(client, { requestState, inputResponses }));
    expect(answer).toEqual({ scan: { action: 'accept', content: { scan: { ...scan, uploadId: 'their-id' } } } });
    expect(uploads).toEqual([expect.objectContaining({ method: 'POST', url: PATH, authorization: TOKEN })]);
    expect(uploads[0]?.body).toContain('name="file"; filename="page1.png"\r\nContent-Type: image/png\r\n\r\n');
    expect(uploads[0]?.body).toContain(PNG.toString('latin1'));
  });

  it('is understood however it spells that it wants input (1306-06)', async () => {
    const upstream = await startFakeUpstream();
    const wharf = await startWharf({ servers: { docs: { url: upstream.url, transport: 'streamable-http' } } });
    const inputRequests = JSON.stringify({ scan: ask(binary()) });
    upstream.respond = ({ body }) => {
      const { id, method } = JSON.parse(body.toString()) as { id: number; method: string };
      const result =
        method === 'tools/call'
          ? `{"r\\u0065sultType":"input\\u005frequired","requestState":"s","inputRequests":${inputRequests}}`
          : JSON.stringify(discover());
      return { body: Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":${result}}`), contentType: 'application/json' };
    };
    try {
      const first = await call(RawClient.stateless(wharf.mcp, MODERN, { capabilities: BINARY }));
      expect(Object.keys(wanted(first).inputRequests ?? {})).toEqual([KEY]);
    } finally {
      await wharf.stop();
      await upstream.close();
    }
  });

  it('is told that its client can be asked (1306-01, 1306-05)', async () => {
    const lab = await start({});
    const { upstream } = lab;
    await clientOf(lab, PAGES).request('tools/list');
    await clientOf(lab, { elicitation: { form: {} } }).request('tools/list');
    const declared = upstream.with('tools/list').map(({ params }) => {
      const meta = params._meta as Record<string, { elicitation: Json }>;
      return meta['io.modelcontextprotocol/clientCapabilities']?.elicitation;
    });
    expect(declared).toEqual([{ form: {}, url: {}, binary: { maxFileSize: 100 * 1024 * 1024 } }, { form: {} }]);
  });

  it('gets what was uploaded on a page, and what was filled in beside it, in any round (BR-04, 1306-12)', async () => {
    const properties = { note: { type: 'string' } };
    const own = { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: { type: 'object' } } };
    const lab = await start(
      { scan: ask(binary({ properties, required: ['scan', 'note'] })), who: own },
      { config: { timeouts: { elicitationRound: '1s' } } },
    );
    const client = clientOf(lab, PAGES);
    const first = wanted(await call(client));
    const { who, ...asked } = first.inputRequests ?? {};
    expect(who).toEqual(own);
    const modes = Object.entries(asked).map(([key, { params }]) => [key, params.mode]);
    expect(modes).toEqual([
      ['wharf-file-1', 'url'],
      ['wharf-file-2', 'form'],
    ]);
    const accepted = {
      who: { action: 'accept', content: { name: 'Ada' } },
      'wharf-file-1': { action: 'accept' },
      'wharf-file-2': { action: 'accept', content: { note: 'by hand' } },
    };
    const second = wanted(await call(client, { requestState: first.requestState, inputResponses: accepted }));
    expect(Object.keys(second.inputRequests ?? {})).toEqual(['wharf-file-1']);
    expect(second.inputRequests?.['wharf-file-1']?.params.url).toBe(asked['wharf-file-1']?.params.url);
    expect(await upload(String(asked['wharf-file-1']?.params.url))).toBe(201);
    const again = { requestState: second.requestState, inputResponses: { 'wharf-file-1': { action: 'accept' } } };
    const answer = heard(await call(client, again));
    expect(answer.who).toEqual(accepted.who);
    expect(answer.scan).toMatchObject({
      action: 'accept',
      content: { note: 'by hand', scan: { uploadId: 'their-id' } },
    });
    expect(lab.uploads).toHaveLength(1);
  });

  it('hears cancel after too many answers that say nothing about the other fields', async () => {
    const properties = { note: { type: 'string' } };
    const lab = await start(
      { scan: ask(binary({ properties, required: ['scan', 'note'] })) },
      { config: { elicitation: { rounds: 2 } } },
    );
    const client = clientOf(lab, PAGES);
    let { requestState, inputRequests } = wanted(await call(client));
    expect(await upload(String(inputRequests?.['wharf-file-1']?.params.url))).toBe(201);
    const inputResponses = { 'wharf-file-1': { action: 'accept' }, 'wharf-file-2': { action: 'submit' } };
    ({ requestState, inputRequests } = wanted(await call(client, { requestState, inputResponses })));
    expect(Object.keys(inputRequests ?? {})).toEqual(['wharf-file-2']);
    expect(heard(await call(client, { requestState, inputResponses }))).toEqual({ scan: { action: 'cancel' } });
    expect(lab.uploads).toEqual([]);
  });

  it('gets what a form holds, and the other fields of the same form (BR-04, 1306-12)', async () => {
    const properties = { note: { type: 'string' } };
    const lab = await start({ scan: ask(binary({ properties })) });
    const client = clientOf(lab, FORMS);
    const { requestState, inputRequests } = wanted(await call(client));
    expect(schemaIn(inputRequests?.[KEY]?.params).properties).toMatchObject(properties);
    const content = { scan: URI, note: 'x' };
    const answer = heard(
      await call(client, { requestState, inputResponses: { [KEY]: { action: 'accept', content } } }),
    );
    expect(answer.scan?.content).toMatchObject({ note: 'x', scan: { name: 'page1.png', size: PNG.length } });
    expect(lab.uploads).toHaveLength(1);
  });

  it.each(['decline', 'cancel'])('hears %s as it is, and the link ends (1306-34)', async (action) => {
    const lab = await start({ scan: ask(binary()) });
    const client = clientOf(lab, BINARY);
    const { requestState, inputRequests } = wanted(await call(client));
    const answer = heard(await call(client, { requestState, inputResponses: { [KEY]: { action } } }));
    expect(answer).toEqual({ scan: { action } });
    expect((await send(inputRequests?.[KEY]?.params)).status).toBe(410);
    expect(lab.uploads).toEqual([]);
  });

  it('hears cancel where no user can be asked, after the client has called again at once (BR-13)', async () => {
    const lab = await start({ scan: ask(binary()), bad: ask({ ...binary(), uploadEndpoints: {} }) });
    const client = clientOf(lab, { elicitation: { form: {} } });
    const { requestState, ...rest } = wanted(await call(client));
    expect(rest).not.toHaveProperty('inputRequests');
    const answer = heard(await call(client, { requestState }));
    expect(answer).toEqual({ scan: { action: 'cancel' }, bad: { action: 'cancel' } });
  });

  it('is never told of a file that it has refused (1306-29)', async () => {
    const lab = await start({ scan: ask(binary()) }, { statuses: [500] });
    const client = clientOf(lab, FORMS);
    const { requestState } = wanted(await call(client));
    const inputResponses = { [KEY]: { action: 'accept', content: { scan: URI } } };
    expect(heard(await call(client, { requestState, inputResponses }))).toEqual({ scan: { action: 'cancel' } });
    expect(lab.uploads).toHaveLength(2);
  });

  it('hears cancel after too many answers that do not agree with the upload (1306-33)', async () => {
    const lab = await start({ scan: ask(binary()) }, { config: { elicitation: { rounds: 2 } } });
    const client = clientOf(lab, BINARY);
    let { requestState, inputRequests } = wanted(await call(client));
    const { uploadId } = await send(inputRequests?.[KEY]?.params);
    const wrong = { [KEY]: { action: 'accept', content: { scan: { uploadId, size: 1 } } } };
    ({ requestState, inputRequests } = wanted(await call(client, { requestState, inputResponses: wrong })));
    expect(inputRequests?.[KEY]?.params.message).toContain('The file was not taken: The file that was uploaded has 70');
    expect(heard(await call(client, { requestState, inputResponses: wrong }))).toEqual({ scan: { action: 'cancel' } });
    expect(lab.uploads).toEqual([]);
  });

  it.each([
    ['its file from an SDK client that opens pages', 'accept', { url: {} }],
    ['cancel from one that only shows forms', 'cancel', { form: {} }],
  ])('gets %s, which needs to know nothing new (BR-04, BR-13, K6)', async (_what, action, elicitation) => {
    const lab = await start({ scan: ask(binary()) });
    const sdk = new Client(
      { name: 'asked', version: '1' },
      { capabilities: { elicitation }, versionNegotiation: { mode: { pin: MODERN } } },
    );
    sdk.setRequestHandler('elicitation/create', async ({ params }) => {
      await upload('url' in params ? String(params.url) : '');
      return { action: 'accept' };
    });
    await sdk.connect(new StreamableHTTPClientTransport(new URL(lab.wharf.mcp)));
    const result = await sdk.callTool({ name: 'ask', arguments: {} });
    expect(JSON.parse(textOf(result))).toMatchObject({ scan: { action } });
    expect(lab.uploads).toHaveLength(action === 'accept' ? 1 : 0);
    await sdk.close();
  });

  it('goes on with its call on another replica (VER-03)', async () => {
    const shared = { stores: 's3+redis', bucket: freshName('wants'), keyPrefix: `${freshName('wants')}:` } as const;
    const lab = await start({ scan: ask(binary()) }, shared);
    const { url } = lab.upstream;
    const other = await startWharf({ servers: { docs: { url, transport: 'streamable-http' } }, ...shared });
    const { requestState, inputRequests } = wanted(await call(clientOf(lab, PAGES)));
    await upload(String(inputRequests?.[KEY]?.params.url));
    const client = RawClient.stateless(other.mcp, MODERN, { capabilities: PAGES });
    const inputResponses = { [KEY]: { action: 'accept' } };
    expect(heard(await call(client, { requestState, inputResponses })).scan?.action).toBe('accept');
    expect(lab.uploads).toHaveLength(1);
    await other.stop();
  });
});

describe('a server that wants a file by a form, on 2026-07-28', () => {
  const form = {
    mode: 'form',
    message: 'a picture.',
    requestedSchema: {
      type: 'object',
      properties: { scan: { type: 'string', format: 'uri', 'x-mcp-file': {} } },
      required: ['scan'],
    },
  };

  it('gets it in its answer from a client that uploads (BR-05)', async () => {
    const lab = await start({ scan: ask(form) });
    const client = clientOf(lab, BINARY);
    const { requestState, inputRequests } = wanted(await call(client));
    const { uploadId } = await send(inputRequests?.[KEY]?.params);
    const inputResponses = { [KEY]: { action: 'accept', content: { scan: { uploadId } } } };
    const scan = `data:image/png;base64,${PNG.toString('base64')}`;
    expect(heard(await call(client, { requestState, inputResponses }))).toEqual({
      scan: { action: 'accept', content: { scan } },
    });
  });

  it('gets the bytes of a file that its client has uploaded, and names by its handle (2631-67, HO-17)', async () => {
    const note = { type: 'string' };
    const { requestedSchema } = form;
    const properties = { ...requestedSchema.properties, note };
    const lab = await start({ scan: ask({ ...form, requestedSchema: { ...requestedSchema, properties } }) });
    const client = clientOf(lab, { elicitation: { form: {} }, files: { upload: true, transports: ['https'] } });
    const { requestState, inputRequests } = wanted(await call(client));
    expect(schemaIn(inputRequests?.[KEY]?.params).properties).toMatchObject(properties);
    const handle = await uploadFile(client, PNG, 'page1.png', 'image/png');
    const content = { scan: handle, note: handle };
    const inputResponses = { [KEY]: { action: 'accept', content } };
    const scan = `data:image/png;base64,${PNG.toString('base64')}`;
    expect(heard(await call(client, { requestState, inputResponses }))).toEqual({
      scan: { action: 'accept', content: { scan, note: handle } },
    });
  });

  it('gets a file that it wants uploaded in no other way, and its URI in the answer (2631-16)', async () => {
    const scan = { type: 'string', format: 'uri', 'x-mcp-file': { transferModes: ['upload'] } };
    const lab = await start({ scan: ask({ ...form, requestedSchema: { type: 'object', properties: { scan } } }) });
    const client = clientOf(lab, { elicitation: { form: {} }, files: { upload: true, transports: ['https'] } });
    const { requestState, inputRequests } = wanted(await call(client));
    expect(schemaIn(inputRequests?.[KEY]?.params).properties).toMatchObject({ scan });
    const handle = await uploadFile(client, PNG, 'page1.png', 'image/png');
    const inputResponses = { [KEY]: { action: 'accept', content: { scan: handle } } };
    expect(heard(await call(client, { requestState, inputResponses }))).toEqual({
      scan: { action: 'accept', content: { scan: 'mcp-file://asking/1' } },
    });
    expect(lab.uploads.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['PUT', PATH, PNG.toString('latin1')],
    ]);
  });

  it('and the client that knows its fields are alone with each other', async () => {
    const lab = await start({ scan: ask(form) });
    const { result } = await call(clientOf(lab, FORMS));
    expect(result).toEqual({
      resultType: 'input_required',
      inputRequests: { scan: ask(form) },
      requestState: 'of the server',
      extra: 1,
    });
  });
});
