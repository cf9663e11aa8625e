// A stdio server whose only tool takes the path of a file, and runs as a task where its caller asks for one. A task's result
// is what its file holds then; `tasks/get` tells the path of the newest file, and that a task is over whose file says so.
// A call whose file says `late` is answered when its server is asked for its tasks, and the task's result has a sound beside the
// text. Of a task whose file says `told`, the server says by itself that it is over; of one whose file says `soon`, before it
// answers the call; of one whose file says `once`, in that answer and nowhere else.
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const paths = [];
const late = [];
const task = (taskId) => ({ taskId, status: 'working', createdAt: '2026-01-01T00:00:00Z', ttl: 60_000 });
const sound = { type: 'audio', mimeType: 'audio/wav', data: Buffer.alloc(60_000, 'sound').toString('base64') };
const text = (said) => ({ content: [{ type: 'text', text: said }] });
const read = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : 'it is gone');
const pathOf = (taskId) => paths[Number(taskId.slice('task-'.length)) - 1];
const statusOf = (taskId) => (read(pathOf(taskId)) === 'over' ? 'completed' : 'working');

function resultOf({ method, params }) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
        serverInfo: { name: 'task', version: '1' },
      };
    case 'tools/list':
      return { tools: [{ name: 'read', inputSchema: { type: 'object', properties: { file: { type: 'string' } } } }] };
    case 'tools/call':
      paths.push(params.arguments.file);
      return params.task ? { task: task(`task-${paths.length}`) } : text(params.arguments.file);
    case 'tasks/get':
      return { ...task(params.taskId), status: statusOf(params.taskId), statusMessage: paths.at(-1) };
    case 'tasks/list':
      for (const message of late.splice(0)) answer(message);
      return { tasks: [] };
    case 'tasks/result': {
      const said = text(read(pathOf(params.taskId)));
      return said.content[0].text === 'late' ? { content: [...said.content, sound] } : said;
    }
    default:
      return {};
  }
}

const isLate = ({ method, params }) => method === 'tools/call' && read(params.arguments.file) === 'late';
const answer = (said) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...said })}\n`);

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line);
    if (message.id === undefined) return;
    const isHeld = isLate(message);
    const answered = { id: message.id, result: resultOf(message) };
    const { task: begun } = answered.result;
    const said = begun && read(pathOf(begun.taskId));
    if (said === 'once') begun.status = 'completed';
    const tell = () => answer({ method: 'notifications/tasks/status', params: { ...begun, status: 'completed' } });
    if (said === 'soon') tell();
    if (isHeld) late.push(answered);
    else answer(answered);
    if (said === 'told') tell();
  })
  .on('close', () => process.exit(0));
