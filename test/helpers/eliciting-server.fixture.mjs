// A raw MCP server that asks for files by itself, while it works on a call: `node … QUESTION [http|stdio|get] [STATUSES] [PORT]`.
// With `get` it asks on the session's GET stream, over http, and repeats what follows a Last-Event-ID.
// In QUESTION `$ORIGIN` is the origin of its own address, at which it takes uploads. Over http it prints that origin first.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const [question, transport = 'http', statuses = '200', port = '0'] = process.argv.slice(2);
const uploads = [];
const progress = [];
const codes = statuses.split(',').map(Number);
const ASKING = new Set(['tools/call', 'tasks/result', 'prompts/get', 'resources/read', 'completion/complete']);
const waiting = new Map();
let capabilities;
let nextId = 0;
/** What was said on GET streams: the place of an event is its id. */
const said = [];
const listeners = new Set();
const frame = (id) => `id: ${id}\ndata: ${JSON.stringify(said[id])}\n\n`;
const sayOnGet = (message) => {
  said.push(message);
  for (const listener of listeners) listener.write(frame(said.length - 1));
};

const bodyOf = async (request) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
};

/** @param say sends a message to the client on the call's own stream */
async function answer({ id, method, params, result, error }, say) {
  if (method === undefined) {
    const done = waiting.get(id);
    waiting.delete(id);
    done?.({ result, error });
    return;
  }
  if (method === 'notifications/progress') progress.push(params);
  if (id === undefined) return;
  const reply = (value) => say({ jsonrpc: '2.0', id, result: value });
  if (method === 'initialize') {
    ({ capabilities } = params);
    return reply({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {}, resources: {}, prompts: {} },
      serverInfo: { name: 'eliciting', version: '1' },
    });
  }
  if (method === 'tools/list') return reply({ tools: [{ name: 'ask', inputSchema: { type: 'object' } }] });
  if (method === 'files/authorizeUpload') {
    const { name, mimeType, size, digest } = params;
    const uri = `mcp-file://eliciting/${uploads.length + 1}`;
    const upload = { transport: 'http', method: 'PUT', url: `${origin}/take/42?a=b%2Fc` };
    return reply({ file: { uri, name, mimeType, size, digest }, upload });
  }
  if (!ASKING.has(method)) return reply({});
  const own = `ask-${++nextId}`;
  const heard = new Promise((resolve) => waiting.set(own, resolve));
  const ask = transport === 'get' ? sayOnGet : say;
  ask({
    jsonrpc: '2.0',
    id: own,
    method: 'elicitation/create',
    params: JSON.parse(question.replaceAll('$ORIGIN', origin)),
  });
  const came = await heard;
  const seen = uploads.map(({ body, ...about }) => ({ ...about, body: body.toString('base64') }));
  const told = { came, uploads: seen, progress, elicitation: capabilities.elicitation };
  reply({
    content: [{ type: 'text', text: JSON.stringify(told) }],
  });
}

const server = createServer(async (request, response) => {
  const body = await bodyOf(request);
  if (request.url === '/mcp') {
    if (request.method === 'GET' && transport === 'get') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': here\n\n');
      const { 'last-event-id': last } = request.headers;
      if (last !== undefined) for (let id = Number(last) + 1; id < said.length; id++) response.write(frame(id));
      listeners.add(response);
      response.on('close', () => listeners.delete(response));
      return;
    }
    if (request.method !== 'POST') return response.writeHead(405).end();
    const message = JSON.parse(body.toString());
    if (message.id === undefined || message.method === undefined) {
      await answer(message);
      return response.writeHead(202).end();
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    await answer(message, (said) => response.write(`data: ${JSON.stringify(said)}\n\n`));
    return response.end();
  }
  const { method, url, headers } = request;
  const code = codes[Math.min(uploads.length, codes.length - 1)];
  uploads.push({ method, url, authorization: headers.authorization, type: headers['content-type'], body });
  // 0 stands for a server that never answers
  if (code === 0) return;
  response.writeHead(code, code < 400 && code >= 300 ? { location: '/elsewhere' } : {}).end();
});
await new Promise((resolve) => server.listen(Number(port), '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
if (transport !== 'stdio') process.stdout.write(`${origin}\n`);
else
  createInterface({ input: process.stdin })
    .on('line', (line) => void answer(JSON.parse(line), (said) => process.stdout.write(`${JSON.stringify(said)}\n`)))
    .on('close', () => process.exit(0));
