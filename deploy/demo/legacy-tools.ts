/**
 * Two MCP servers that know files only as base64, for the recipes of docs/tutorials:
 * `node dist/deploy/demo/legacy-tools.js camera` takes pictures, `… ocr` looks at one in its argument.
 */
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
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

const { tool, call } = SERVERS[process.argv[2] === 'camera' ? 'camera' : 'ocr'];

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

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as Message;
  if (message.id === undefined) continue;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: await answer(message) })}\n`);
}
