import { sha256Url } from '../../helpers/bytes.js';
import type { RawClient, RawMessage } from '../../helpers/raw-client.js';
import type { Json } from './recording-lab.js';

export const F1_DIGEST = 'wFNeS-K3n_2TKRMFQ2v4iTFOSj-uwF7P_Lt98xrZ5Ro';

export function digestValue(bytes: Buffer): Json {
  return { algorithm: 'sha-256', value: sha256Url(bytes) };
}

/** What a client that speaks the current revision declares. */
export const SPEAKS = { capabilities: { files: { upload: true, download: true, transports: ['https'] } } };

/** A legacy tool whose file argument is configured. */
export const OCR_TOOL = {
  name: 'ocr_image',
  inputSchema: {
    type: 'object',
    properties: { image_base64: { type: 'string', description: 'Base64 of a PNG' }, filename: { type: 'string' } },
    required: ['image_base64'],
  },
};
export const OCR_FILES = { ocr_image: { files: { image_base64: { encoding: 'base64', name: 'filename' } } } };

interface Descriptor {
  transport: string;
  method: string;
  url: string;
  expiresAt: string;
  headers?: Record<string, string>;
  multipart?: { fileField: string; fields?: Record<string, string> };
}

interface Authorized {
  file: Json & { uri: string };
  upload: Descriptor;
  download: Descriptor;
}

export async function authorizeUpload(client: RawClient, params: Json = {}): Promise<Authorized> {
  const { result, error } = await client.request('files/authorizeUpload', params);
  if (!result) throw new Error(JSON.stringify(error));
  return result as unknown as Authorized;
}

/** As a client does it: text fields first, then the file. */
export function sendForm({ url, multipart }: Descriptor, bytes: Buffer, name = 'f.bin', type = ''): Promise<Response> {
  const form = new FormData();
  for (const [key, value] of Object.entries(multipart?.fields ?? {})) form.append(key, value);
  form.append(multipart?.fileField ?? '', new Blob([new Uint8Array(bytes)], { type }), name);
  return fetch(url, { method: 'POST', body: form, redirect: 'manual' });
}

/** Authorizes and uploads; gives the handle. */
export async function upload(client: RawClient, bytes: Buffer, name = 'f.bin', mimeType?: string): Promise<string> {
  const { file, upload: descriptor } = await authorizeUpload(client, { name, ...(mimeType && { mimeType }) });
  const response = await sendForm(descriptor, bytes, name, mimeType);
  if (response.status !== 201) throw new Error(`upload: ${response.status} ${await response.text()}`);
  return file.uri;
}

export async function authorizeDownload(client: RawClient, uri: string): Promise<Authorized> {
  const { result, error } = await client.request('files/authorizeDownload', { uri });
  if (!result) throw new Error(JSON.stringify(error));
  return result as unknown as Authorized;
}

/** Downloads as a client does it: by the method, from the URL, without a redirect. */
export async function download(client: RawClient, uri: string): Promise<Buffer> {
  const { url } = (await authorizeDownload(client, uri)).download;
  const response = await fetch(url, { redirect: 'manual' });
  if (response.status !== 200) throw new Error(`download: ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

/** The first tool's schema of a property. */
export async function shown(client: RawClient, property: string): Promise<Json> {
  const { result } = await client.request('tools/list');
  const [tool] = (result?.tools ?? []) as { inputSchema: { properties: Record<string, Json> } }[];
  return tool?.inputSchema.properties[property] ?? {};
}

/** Why a call was refused. */
export function reasonOf({ result }: RawMessage): unknown {
  const meta = result?._meta as { 'dev.wharf/fileError'?: { reason?: string } } | undefined;
  const inBlock = result?.content
    ?.map((block) => (block._meta as typeof meta)?.['dev.wharf/fileError']?.reason)
    .find((reason) => reason !== undefined);
  return meta?.['dev.wharf/fileError']?.reason ?? inBlock;
}
