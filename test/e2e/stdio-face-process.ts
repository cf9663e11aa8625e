import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RawMessage } from '../helpers/raw-client.js';
import { ROOT } from './cli-process.js';

/** Milliseconds until what is waited for must have come. */
const PATIENCE_MS = 90_000;

/** `wharf stdio` as a host starts it, with every line of it kept. */
export class FaceProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** A temporary folder of its own, in which it must leave nothing. */
  readonly folder: string;
  readonly ended: Promise<number | null>;
  out = '';
  err = '';
  /** Everything that it has written was read. Its exit is told earlier. */
  #isRead = false;

  private constructor(args: string[], folder: string) {
    this.folder = folder;
    const env = { ...process.env, TMPDIR: folder };
    this.child = spawn(process.execPath, [`${ROOT}dist/gateway/main.js`, 'stdio', ...args], { cwd: folder, env });
    this.child.stdout.on('data', (chunk: Buffer) => {
      this.out += chunk.toString();
    });
    this.child.stderr.on('data', (chunk: Buffer) => {
      this.err += chunk.toString();
    });
    this.child.stdin.on('error', () => undefined);
    this.ended = once(this.child, 'close').then(([code]) => {
      this.#isRead = true;
      return code as number | null;
    });
  }

  static async start(...args: string[]): Promise<FaceProcess> {
    return FaceProcess.startIn(await mkdtemp(join(tmpdir(), 'wharf-face-')), ...args);
  }

  /** With the temporary folder of another. */
  static startIn(folder: string, ...args: string[]): FaceProcess {
    return new FaceProcess(args, folder);
  }

  /** Everything said so far; what is no JSON is an error. */
  get messages(): RawMessage[] {
    const lines = this.out.split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as RawMessage);
  }

  send(...messages: (object | string)[]): void {
    for (const one of messages) this.child.stdin.write(`${typeof one === 'string' ? one : JSON.stringify(one)}\n`);
  }

  request(id: number, method: string, params: object = {}): void {
    this.send({ jsonrpc: '2.0', id, method, params });
  }

  /** Waits for a message that fits. */
  message(fits: (message: RawMessage) => boolean): Promise<RawMessage> {
    return this.#wait(() => this.messages.find(fits));
  }

  answer(id: number): Promise<RawMessage> {
    return this.message((message) => message.id === id && message.method === undefined);
  }

  async initialize(version = '2025-06-18', capabilities: object = {}): Promise<RawMessage> {
    const clientInfo = { name: 'host', version: '1' };
    this.request(0, 'initialize', { protocolVersion: version, capabilities, clientInfo });
    const answer = await this.answer(0);
    this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return answer;
  }

  /** Address of the port for links, from the log. */
  links(): Promise<string> {
    return this.#wait(() => /"links":"([^"]+)"/.exec(this.err)?.[1]);
  }

  /** What it left in its temporary folder. */
  leftovers(): Promise<string[]> {
    return readdir(this.folder);
  }

  async #wait<T>(look: () => T | undefined): Promise<T> {
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      const isOver = this.#isRead || Date.now() > until;
      if (isOver) throw new Error(`it did not come: ${this.out.slice(-2000)}${this.err}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async clean(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
    await rm(this.folder, { recursive: true, force: true });
  }
}
