import type { IncomingMessage } from 'node:http';
import { sha256Url } from '../helpers/bytes.js';
import { RecordingUpstream, RpcError } from '../helpers/recording-upstream.js';
import { AskingServer } from './asking-server.js';
import type { Sample } from './clients.js';

type Json = Record<string, unknown>;

/** A running server of some kind, and what it was given or gives. */
export interface RunningServer {
  upstream: { readonly url: string; stop(): Promise<void> };
  /** `servers.X.tools` */
  tools?: Json;
  /** The bytes of the file in the newest call, however the server was given it. */
  received(): Promise<Buffer>;
}

export interface ServerKind {
  readonly name: string;
  /** The dialect without which it cannot be fronted. */
  readonly needs?: string;
  /** It asks for the file by elicitation, so that nothing is given with the call. */
  readonly asks?: true;
  start(file: Sample): Promise<RunningServer>;
}

const URI_STRING = { type: 'string', format: 'uri' };
const takes = (schema: Json, more: Json = {}): Json => ({
  name: 'take',
  inputSchema: { type: 'object', properties: { file: schema } },
  ...more,
});

/** A server that is given the file inside the call. */
function inline(
  name: string,
  tool: Json,
  read: (value: unknown) => Buffer | Promise<Buffer>,
  tools?: Json,
): ServerKind {
  return {
    name,
    async start() {
      const upstream = await RecordingUpstream.start({ tools: [tool] });
      const received = async () => read(upstream.lastArguments.file);
      return { upstream, received, ...(tools && { tools }) };
    },
  };
}

const fromDataUri = (value: unknown) => {
  const text = String(value);
  if (!/^data:[^,]*;base64,/.test(text)) throw new Error('no data: URI with base64');
  return Buffer.from(text.slice(text.indexOf(',') + 1), 'base64');
};

/** One upload to a server of its own dialect, and what became of it. */
interface Slot {
  bytes?: Buffer;
}

/** A server that takes its files by SEP-2631 or its earlier form: inside the call, or uploaded to it before. */
function uploading(name: string, method: string, member: 'upload' | 'transfer', modes: string[]): ServerKind {
  return {
    name,
    needs: 'sep-2631',
    async start() {
      const slots = new Map<string, Slot>();
      const upstream: RecordingUpstream = await RecordingUpstream.start({
        tools: [takes({ ...URI_STRING, 'x-mcp-file': { transferModes: modes } })],
        methods: {
          [method]: ({ digest, ...params }) => {
            const id = `s${slots.size}`;
            slots.set(id, {});
            const descriptor = { transport: 'https', method: 'PUT', url: `${upstream.origin}/up/${id}` };
            const file = { uri: `store://private/${id}`, ...params, ...(method.includes('authorize') && { digest }) };
            return { file, [member]: descriptor };
          },
        },
        http: (request: IncomingMessage, body: Buffer) => {
          const slot = slots.get(String(request.url).replace('/up/', ''));
          if (!slot || request.method !== 'PUT') return undefined;
          slot.bytes = body;
          return { status: 200 };
        },
      });
      const received = async () => {
        const value = String(upstream.lastArguments.file);
        if (value.startsWith('data:')) return fromDataUri(value);
        const bytes = slots.get(value.replace('store://private/', ''))?.bytes;
        if (!bytes) throw new Error(`the server was given ${value.slice(0, 40)}`);
        return bytes;
      };
      return { upstream, received };
    },
  };
}

const OPENAI_OBJECT = {
  type: 'object',
  properties: {
    download_url: { type: 'string' },
    file_id: { type: 'string' },
    mime_type: { type: 'string' },
    file_name: { type: 'string' },
  },
  required: ['download_url', 'file_id'],
};

/** An OpenAI host's own files are passed through, so the server asks that host. */
async function fromDownloadUrl(value: unknown, given: Sample): Promise<Buffer> {
  const url = String((value as Json | undefined)?.download_url);
  if (url.startsWith('https://files.example.com/')) return given.bytes;
  return Buffer.from(await (await fetch(url)).arrayBuffer());
}

