// An MCP server on stdio that speaks before it answers `initialize`: its arguments say what, in their order.
import { createInterface } from 'node:readline';

const line = (text) => process.stdout.write(`${text}\n`);
const say = (message) => line(JSON.stringify({ jsonrpc: '2.0', ...message }));
const steps = process.argv.slice(2);
const answers = [];
const waiting = new Map();
const answerTo = (id) => new Promise((resolve) => waiting.set(id, resolve));

/** What the server writes, by the word for it; one that waits for its client gives a promise. */
const does = {
  log: () => say({ method: 'notifications/message', params: { level: 'info', data: 'starting' } }),
  ping: () => say({ id: 'early-ping', method: 'ping' }),
  'ping-wait': () => {
    say({ id: 'early-ping', method: 'ping' });
    return answerTo('early-ping');
  },
  roots: () => say({ id: 'early-roots', method: 'roots/list' }),
  'roots-wait': () => {
    say({ id: 'early-roots', method: 'roots/list' });
    return answerTo('early-roots');
  },
  unknown: () => say({ id: 12345, result: { not: 'asked for' } }),
  pino: () => line('{"level":30,"time":1731900000000,"pid":1,"hostname":"h","msg":"listening"}'),
  winston: () => line('{"level":"info","message":"listening","id":0,"method":"GET"}'),
  plain: () => line('Server running on stdio'),
  broken: () => line('{broken'),
  array: () => line('[1,2,3]'),
  number: () => line('42'),
  blank: () => line(''),
  half: () => line('{"jsonrpc":"2.0","method":"notifications/message","params":{'),
  echo: ({ id }) => line(JSON.stringify({ jsonrpc: '2.0', id, note: 'got it' })),
  many: () => {
    for (let index = 0; index < 500; index++) does.log();
  },
};

async function handle(message) {
  const { id, method, params } = message;
  if (method === undefined) {
    answers.push(message);
    return waiting.get(id)?.(message);
  }
  if (method === 'initialize') {
    for (const step of steps) await does[step]?.(message);
    if (steps.includes('never')) return;
    if (steps.includes('error')) return say({ id, error: { code: -32602, message: 'no such version' } });
    const { protocolVersion } = params;
    const capabilities = { tools: {}, logging: {} };
    return say({ result: { protocolVersion, capabilities, serverInfo: { name: 'early', version: '1' } }, id });
  }
  if (id === undefined) return;
  if (method === 'tools/list')
    return say({ id, result: { tools: [{ name: 'heard', inputSchema: { type: 'object' } }] } });
  // what the client, or Wharf, has answered so far
  if (method === 'tools/call')
    return say({ id, result: { content: [{ type: 'text', text: JSON.stringify(answers) }] } });
  if (method === 'ping') return say({ id, result: {} });
  say({ id, error: { code: -32601, message: 'Method not found' } });
}

if (steps[0] === 'at-start') does.log();
for await (const text of createInterface({ input: process.stdin })) void handle(JSON.parse(text));
