/** A hostile MCP server over Streamable HTTP: `node bad-http.js [wide]`. What it does is the name of the tool called. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setPriority } from 'node:os';
import { roomToWrite } from '../../helpers/room-to-write.js';
import { tell } from '../messages.js';
import { JSON_ANSWERS, type Outlet, opening, STREAM_ANSWERS } from './bad-answers.js';

const NICE = 10;
const isWide = process.argv[2] === 'wide';
const names = [...Object.keys(JSON_ANSWERS), ...Object.keys(STREAM_ANSWERS), 'silent'];

setPriority(NICE);

function outletTo(response: ServerResponse): Outlet {
  return {
    get isOpen() {
      return !response.destroyed;
    },
    write: async (bytes) => {
      if (!response.destroyed && !response.write(bytes)) await roomToWrite(response);
    },
  };
}

const server = createServer(async (request, response) => {
  response.on('error', () => {});
  const parts: Buffer[] = [];
  try {
    for await (const part of request) parts.push(part as Buffer);
  } catch {
    return;
  }
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const body: unknown = JSON.parse(Buffer.concat(parts).toString());
  const { id, method, params } = (Array.isArray(body) ? body[0] : body) as {
    id?: unknown;
    method?: string;
    params?: { name?: string };
  };
  if (id === undefined) return void response.writeHead(202).end();
  const name = method === 'tools/call' ? (params?.name ?? '') : '';
  if (name === 'silent') return;
  const stream = STREAM_ANSWERS[name];
  response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
  const answer = stream ?? JSON_ANSWERS[name];
  const text = JSON.stringify(id);
  if (answer) await answer(outletTo(response), text);
  else response.write(opening(method, text, names, isWide));
  response.end();
});
server.listen(0, '127.0.0.1', () => {
  tell({ type: 'listening', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` });
});
