import type { Transfer } from '../../gateway/ports/transfer.js';
import { sha256Url } from '../helpers/bytes.js';
import type { About, RawClient, RawMessage } from '../helpers/raw-client.js';

export interface Sample {
  name: string;
  mimeType: string;
  bytes: Buffer;
}

/** Answers a question. */
export type Answer = (params: Record<string, unknown>) => Promise<Record<string, unknown>>;

/** How a client is asked for a file. */
interface Askable {
  capabilities: Record<string, unknown>;
  /** The first revision on which it can be asked so. */
  since?: string;
  /** The dialect without which it cannot be. */
  needs?: string;
  answer(params: Record<string, unknown>, file: Sample): Promise<Record<string, unknown>>;
}

/** A kind of client: how it says what it is, hands a file over, and fetches one that a result names. */
export interface ClientClass {
  readonly name: string;
  readonly about: About;
  /** The dialect without which it cannot be served. */
  readonly needs?: string;
  /** True when only the operator can say that it speaks that dialect. */
  readonly byProfile?: boolean;
  readonly asked: Askable;
  give(client: RawClient, file: Sample): Promise<unknown>;
  fetch(client: RawClient, result: NonNullable<RawMessage['result']>): Promise<Buffer>;
}

const base64 = (file: Sample) => file.bytes.toString('base64');

async function get(url: string): Promise<Buffer> {
  const answer = await fetch(url, { redirect: 'manual' });
  if (answer.status !== 200) throw new Error(`a link answers ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}

/** Any object anywhere in a result that passes the test. */
function find(value: unknown, fits: (object: Record<string, unknown>) => boolean): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value) && fits(value as Record<string, unknown>)) return value as Record<string, unknown>;
  for (const child of Object.values(value)) {
    const found = find(child, fits);
    if (found) return found;
  }
  return undefined;
}

/** What programs without a dialect have: the list in `_meta`, else a link block. */
async function byLink(_client: RawClient, result: object): Promise<Buffer> {
  const listed = find(result, (object) => typeof object.url === 'string' && typeof object.digest === 'string');
  const linked = listed ?? find(result, (object) => object.type === 'resource_link');
  const url = String(listed?.url ?? linked?.uri);
  const inline = find(result, (object) => object.type === 'image' && typeof object.data === 'string');
  if (!listed && !linked && inline) return Buffer.from(String(inline.data), 'base64');
  return get(url);
}

async function resultOf(request: Promise<RawMessage>): Promise<NonNullable<RawMessage['result']>> {
  const { result, error } = await request;
  if (!result) throw new Error(`refused: ${error?.code} ${error?.message}`);
  return result;
}

/** For clients that know nothing better. */
const byPage: Askable = {
  capabilities: { elicitation: { url: {} } },
  since: '2025-11-25',
  async answer({ url }, { mimeType, bytes }) {
    const body = new Uint8Array(bytes);
    const answer = await fetch(String(url), { method: 'PUT', headers: { 'content-type': mimeType }, body });
    if (!answer.ok) throw new Error(`the upload answers ${answer.status}`);
    return { action: 'accept' };
  },
};

const byForm = (capabilities: Record<string, unknown>, uriOf: (file: Sample) => string): Askable => ({
  capabilities,
  needs: 'sep-2356',
  answer: async ({ requestedSchema }, file) => {
    const { required } = requestedSchema as { required: string[] };
    return { action: 'accept', content: { [String(required[0])]: uriOf(file) } };
  },
});

const byUpload: Askable = {
  capabilities: { elicitation: { binary: {} } },
  needs: 'sep-1306',
  async answer({ uploadEndpoints }, { name, mimeType, bytes }) {
    const [[field, { url, uploadId }]] = Object.entries(uploadEndpoints as Endpoints) as [[string, Endpoints[string]]];
    const body = new FormData();
    body.set('file', new Blob([new Uint8Array(bytes)], { type: mimeType }), name);
    const answer = await fetch(url, { method: 'POST', body });
    if (!answer.ok) throw new Error(`the upload answers ${answer.status}`);
    return { action: 'accept', content: { [field]: { name, size: bytes.length, mimeType, uploadId } } };
  },
};

type Endpoints = Record<string, { url: string; uploadId: string }>;

const sep2631: ClientClass = {
  name: 'SEP-2631',
  asked: byPage,
  needs: 'sep-2631',
  about: { capabilities: { files: { upload: true, download: true, transports: ['https'] } } },
  async give(client, { name, mimeType, bytes }) {
    const digest = { algorithm: 'sha-256', value: sha256Url(bytes) };
    const params = { name, mimeType, size: bytes.length, digest };
    const { file, upload } = (await resultOf(client.request('files/authorizeUpload', params))) as unknown as {
      file: { uri: string };
      upload: { url: string; method: string; multipart: { fileField: string } };
    };
    const form = new FormData();
    form.set(upload.multipart.fileField, new Blob([new Uint8Array(bytes)], { type: mimeType }), name);
    const answer = await fetch(upload.url, { method: upload.method, body: form });
    if (!answer.ok) throw new Error(`the upload answers ${answer.status}`);
    return file.uri;
  },
  async fetch(client, result) {
    const file = find(result, (object) => typeof object.uri === 'string' && object.uri.startsWith('mcp-file:'));
    if (!file) throw new Error('the result names no file');
    const { download } = (await resultOf(client.request('files/authorizeDownload', { uri: file.uri }))) as unknown as {
      download: { url: string };
    };
    return get(download.url);
  },
};

const plainUri = (file: Sample) => `data:${file.mimeType};base64,${base64(file)}`;
const namedUri = (file: Sample) => `data:${file.mimeType};name=${encodeURIComponent(file.name)};base64,${base64(file)}`;

const sep2356: ClientClass = {
  name: 'SEP-2356',
  about: {},
  asked: byForm({ elicitation: { form: { fileInputs: {} } } }, plainUri),
  give: async (_client, file) => plainUri(file),
  fetch: byLink,
};

const sep2356Early: ClientClass = {
  name: 'SEP-2356, early',
  about: { capabilities: { fileInputs: {} } },
  asked: byForm({ fileInputs: {}, elicitation: {} }, namedUri),
  give: async (_client, file) => namedUri(file),
  fetch: byLink,
};

/** What the OpenAI host keeps, by the id in its address. */
const hosted = new Map<string, Sample>();

const openai: ClientClass = {
  name: 'OpenAI',
  asked: byPage,
  about: { name: 'openai-mcp' },
  needs: 'openai-file-params',
  byProfile: true,
  async give(_client, file) {
    const id = `file_${hosted.size}`;
    hosted.set(id, file);
    const url = `https://files.example.com/${id}?sig=secret`;
    return { download_url: url, file_id: id, mime_type: file.mimeType, file_name: file.name };
  },
  async fetch(_client, result) {
    const file = find(result, (object) => typeof object.download_url === 'string');
    if (!file) throw new Error('the result has no download_url');
    return get(String(file.download_url));
  },
};

