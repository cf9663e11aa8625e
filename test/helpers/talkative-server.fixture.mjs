// An MCP server on stdio whose tools do on the channel what their names say.
import { createInterface } from 'node:readline';

const say = (message) => process.stdout.write(`${JSON.stringify({ ...message, jsonrpc: '2.0' })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const waiting = new Map();
const cancelled = [];
let cameBack = 'nothing';

const tools = {
  wait: ({ ms, say: what }) => new Promise((resolve) => setTimeout(() => resolve(text(what)), ms)),
  pid: () => text(process.pid),
  die: () => process.exit(3),
  noise: () => {
    process.stdout.write('Listening on stdio!\n\n');
    return text('after the noise');
  },
  notify: () => {
    say({ method: 'notifications/resources/list_changed' });
    return text('told');
  },
  'change-later': () => {
    setTimeout(() => {
      for (const list of ['tools', 'prompts', 'tools', 'resources'])
        say({ method: `notifications/${list}/list_changed` });
      say({ method: 'notifications/message', params: { level: 'info', data: 'changed' } });
    }, 100);
    return text('will change');
  },
  progress: (_args, meta) => {
    for (const progress of [1, 2])
      say({ method: 'notifications/progress', params: { progressToken: meta.progressToken, progress } });
    return text('done');
  },
  ask: () => {
    say({ id: 0, method: 'roots/list' });
    return new Promise((resolve) => waiting.set(0, (answer) => resolve(text(JSON.stringify(answer.result)))));
  },
  'ask-later': () => {
    waiting.set('later', (answer) => {
      cameBack = JSON.stringify(answer.error);
    });
    setTimeout(() => say({ id: 'later', method: 'roots/list' }), 100);
    return text('will ask');
  },
  'ask-often-later': ({ times }) => {
    setTimeout(() => process.stdout.write('{"jsonrpc":"2.0","id":"often","method":"roots/list"}\n'.repeat(times)), 100);
    return text('will ask');
  },
  'what-came-back': () => text(cameBack),
  cancelled: () => text(cancelled.length),
  // what a server may write that logs the request it got, or a progress of it
  'log-request': (_args, _meta, id) => {
    say({ id, note: 'got it' });
    process.stdout.write(`${JSON.stringify({ id, level: 30, msg: 'got it' })}\n`);
    return text('after the log');
  },
  'text-id': (_args, _meta, id) => {
    say({ result: text('by its text'), id: String(id) });
  },
  'number-id': (_args, _meta, id) => {
    say({ result: text('by its number'), id: Number(id) });
  },
  broken: (_args, _meta, id) => {
    process.stdout.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[NaN]}}\n`);
  },
};

async function handle(message) {
  const { id, method, params } = message;
  if (method === undefined) return waiting.get(id)?.(message);
  if (method === 'notifications/cancelled') return cancelled.push(params.requestId);
  if (id === undefined) return;
  if (method === 'initialize') {
    const { protocolVersion } = params;
    say({
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'talkative', version: '1' } },
      id,
    });
  } else if (method === 'ping') say({ result: {}, id });
  else if (method === 'tools/call') {
    const result = await tools[params.name](params.arguments, params._meta, id);
    if (result) say({ result, id });
  } else say({ error: { code: -32601, message: 'Method not found' }, id });
}

for await (const line of createInterface({ input: process.stdin }))
  for (const message of [JSON.parse(line)].flat()) void handle(message);
