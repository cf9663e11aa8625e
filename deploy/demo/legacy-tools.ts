/**
 * Two MCP servers that know files only as base64, for the recipes of docs/tutorials and for docker-compose.yml:
 * `node dist/deploy/demo/legacy-tools.js camera` takes pictures, `… ocr` looks at one in its argument. They speak over
 * stdio; with a port (`… ocr 3002`) over HTTP, on every address.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import { renderPicture } from './picture.js';

interface Message {
  id?: number | string;
  method?: string;
  params?: { protocolVersion?: string; arguments?: { image_base64?: string; filename?: string } };
}

const text = { type: 'string' };
const SERVERS = {
  camera: {
    tool: { name: 'screenshot', description: 'Takes a picture of the screen', inputSchema: { type: 'object' } },
    call: async () => [{ type: 'image', mimeType: 'image/jpeg', data: (await renderPicture()).toString('base64') }],
  },
  ocr: {
    tool: {
      name: 'read_picture',
      description: 'Reads the text in a picture',
      inputSchema: {
        type: 'object',
        properties: { image_base64: { ...text, description: 'Base64 of a picture' }, filename: text },
        required: ['image_base64'],
      },
    },
    call: async ({
      image_base64 = '',
      filename = 'the picture',
    }: NonNullable<NonNullable<Message['params']>['arguments']>) => {
      const bytes = Buffer.from(image_base64, 'base64');
      const digest = createHash('sha256').update(bytes).digest('hex');
      return [{ type: 'text', text: `Read ${filename}: ${bytes.length} bytes, sha256 ${digest}` }];
    },
  },
};

const [, , name, port] = process.argv;
const { tool, call } = SERVERS[name === 'camera' ? 'camera' : 'ocr'];

async function answer({ method, params }: Message): Promise<object> {
  switch (method) {
    case 'initialize': {
      const { protocolVersion } = params ?? {};
      return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: tool.name, version: '1' } };
    }
    case 'tools/list':
      return { tools: [tool] };
    case 'tools/call':
      return { content: await call(params?.arguments ?? {}) };
    default:
      return {};
  }
}

async function respond(message: Message): Promise<string | undefined> {
  if (message.id === undefined) return undefined;
  return JSON.stringify({ jsonrpc: '2.0', id: message.id, result: await answer(message) });
}

async function overStdio(): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const response = await respond(JSON.parse(line) as Message);
    if (response !== undefined) process.stdout.write(`${response}\n`);
  }
}

/** Streamable HTTP without sessions and without streams: every POST is answered by itself. */
function overHttp(): void {
  const read = async (request: IncomingMessage) => respond((await json(request)) as Message);
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
    read(request).then(
      (text) => response.writeHead(text === undefined ? 202 : 200, { 'content-type': 'application/json' }).end(text),
      () => response.writeHead(400).end(),
    );
  });
  server.listen(Number(port));
  process.once('SIGTERM', () => {
    server.close();
    server.closeAllConnections();
  });
}

if (port === undefined) await overStdio();
else overHttp();
