/**
 * A stdio server whose tools are honest, odd and hostile: `node dist/test/helpers/odd-tools.js`. It answers every call
 * but that of `never`.
 */
import { createInterface } from 'node:readline';
import sharp from 'sharp';
import { sha256 } from './bytes.js';

interface Message {
  id?: number | string;
  method?: string;
  params?: { name?: string; arguments?: Record<string, unknown>; protocolVersion?: string };
}

type Answer = Record<string, unknown>;

/** Markup, and a mark that turns around the text behind it. */
const SCRIPT =
  '<script>document.title = "taken"</script><img src=x onerror="document.title = \'taken\'">tide\u202egpj.exe';

/** A picture of noise: it is as large as its pixels are many. */
async function noise(edge: number): Promise<string> {
  const channels = 3;
  const bytes = Buffer.alloc(edge * edge * channels);
  let seed = 1;
  for (let at = 0; at < bytes.length; at++) {
    seed = (seed * 48271) % 2147483647;
    bytes[at] = seed & 0xff;
  }
  const png = await sharp(bytes, { raw: { width: edge, height: edge, channels } })
    .png()
    .toBuffer();
  return png.toString('base64');
}

const object = (properties: object, required: string[] = []) => ({ type: 'object', properties, required });
const reads = { annotations: { readOnlyHint: true } };

const many = Object.fromEntries(
  Array.from({ length: 1000 }, (_, index) => [`option_${index}`, { type: 'string', default: SCRIPT }]),
);

const TOOLS = [
  {
    name: 'survey',
    title: 'Survey a harbour',
    description: 'Measures a harbour,\nand says what it was given.',
    inputSchema: object(
      {
        name: { type: 'string', description: 'What the harbour is called.' },
        depth: { type: 'number', minimum: 0 },
        berths: { type: 'integer', default: 12 },
        unit: { enum: ['m', 'ft'], default: 'm' },
        isOpen: { type: 'boolean', title: 'Open at night' },
        moles: { type: 'array', items: { type: 'string' } },
        pilot: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      },
      ['name', 'depth'],
    ),
    outputSchema: { type: 'object' },
    ...reads,
  },
  { name: 'picture', description: 'Two pictures, a large one and a small one.', inputSchema: object({}), ...reads },
  {
    name: 'weigh',
    description: 'Says how large a file is.',
    inputSchema: object({ image_base64: { type: 'string' }, note: { type: 'string' } }, ['image_base64']),
    ...reads,
  },
  {
    name: 'bind',
    description: 'Binds pages into a book, and says what it was given.',
    inputSchema: object(
      {
        title: { type: 'string' },
        pages: {
          type: 'array',
          description: 'Its pages, in order.',
          items: object({ scan: { type: 'string', description: 'The page.' }, caption: { type: 'string' } }, ['scan']),
        },
      },
      ['pages'],
    ),
    ...reads,
  },
  { name: 'sink', inputSchema: object({}), annotations: { destructiveHint: true } },
  { name: 'silent_about_it', inputSchema: object({}) },
  { name: 'fail', inputSchema: object({}), ...reads },
  { name: 'ask', inputSchema: object({}), ...reads },
  { name: 'refuse', inputSchema: object({}), ...reads },
  { name: 'never', inputSchema: object({}), ...reads },
  { name: 'evil', title: SCRIPT, description: SCRIPT, inputSchema: object({ [SCRIPT]: { title: SCRIPT } }), ...reads },
  { name: 'thousand', inputSchema: object(many, ['option_999']), ...reads },
  {
    name: 'recursive',
    inputSchema: {
      ...object({ tree: { $ref: '#/$defs/node' }, self: { $ref: '#/properties/self' } }, ['tree']),
      $defs: { node: object({ left: { $ref: '#/$defs/node' }, right: { $ref: '#/$defs/node' } }) },
    },
    ...reads,
  },
  { name: 'huge', inputSchema: object({}), ...reads },
  { name: 'enormous', inputSchema: object({}), ...reads },
  { name: 'nested', inputSchema: object({}), ...reads },
];

/** Values within values, each deeper than a page can be wide. */
function deep(levels: number): unknown {
  let value: unknown = Array.from({ length: 20_000 }, () => 0);
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

async function resultOf(name: string, args: Record<string, unknown>): Promise<Answer> {
  const text = (said: string) => ({ type: 'text', text: said });
  switch (name) {
    case 'survey':
      return { content: [text(JSON.stringify(args))], structuredContent: { given: args } };
    case 'picture':
      return {
        content: [
          { type: 'image', mimeType: 'image/png', data: await noise(600) },
          { type: 'image', mimeType: 'image/png', data: await noise(16) },
        ],
      };
    case 'weigh': {
      const bytes = Buffer.from(String(args.image_base64), 'base64');
      const digest = sha256(bytes);
      return { content: [text(`${bytes.length} bytes, ${digest}, ${String(args.note)}`)] };
    }
    case 'bind': {
      const pages = Array.isArray(args.pages) ? (args.pages as Record<string, unknown>[]) : [];
      const said = pages.map(({ scan, caption }) => `${Buffer.from(String(scan), 'base64')} (${String(caption)})`);
      return { content: [text(`${pages.length} pages: ${said.join(', ')}`)] };
    }
    case 'ask':
      return { resultType: 'input_required', inputRequests: {}, content: [] };
    case 'fail':
      return { content: [text('The tide is out.')], isError: true };
    case 'evil':
      return {
        content: [
          text(SCRIPT),
          { type: 'image', mimeType: 'image/svg+xml', data: Buffer.from(`<svg>${SCRIPT}</svg>`).toString('base64') },
          { type: 'image', mimeType: 'image/png', data: `" onerror="document.title = 'taken'` },
          { type: 'resource_link', name: SCRIPT, uri: 'javascript:document.title="taken"' },
          { type: SCRIPT, of: SCRIPT },
          null,
        ],
        structuredContent: { [SCRIPT]: SCRIPT },
        _meta: { 'dev.wharf/files': [{ name: 'a file', url: 'javascript:document.title="taken"' }] },
      };
    case 'huge':
      return { content: Array.from({ length: 1000 }, (_, index) => text(`block ${index} ${'x'.repeat(2500)}`)) };
    case 'enormous':
      return { content: [text('x'.repeat(6_000_000))] };
    case 'nested':
      return { content: [], structuredContent: { deep: deep(40) } };
    default:
      return { content: [text(`${name} is done.`)] };
  }
}

const send = (message: Answer) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

async function answer({ id, method, params }: Message): Promise<void> {
  const serverInfo = { name: 'odd', version: '1' };
  const protocolVersion = params?.protocolVersion;
  if (method === 'initialize') send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
  else if (method === 'tools/list') send({ id, result: { tools: TOOLS } });
  else if (params?.name === 'refuse') send({ id, error: { code: -32001, message: `no ${SCRIPT}` } });
  else if (params?.name !== 'never') send({ id, result: await resultOf(params?.name ?? '', params?.arguments ?? {}) });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as Message;
  if (message.id !== undefined && message.method !== undefined) void answer(message);
});
