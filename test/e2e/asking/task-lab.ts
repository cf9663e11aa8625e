import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { RawClient, type RawMessage } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf, type WharfOptions } from '../../helpers/wharf.js';
import { MODERN, TOKEN } from './input-lab.js';
import { textOf } from './lab.js';

type Json = Record<string, unknown>;

const FIXTURE = 'test/helpers/asking-task-server.fixture.mjs';
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** A task as its client is told of it. */
export interface TaskSeen {
  taskId: string;
  status: string;
  statusMessage?: string;
  inputRequests?: Record<string, { method: string; params: Json }>;
  result?: Json;
}

/** What the server of a task was sent. */
interface Told {
  heard: Record<string, { action: string; content?: Json }>;
  updates: number;
  uploads: { method: string; url: string; authorization?: string; body: string }[];
}

/** A server whose tool runs as a task that wants this input, and Wharf in front of it. */
export class TaskLab {
  readonly wharf: Wharf;
  readonly #docs: Json & { url?: string };
  readonly #server: ChildProcess | undefined;

  private constructor(wharf: Wharf, docs: Json, server: ChildProcess | undefined) {
    this.wharf = wharf;
    this.#docs = docs;
    this.#server = server;
  }

  /** @param options `server`: more of `servers.docs` */
  static async start(
    questions: Json,
    options: Partial<WharfOptions> & { over?: string; server?: Json } = {},
  ): Promise<TaskLab> {
    const { over = 'http', server: more = {}, ...rest } = options;
    const args = [FIXTURE, JSON.stringify(questions), over];
    if (over === 'stdio') {
      const docs = { command: [process.execPath, ...args], ...more };
      return new TaskLab(await startWharf({ servers: { docs }, ...rest }), docs, undefined);
    }
    const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(server.stdout, 'data');
    const url = `${String(line).trim()}/mcp`;
    const docs = { url, transport: 'streamable-http', headers: { authorization: TOKEN }, ...more };
    return new TaskLab(await startWharf({ servers: { docs }, ...rest }), docs, server);
  }

  /** One more gateway in front of the same server. */
  replica(options: Partial<WharfOptions>): Promise<Wharf> {
    return startWharf({ servers: { docs: this.#docs }, ...options });
  }

  /** A client of the server itself, past Wharf. */
  direct(): RawClient {
    return RawClient.stateless(String(this.#docs.url), MODERN, { capabilities: TASKS });
  }

  client(capabilities: Json, mcp = this.wharf.mcp): RawClient {
    return RawClient.stateless(mcp, MODERN, { capabilities: { ...capabilities, ...TASKS } });
  }

  async stop(): Promise<void> {
    await this.wharf.stop();
    if (this.#server?.kill()) await once(this.#server, 'exit');
  }
}

/** Calls the tool. @returns the id of its task */
export async function begin(client: RawClient): Promise<string> {
  const { result } = await client.call('ask');
  if (result?.resultType !== 'task') throw new Error(`it is no task: ${JSON.stringify(result)}`);
  return String(result.taskId);
}

export async function look(client: RawClient, taskId: string): Promise<TaskSeen> {
  const { result, error } = await client.request('tasks/get', { taskId });
  if (!result) throw new Error(JSON.stringify(error));
  return result as unknown as TaskSeen;
}

export function update(client: RawClient, taskId: string, inputResponses: Json): Promise<RawMessage> {
  return client.request('tasks/update', { taskId, inputResponses });
}

/** Asks until the task is over. @returns what its server was sent */
export async function outcome(client: RawClient, taskId: string): Promise<Told> {
  let seen: TaskSeen | undefined;
  await until(async () => {
    seen = await look(client, taskId);
    return seen.status === 'completed';
  });
  return JSON.parse(textOf(seen?.result)) as Told;
}

/** The only question that a task shows. */
export function asked({ inputRequests = {} }: TaskSeen): [key: string, params: Json] {
  const [first, ...others] = Object.entries(inputRequests);
  if (!first || others.length > 0) throw new Error(`it shows ${Object.keys(inputRequests).length} questions`);
  return [first[0], first[1].params];
}
