import { randomBytes } from 'node:crypto';
import { adapters } from '../../../adapters/index.js';
import { sha256Url } from '../../helpers/bytes.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';

type Json = Record<string, unknown>;

const PNG_HEAD = Buffer.from('89504e470d0a1a0a', 'hex');
const JPEG_HEAD = Buffer.from('ffd8ffe000104a464946', 'hex');

/** Larger than any inline limit. */
export const image = (head = PNG_HEAD) => Buffer.concat([head, randomBytes(600_000)]);
export const photo = () => image(JPEG_HEAD);

const TEXT = { type: 'string' };
const URI = { type: 'string', format: 'uri' };
const OBJECT = { type: 'object', properties: { download_url: TEXT, file_id: TEXT, mime_type: TEXT, file_name: TEXT } };

const fileValue = (uri: string, bytes: Buffer): Json => ({
  uri,
  name: 'shot.png',
  mimeType: 'image/png',
  size: bytes.length,
  digest: { algorithm: 'sha-256', value: sha256Url(bytes) },
});

interface Origin {
  /** The dialect without which such a server cannot be fronted. */
  needs?: string;
  result: (bytes: Buffer) => Json;
  settings?: Json;
}

/** Every way in which a server gives a file that is on the wire as bytes or is fetched from it. */
export const ORIGINS: Readonly<Record<string, Origin>> = {
  'image block': {
    result: (bytes) => ({ content: [{ type: 'image', mimeType: 'image/png', data: bytes.toString('base64') }] }),
  },
  'blob resource': {
    result: (bytes) => ({
      content: [
        {
          type: 'resource',
          resource: { uri: 'doc://a/shot.png', mimeType: 'image/png', blob: bytes.toString('base64') },
        },
      ],
    }),
  },
  'base64 in structuredContent': {
    result: (bytes) => ({ content: [], structuredContent: { shots: [{ data: bytes.toString('base64') }] } }),
    settings: { results: { files: ['shots[].data'] } },
  },
  'resource_link, not yet read': {
    result: () => ({ content: [{ type: 'resource_link', uri: 'doc://a/lazy.png', name: 'lazy.png' }] }),
  },
  'SEP-2631 FileValue': {
    needs: 'sep-2631',
    result: (bytes) => ({
      content: [],
      structuredContent: {
        file: fileValue('store://out/1', bytes),
      },
    }),
  },
};

/** A server with a tool for each origin, named by its place in the list. */
export async function startGiving(bytes: Buffer): Promise<{ upstream: RecordingUpstream; settings: Json }> {
  const names = Object.keys(ORIGINS);
  const upstream: RecordingUpstream = await RecordingUpstream.start({
    tools: names.map((_, index) => ({ name: `give${index}`, inputSchema: { type: 'object' } })),
    methods: {
      'tools/call': ({ name }) => ORIGINS[names[Number(String(name).slice(4))] as string]?.result(bytes),
      'resources/read': ({ uri }) => ({
        contents: [{ uri, mimeType: 'image/png', blob: bytes.toString('base64') }],
      }),
      'files/authorizeDownload': ({ uri }) => ({
        file: fileValue(String(uri), bytes),
        download: { transport: 'https', method: 'GET', url: `${upstream.origin}/down` },
      }),
    },
    http: (request) => (request.url === '/down' ? { status: 200, body: bytes } : undefined),
  });
  const settings = Object.fromEntries(
    names.flatMap((name, index) => (ORIGINS[name]?.settings ? [[`give${index}`, ORIGINS[name].settings]] : [])),
  );
  return { upstream, settings };
}

interface Target {
  needs?: string;
  schema: Json;
  tool?: Json;
  settings?: Json;
  received: (value: unknown, uploaded: ReadonlyMap<string, Buffer>) => Buffer | Promise<Buffer>;
}

const base64 = (value: unknown) => Buffer.from(String(value), 'base64');
const dataUri = (value: unknown) => base64(String(value).slice(String(value).indexOf(',') + 1));

