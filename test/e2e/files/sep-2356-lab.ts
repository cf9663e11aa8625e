import { RawClient, type RawMessage } from '../../helpers/raw-client.js';
import { type RecordingOptions, RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

export type Json = Record<string, unknown>;

export const F1 = Buffer.from('Hello world!');
export const F2 = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==',
  'base64',
);
export const F4 = Buffer.from([0, 1, 2, 253, 254, 255]);
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

export interface Lab {
  upstream: RecordingUpstream;
  wharf: Wharf;
  client: RawClient;
  /** The arguments that the server gets for these; fails where the call did not reach it. */
  sent: (name: string, args: Json) => Promise<Json>;
  /** Why Wharf refused a call, which the server must not see. */
  refused: (name: string, args: Json) => Promise<Json | undefined>;
  stop: () => Promise<void>;
}

export interface LabOptions extends Pick<RecordingOptions, 'methods'> {
  server?: Json;
  config?: Json;
}

export async function lab(tools: Json[], { methods, server = {}, config = {} }: LabOptions = {}): Promise<Lab> {
  const upstream = await RecordingUpstream.start({ tools, ...(methods && { methods }) });
  const wharf = await startWharf({
    servers: { files: { url: upstream.url, transport: 'streamable-http', ...server } },
    config,
  });
  const client = await RawClient.connect(wharf.mcp);
  const calls = () => upstream.with('tools/call').length;
  return {
    upstream,
    wharf,
    client,
    sent: async (name, args) => {
      const before = calls();
      const answer = await client.call(name, args);
      if (calls() !== before + 1) throw new Error(`the server saw no call: ${answer.answer.text.slice(0, 500)}`);
      return upstream.lastArguments;
    },
    refused: async (name, args) => {
      const before = calls();
      const answer = await client.call(name, args);
      if (calls() !== before) throw new Error('the server saw the call');
      return factsOf(answer);
    },
    stop: async () => {
      await wharf.stop();
      await upstream.stop();
    },
  };
}

/** What a tool error says for programs. */
export function factsOf({ result }: RawMessage): Json | undefined {
  return (result?._meta as Record<string, Json> | undefined)?.['dev.wharf/fileError'];
}

export interface ShownTool {
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
