import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './gateway-process-ports.js';

/** Ports to try: tests that run beside this one take some of the same ten thousand. */
const MOST_TRIES = 5;

/** A Redis that one test may stop, starve and kill. */
export class OwnRedis {
  readonly port: number;
  readonly #folder: string;
  #process: ChildProcess | undefined;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#folder = folder;
  }

  /** On a port that was free: another process may have taken it since, and then the next one is tried. */
  static async start(): Promise<OwnRedis> {
    for (let tries = 1; ; tries++) {
      const redis = new OwnRedis(await freePort(), await mkdtemp(join(tmpdir(), 'wharf-redis-')));
      try {
        await redis.restart();
        return redis;
      } catch (error) {
        await redis.stop();
        if (tries === MOST_TRIES) throw error;
      }
    }
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it, empty, on the same port, and waits until it answers. */
  async restart(): Promise<void> {
    const options = ['--bind', '127.0.0.1', '--port', `${this.port}`, '--dir', this.#folder];
    const child = spawn('redis-server', [...options, '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
    this.#process = child;
    // another process that has the port may be a Redis too, and answer
    while (!(await this.command('info', 'server').catch(() => '')).includes(`process_id:${child.pid}\r`)) {
      if (child.exitCode !== null) throw new Error(`redis-server on port ${this.port} ended with ${child.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  signal(name: NodeJS.Signals): void {
    this.#process?.kill(name);
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** What redis-cli prints for one command. */
  async command(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)('redis-cli', ['-p', `${this.port}`, ...args], { timeout: 30_000 });
    return stdout.trim();
  }
}