/** Every form in which a server takes a file. */
export const TARGETS: Readonly<Record<string, Target>> = {
  base64: { schema: TEXT, settings: { file: { encoding: 'base64', name: 'name' } }, received: base64 },
  object: {
    schema: { type: 'object' },
    settings: { file: { encoding: 'object', template: { data: '$base64', mimeType: '$mime', size: '$size' } } },
    received: (value) => base64((value as { data: string }).data),
  },
  dataUri: { schema: TEXT, settings: { file: { encoding: 'dataUri' } }, received: dataUri },
  'SEP-2356': { needs: 'sep-2356', schema: { ...URI, 'x-mcp-file': {} }, received: dataUri },
  'SEP-2356, early': { needs: 'sep-2356', schema: URI, tool: { inputFiles: { file: {} } }, received: dataUri },
  'SEP-2631': {
    needs: 'sep-2631',
    schema: { ...URI, 'x-mcp-file': { transferModes: ['upload'] } },
    received: (value, uploaded) => uploaded.get(String(value)) ?? Buffer.alloc(0),
  },
  'openai/fileParams': {
    needs: 'openai-file-params',
    schema: OBJECT,
    tool: { _meta: { 'openai/fileParams': ['file'] } },
    received: async (value) => {
      const { download_url: url } = value as { download_url: string };
      return Buffer.from(await (await fetch(url)).arrayBuffer());
    },
  },
};

export interface Taking {
  upstream: RecordingUpstream;
  settings: Json;
  /** The file in the newest call of this target's tool. */
  received(target: string): Promise<Buffer>;
}

/** A server with a tool for each target, named by its place in the list. */
export async function startTaking(): Promise<Taking> {
  const names = Object.keys(TARGETS);
  const uploaded = new Map<string, Buffer>();
  const upstream: RecordingUpstream = await RecordingUpstream.start({
    tools: names.map((target, index) => ({
      name: `take${index}`,
      inputSchema: { type: 'object', properties: { file: TARGETS[target]?.schema, name: TEXT, note: TEXT } },
      ...TARGETS[target]?.tool,
    })),
    methods: {
      'files/authorizeUpload': ({ name, mimeType, size, digest }) => {
        const uri = `store://in/${uploaded.size}`;
        uploaded.set(uri, Buffer.alloc(0));
        const upload = { transport: 'https', method: 'PUT', url: `${upstream.origin}/up/${uploaded.size - 1}` };
        return { file: { uri, name, mimeType, size, digest }, upload };
      },
    },
    http: (request, body) => {
      if (request.method !== 'PUT') return undefined;
      uploaded.set(`store://in/${String(request.url).slice('/up/'.length)}`, body);
      return { status: 200 };
    },
  });
  const settings = Object.fromEntries(
    names.flatMap((name, index) =>
      TARGETS[name]?.settings ? [[`take${index}`, { files: TARGETS[name].settings }]] : [],
    ),
  );
  const received = async (target: string) =>
    (TARGETS[target] as Target).received(upstream.lastArguments.file, uploaded);
  return { upstream, settings, received };
}

/** The entry for programs of the first file in a result. */
export function announced(result: Json | undefined): { uri: string; name: string; [member: string]: unknown } {
  const files = (result?._meta as Json | undefined)?.['dev.wharf/files'] as { uri: string; name: string }[] | undefined;
  const [first] = files ?? [];
  if (!first) throw new Error(`no file is announced in ${JSON.stringify(result).slice(0, 300)}`);
  return first;
}

/** Those that the shipped dialects can serve. */
export function served(kinds: Readonly<Record<string, { needs?: string }>>): string[] {
  const has = (needs: string | undefined) =>
    needs === undefined || adapters.dialects.some(({ name }) => name === needs);
  return Object.keys(kinds).filter((name) => has(kinds[name]?.needs));
}
