import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitationCompleteNotificationSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { PIXEL } from '../../helpers/pixel.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf, type WharfOptions } from '../../helpers/wharf.js';

export const PNG = PIXEL;

const file = { type: 'string' };
const tool = (name: string, properties: Record<string, unknown>, required: string[]) => ({
  name,
  inputSchema: { type: 'object', properties, required },
});
const image = { encoding: 'base64', accept: ['image/png'], maxSize: '1MiB' };

/** A server whose tools need files, and what Wharf is told of them. */
export const TOOLS = [
  tool('take', { file, note: { type: 'string' } }, ['file']),
  tool('both', { front: file, back: file }, ['front', 'back']),
  tool('many', { images: { type: 'array', items: file } }, ['images']),
  tool('few', { images: { type: 'array', items: file, minItems: 2, maxItems: 3 } }, ['images']),
];
export const SETTINGS = {
  take: { files: { file: image } },
  both: { files: { front: image, back: image } },
  many: { files: { 'images[]': image } },
  few: { files: { 'images[]': image } },
};

/** Too large to stay in the result of the tool `shoot`. */
const SHOT = {
  type: 'resource',
  resource: {
    uri: 'shot://1',
    mimeType: 'image/png',
    blob: Buffer.concat([PNG, Buffer.alloc(900_000)]).toString('base64'),
  },
};

/** `server/discover` of a server of 2026-07-28. */
export const discover = () => ({
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  serverInfo: { name: 'recording', version: '1' },
  ttlMs: 0,
  cacheScope: 'private',
});

export function startUpstream(): Promise<RecordingUpstream> {
  return RecordingUpstream.start({
    tools: TOOLS,
    methods: {
      'server/discover': discover,
      'tools/call': ({ name, arguments: given }) => ({
        resultType: 'complete',
        content: [name === 'shoot' ? SHOT : { type: 'text', text: JSON.stringify(given) }],
      }),
    },
  });
}

/** The same over stdio. */
export const STDIO = {
  command: [
    process.execPath,
    'test/helpers/recording-stdio.fixture.mjs',
    JSON.stringify({ type: 'string', contentEncoding: 'base64', contentMediaType: 'image/png' }),
  ],
  tools: { take: SETTINGS.take },
};

export function startGatewayFor(upstream: RecordingUpstream, options: Partial<WharfOptions> = {}): Promise<Wharf> {
  return startWharf({
    servers: { docs: { url: upstream.url, transport: 'streamable-http', tools: SETTINGS } },
    ...options,
  });
}

/** What a client was asked with. */
interface Question {
  mode?: string;
  message: string;
  url?: string;
  elicitationId?: string;
}

type Answer = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string> };

/** An SDK 1.32 client whose person answers as `answer` says. */
export async function connect(
  url: string,
  answer: (question: Question) => Answer | Promise<Answer>,
  capabilities: Record<string, unknown> = { elicitation: { url: {} } },
): Promise<{ client: Client; asked: Question[]; completed: string[] }> {
  const client = new Client({ name: 'asked', version: '1' }, { capabilities });
  const asked: Question[] = [];
  const completed: string[] = [];
  if ('elicitation' in capabilities) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      asked.push(params as Question);
      return answer(params as Question);
    });
    client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
      completed.push(params.elicitationId);
    });
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return { client, asked, completed };
}

export async function upload(url: string | undefined, bytes: Buffer = PNG): Promise<number> {
  const response = await fetch(String(url), { method: 'PUT', body: new Uint8Array(bytes) });
  await response.arrayBuffer();
  return response.status;
}

/** Uploads all in one form, as a page without script and clients of SEP-1306 do. */
export async function uploadAll(
  url: string | undefined,
  files: readonly (readonly [name: string, bytes: Buffer])[],
  headers: Record<string, string> = {},
): Promise<number> {
  const body = new FormData();
  for (const [name, bytes] of files)
    body.append('file', new Blob([new Uint8Array(bytes)], { type: 'image/png' }), name);
  const response = await fetch(String(url), { method: 'POST', body, headers });
  await response.arrayBuffer();
  return response.status;
}

export function textOf(result: unknown): string {
  return String((result as { content?: { text?: unknown }[] }).content?.[0]?.text);
}

/** Waits for what has to come. */
export async function soon<Value>(find: () => Value | undefined, what: string): Promise<Value> {
  for (let tries = 0; tries < 600; tries++) {
    const found = find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what} did not come`);
}
