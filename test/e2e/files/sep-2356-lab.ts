import type { RawClient } from '../../helpers/raw-client.js';
import type { Json } from './recording-lab.js';

export const PDF = Buffer.from('%PDF-1.4\n%%EOF\n');

/** What a client of the early revisions declares. */
export const EARLY = { fileInputs: {} };

export function dataUri(type: string, bytes: Buffer, name?: string): string {
  return `data:${type}${name === undefined ? '' : `;name=${name}`};base64,${bytes.toString('base64')}`;
}

/** The bytes of a base64 data: URI. */
export function bytesOf(uri: unknown): Buffer {
  return Buffer.from(String(uri).replace(/^data:[^,]*,/, ''), 'base64');
}

export function tool(name: string, properties: Json, more: Json = {}): Json {
  return { name, inputSchema: { type: 'object', properties }, ...more };
}

/** A file argument as the current revision declares it. */
export function declared(keyword: Json = {}, more: Json = {}): Json {
  return { type: 'string', format: 'uri', 'x-mcp-file': keyword, ...more };
}

interface ShownTool {
  inputSchema: { properties: Record<string, Json>; required?: string[] };
  inputFiles?: Record<string, Json>;
}

export async function shownTools(client: RawClient): Promise<ShownTool[]> {
  return ((await client.request('tools/list')).result?.tools ?? []) as ShownTool[];
}

export async function shownTool(client: RawClient, index = 0): Promise<ShownTool> {
  const shown = (await shownTools(client))[index];
  if (!shown) throw new Error(`no tool ${index}`);
  return shown;
}

/** The handle of the first file of a result. */
export function handleIn(result: Json | undefined): string {
  const { 'dev.wharf/files': files } = (result?._meta ?? {}) as { 'dev.wharf/files'?: { uri: string }[] };
  if (!files?.[0]) throw new Error('no file in the result');
  return files[0].uri;
}
