// A server of MCP 2026-07-28 whose only tool runs as a task (SEP-2663) and wants this input meanwhile:
// `node … QUESTIONS [http|stdio]`. In QUESTIONS, the task's `inputRequests`, `$ORIGIN` is the origin of its own address, at
// which it takes uploads, and `$LONG` is a long text. Over http it prints that origin first. The result of the task tells what it was sent.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const [questions, transport = 'http'] = process.argv.slice(2);
const TASKS = 'io.modelcontextprotocol/tasks';
const tasks = new Map();
const uploads = [];
/** The streams of subscriptions, by the ids of their requests. */
const listeners = new Map();

/** What is known of a task now, as `tasks/get` and notifications tell it. */
function detailed({ taskId, requests, heard, isCancelled, updates }) {
  const about = {
    taskId,
    createdAt: '2026-07-28T10:30:00Z',
    lastUpdatedAt: '2026-07-28T10:30:00Z',
    ttlMs: 3_600_000,
    pollIntervalMs: 50,
    'com.example/weight': 1,
  };
  if (isCancelled) return { ...about, status: 'cancelled' };
  const outstanding = Object.entries(requests).filter(([key]) => !(key in heard));
  if (outstanding.length > 0)
    return { ...about, status: 'input_required', inputRequests: Object.fromEntries(outstanding) };
  const told = { heard, updates, uploads };
  return { ...about, status: 'completed', result: { content: [{ type: 'text', text: JSON.stringify(told) }] } };
}

function tell(task) {
  for (const [id, say] of listeners) {
    const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
    say({ jsonrpc: '2.0', method: 'notifications/tasks', params: { ...detailed(task), _meta } });
  }
}

function resultOf({ id, method, params }, say) {
  switch (method) {
    case 'server/discover':
      return {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {}, extensions: { [TASKS]: {} } },
        ttlMs: 0,
        cacheScope: 'private',
      };
    case 'tools/list':
      return {
        resultType: 'complete',
        tools: [{ name: 'ask', inputSchema: { type: 'object' } }],
        ttlMs: 0,
        cacheScope: 'private',
      };
    case 'tools/call': {
      const requests = JSON.parse(questions.replaceAll('$ORIGIN', origin).replaceAll('$LONG', 'x'.repeat(300_000)));
      const task = {
        taskId: randomUUID(),
        requests,
        heard: {},
        updates: 0,
      };
      tasks.set(task.taskId, task);
      const { inputRequests: _, ...seed } = detailed(task);
      return { resultType: 'task', ...seed, status: 'working' };
    }
    case 'tasks/get':
    case 'tasks/update':
    case 'tasks/cancel': {
      const task = tasks.get(params.taskId);
      if (!task) return undefined;
      if (method === 'tasks/get') return { resultType: 'complete', ...detailed(task) };
      if (method === 'tasks/cancel') task.isCancelled = true;
      else {
        task.updates += 1;
        for (const [key, response] of Object.entries(params.inputResponses))
          if (key in task.requests && !(key in task.heard)) task.heard[key] = response;
      }
      tell(task);
      return { resultType: 'complete' };
    }
    case 'files/authorizeUpload': {
      const { name, mimeType, size, digest } = params;
      const upload = { transport: 'http', method: 'PUT', url: `${origin}/take/42?a=b%2Fc` };
      return { resultType: 'complete', file: { uri: 'mcp-file://tasks/1', name, mimeType, size, digest }, upload };
    }
    case 'subscriptions/listen': {
      listeners.set(id, say);
      const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
      const { notifications } = params;
      say({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { notifications, _meta } });
      for (const taskId of notifications.taskIds ?? []) if (tasks.has(taskId)) tell(tasks.get(taskId));
      return 'later';
    }
    default:
      return { resultType: 'complete' };
  }
}

/** @returns whether the answer is complete */
function answer(message, say) {
  const { id } = message;
  if (id === undefined) return true;
  const result = resultOf(message, say);
  if (result === 'later') return false;
  const failed = { error: { code: -32602, message: 'Failed to retrieve task: Task not found' } };
  say({ jsonrpc: '2.0', id, ...(result ? { result } : failed) });
  return true;
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const server = createServer(async (request, response) => {
  const body = await bodyOf(request);
  const { method, url, headers } = request;
  if (url !== '/mcp') {
    uploads.push({ method, url, authorization: headers.authorization, body: body.toString('base64') });
    return response.writeHead(200).end();
  }
  if (method !== 'POST') return response.writeHead(405).end();
  const message = JSON.parse(body.toString());
  if (message.method !== 'subscriptions/listen') {
    let said;
    answer(message, (one) => {
      said = one;
    });
    if (!said) return response.writeHead(202).end();
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said));
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  response.on('close', () => listeners.delete(message.id));
  return void answer(message, (one) => response.write(`data: ${JSON.stringify(one)}\n\n`));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
if (transport !== 'stdio') process.stdout.write(`${origin}\n`);
else
  createInterface({ input: process.stdin })
    .on('line', (line) => answer(JSON.parse(line), (said) => process.stdout.write(`${JSON.stringify(said)}\n`)))
    .on('close', () => process.exit(0));
