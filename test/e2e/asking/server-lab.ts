import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { PNG, textOf } from './lab.js';
import { asked, RawCall } from './raw-call.js';

type Json = Record<string, unknown>;

const FIXTURE = 'test/helpers/eliciting-server.fixture.mjs';
export const PATH = '/take/42?a=b%2Fc';
export const TOKEN = 'Bearer of-the-operator';

const field = (more: Json = {}) => ({ type: 'file', title: 'Scan', accept: ['image/png'], maxSize: 1000, ...more });
const endpoint = (more: Json = {}) => ({ url: `$ORIGIN${PATH}`, method: 'POST', uploadId: 'their-id', ...more });
export const binary = (more: { field?: Json; endpoint?: Json; properties?: Json; required?: string[] } = {}) => ({
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
let gateway: Wharf | undefined;

/** Ends both. */
export async function stop(): Promise<void> {
  await gateway?.stop();
  if (server?.kill()) await once(server, 'exit');
  [gateway, server] = [undefined, undefined];
}

/** The gateway that runs now. */
export function wharf(): Wharf {
  if (!gateway) throw new Error('it has not been started');
  return gateway;
}

interface Setting {
  over?: string;
  statuses?: string;
  limits?: Json;
  /** Of the server's own address. */
  port?: number;
  /** `servers.docs` */
  more?: Json;
}

/** Wharf in front of a server whose only tool asks this before it answers. */
export async function start(
  question: Json,
  { over = 'http', statuses = '200', limits = {}, port = 0, more = {} }: Setting = {},
  config: Json = {},
): Promise<Wharf> {
  const args = [FIXTURE, JSON.stringify(question), over, statuses, String(port)];
  let docs: Json = { command: [process.execPath, ...args] };
  if (over !== 'stdio') {
    server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(server.stdout as NonNullable<ChildProcess['stdout']>, 'data');
    docs = { url: `${String(line).trim()}/mcp`, transport: 'streamable-http', headers: { authorization: TOKEN } };
  }
  gateway = await startWharf({ servers: { docs: { ...docs, limits, ...more } }, config });
  return gateway;
}

export async function ask(capabilities: Json) {
  return asked(await RawCall.begin(wharf().mcp, 'ask', {}, { capabilities }));
}

interface Told {
  came: { result?: { action: string; content?: Json }; error?: Json };
  uploads: { method: string; url: string; authorization?: string; type: string; body: string }[];
  /** Parameters of the notifications that it was sent. */
  progress: Json[];
  elicitation?: Json;
}

export const toldIn = (result: unknown) => JSON.parse(textOf(result)) as Told;
export const parts = (one: Told['uploads'][number] | undefined) =>
  Buffer.from(one?.body ?? '', 'base64').toString('latin1');
export const URI = `data:image/png;name=page1.png;base64,${PNG.toString('base64')}`;
export const FORMS = { elicitation: { form: {} }, fileInputs: {} };
export const BINARY = { elicitation: { form: {}, binary: { maxFileSize: 500 } } };

export const schemaIn = (params: Json | undefined) =>
  (params?.requestedSchema ?? {}) as { properties: Record<string, Json>; required: string[] };

export async function send(params: Json | undefined, bytes = PNG, headers: Record<string, string> = {}) {
  const { scan } = (params?.uploadEndpoints ?? {}) as Record<string, { url: string; uploadId: string }>;
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(bytes)], { type: 'image/png' }), 'page1.png');
  const { status } = await fetch(String(scan?.url), { method: 'POST', headers, body: form });
  return { status, uploadId: String(scan?.uploadId), url: String(scan?.url) };
}
