import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

/** Where a file may be uploaded, with the code of the link in a header, and its handle. */
interface Place {
  url: string;
  headers: Record<string, string>;
  uri: string;
}

/** Calls a tool. @throws Error with what the model reads, when it failed */
export async function call(client: Client, name: string, args: Record<string, unknown>): Promise<CallToolResult> {
  const result = (await client.callTool({ name, arguments: args })) as CallToolResult;
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content).slice(0, 500)}`);
  return result;
}

export const textOf = ({ content }: CallToolResult) => (content[0]?.type === 'text' ? content[0].text : '');

/** The right to upload one file, as a model gets it. */
export async function askForUpload(client: Client): Promise<Place> {
  const { structuredContent } = await call(client, 'request_file_upload', { name: 'soak.bin' });
  const { upload, file } = structuredContent as { upload: Omit<Place, 'uri'>; file: { uri: string } };
  return { ...upload, uri: file.uri };
}

/** Uploads by a form, as a browser does it. */
export function postForm({ url, headers }: Place, bytes: Buffer): Promise<Response> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(bytes)]), 'soak.bin');
  return fetch(url, { method: 'POST', headers, body: form });
}

/** @throws Error that names the status and the beginning of the answer, where it is not the expected one */
export async function expectStatus(response: Response, status: number): Promise<void> {
  const text = await response.text();
  if (response.status !== status) throw new Error(`${response.status} instead of ${status}: ${text.slice(0, 300)}`);
}