export const TAKING: readonly ServerKind[] = [
  inline('legacy base64', takes({ type: 'string' }), (value) => Buffer.from(String(value), 'base64'), {
    take: { files: { file: { encoding: 'base64' } } },
  }),
  { ...inline('SEP-2356', takes({ ...URI_STRING, 'x-mcp-file': {} }), fromDataUri), needs: 'sep-2356' },
  { ...inline('SEP-2356, early', takes(URI_STRING, { inputFiles: { file: {} } }), fromDataUri), needs: 'sep-2356' },
  uploading('SEP-2631', 'files/authorizeUpload', 'upload', ['inline', 'upload']),
  uploading('SEP-2631, early', 'files/prepareUpload', 'transfer', ['inline', 'upload']),
  {
    name: 'OpenAI',
    needs: 'openai-file-params',
    async start(file) {
      const upstream = await RecordingUpstream.start({
        tools: [takes(OPENAI_OBJECT, { _meta: { 'openai/fileParams': ['file'] } })],
      });
      return { upstream, received: () => fromDownloadUrl(upstream.lastArguments.file, file) };
    },
  },
  {
    name: 'SEP-1306',
    needs: 'sep-1306',
    asks: true,
    async start() {
      const upstream = await AskingServer.start();
      return { upstream, received: async () => upstream.file };
    },
  },
];

/** A server whose tool `give` answers with these blocks. */
function giving(
  name: string,
  result: (file: Sample, origin: string) => Json,
  methods: (file: Sample, origin: () => string) => Json = () => ({}),
): ServerKind {
  return {
    name,
    async start(file) {
      const upstream: RecordingUpstream = await RecordingUpstream.start({
        tools: [{ name: 'give', inputSchema: { type: 'object' } }],
        methods: {
          'tools/call': () => result(file, upstream.origin),
          ...(methods(file, () => upstream.origin) as Record<string, never>),
        },
        http: (request) => (request.url === '/down' ? { status: 200, body: file.bytes } : undefined),
      });
      return { upstream, received: async () => file.bytes };
    },
  };
}

/** One that only names the file, and gives it by SEP-2631. */
function fromItsStore(...args: Parameters<typeof giving>): ServerKind {
  return { ...giving(...args), needs: 'sep-2631' };
}

const text = (file: Sample) => file.bytes.toString('base64');
const fileValue = (file: Sample, digest: boolean): Json => ({
  uri: 'mcp-file://store.example/out',
  name: file.name,
  mimeType: file.mimeType,
  size: file.bytes.length,
  ...(digest && { digest: { algorithm: 'sha-256', value: sha256Url(file.bytes) } }),
});

function downloads(method: string, bare: boolean) {
  return (file: Sample, origin: () => string): Json => ({
    [method]: ({ uri }: Json) => {
      if (uri !== 'mcp-file://store.example/out') throw new RpcError(-32602, 'unknown file');
      const download = { transport: 'https', method: 'GET', url: `${origin()}/down` };
      return bare ? download : { file: fileValue(file, true), download };
    },
  });
}

export const GIVING: readonly ServerKind[] = [
  giving('large image', (file) => ({ content: [{ type: 'image', data: text(file), mimeType: file.mimeType }] })),
  giving('large blob', (file) => ({
    content: [{ type: 'resource', resource: { uri: 'doc://a/out.bin', mimeType: file.mimeType, blob: text(file) } }],
  })),
  fromItsStore(
    'SEP-2631 FileValue',
    (file) => ({ content: [{ type: 'text', text: 'made' }], structuredContent: { file: fileValue(file, true) } }),
    downloads('files/authorizeDownload', false),
  ),
  fromItsStore(
    'SEP-2631 FileValue, early',
    (file) => ({ content: [{ type: 'text', text: 'made' }], structuredContent: { file: fileValue(file, false) } }),
    downloads('files/getDownload', true),
  ),
];
