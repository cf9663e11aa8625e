/**
 * A stdio server that lists its tools one a page: `node dist/test/helpers/listing-server.js MODE [FILE]`. Into
 * the file it writes its process id.
 * - `pages`: two pages; it asks its client for a ping and for roots before the first
 * - `loop`: pages without end
 * - `refuse`: an error to everything
 * - `die`: it ends when it is asked for its tools
 * - `silent`: it answers nothing
 */
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

interface Message {
  id?: number | string;
  method?: string;
  params?: { cursor?: string };
  result?: unknown;
  error?: { code: number };
}

const [, , mode, pidFile] = process.argv;
if (pidFile !== undefined) writeFileSync(pidFile, String(process.pid));
const TOOLS = [
  { name: 'ocr', inputSchema: { type: 'object', properties: { image_base64: { type: 'string', format: 'byte' } } } },
  { name: 'crop', inputSchema: { type: 'object', properties: { photo: { type: 'string', 'x-mcp-file': {} } } } },
];
let waiting: Message | undefined;
/** Answers of the client: it lives, and it has no roots. */
const heard: string[] = [];

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function list({ id, params }: Message): void {
  const page = Number(params?.cursor ?? 0);
  const nextCursor = mode === 'loop' ? '1' : page === 0 ? '1' : undefined;
  send({ id, result: { tools: [TOOLS[page]], nextCursor } });
}

function initialize({ id }: Message): void {
  const serverInfo = { name: 'listing', version: '1' };
  send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } });
}

/** Nothing is listed before the client has answered as it should. */
function listWhenHeard(message: Message): void {
  if (mode === 'die') process.exit(3);
  if (heard.length > 0) list(message);
  else {
    waiting = message;
    send({ id: 'a', method: 'ping' });
    send({ id: 'b', method: 'roots/list' });
  }
}

function hear({ result, error }: Message): void {
  heard.push(result === undefined ? String(error?.code) : 'result');
  if (heard.length < 2 || !waiting) return;
  if (heard.join() !== 'result,-32601') process.exit(4);
  list(waiting);
}

function answer(message: Message): void {
  const { id, method } = message;
  if (method === undefined) hear(message);
  else if (mode === 'refuse' && id !== undefined)
    send({ id, error: { code: -32000, message: `not today, ${method}` } });
  else if (method === 'initialize') initialize(message);
  else if (method === 'tools/list') listWhenHeard(message);
}

createInterface({ input: process.stdin }).on('line', (line) => {
  if (mode !== 'silent') answer(JSON.parse(line) as Message);
});