const unaware: ClientClass = {
  name: 'none, by handle',
  asked: byPage,
  about: {},
  async give(client, file) {
    const result = await resultOf(client.call('request_file_upload', { name: file.name, mimeType: file.mimeType }));
    const { file: pending, upload } = result.structuredContent as { file: { uri: string }; upload: { url: string } };
    const headers = { 'content-type': file.mimeType };
    const answer = await fetch(upload.url, { method: 'PUT', headers, body: new Uint8Array(file.bytes) });
    if (!answer.ok) throw new Error(`the upload answers ${answer.status}`);
    return pending.uri;
  },
  fetch: byLink,
};

/** It gives a file only when it is asked for one. */
const sep1306: ClientClass = {
  name: 'SEP-1306',
  about: { capabilities: byUpload.capabilities },
  needs: 'sep-1306',
  asked: byUpload,
  give: async () => '@attach',
  fetch: byLink,
};

export const CLIENTS: readonly ClientClass[] = [sep2631, sep2356, sep2356Early, sep1306, openai, unaware];

/** Stands in for the internet: `files.example.com` is what the OpenAI host keeps. */
export function withHostedFiles(real: Transfer): Transfer {
  return {
    ...real,
    upload: (request, signal) => real.upload(request, signal),
    close: () => real.close(),
    async download(request, signal) {
      const file = hosted.get(new URL(request.url).pathname.slice(1));
      if (!file || new URL(request.url).host !== 'files.example.com') return real.download(request, signal);
      const { Readable } = await import('node:stream');
      return { status: 200, headers: {}, contentLength: file.bytes.length, body: Readable.from([file.bytes]) };
    },
  };
}
