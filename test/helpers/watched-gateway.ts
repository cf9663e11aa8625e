import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from './gateway-process-ports.js';
import { atExit } from './this-process.js';

/** Compiled, this file is dist/test/helpers/watched-gateway.js; the fixture is not compiled. */
const MAIN = fileURLToPath(new URL('../../gateway/main.js', import.meta.url));
const WATCH = new URL('../../../test/helpers/turn-watch.fixture.mjs', import.meta.url).href;

const START_MS = 60_000;

/** What one exchange cost the gateway. */
interface Cost {
  /** Of the CPU, by the thread of the event loop in its longest turn: on a busy machine a turn may well be interrupted. */
  turnMs: number;
  /** By how much the process grew at its peak. */
  grownBytes: number;
  /** Of the answer. */
  answerBytes: number;
  /** The first bytes of the answer. */
  head: string;
}

interface Watched {
  cpuMs: number;
  rss: number;
  peakRss: number;
}

/** A gateway in a process of its own that tells how long its turns of the event loop are. */
export class WatchedGateway {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly url: string;

  private constructor(child: ChildProcess, folder: string, url: string) {
    this.#child = child;
    this.#folder = folder;
    this.url = url;
  }

  /** @param config what wharf.yaml says */
  static async start(config: Record<string, unknown>): Promise<WatchedGateway> {
    const folder = await mkdtemp(join(tmpdir(), 'wharf-watched-'));
    const [port] = (await freePorts(1)) as [number];
    const url = `http://127.0.0.1:${port}`;
    const file = join(folder, 'wharf.yaml');
    // JSON is YAML
    await writeFile(file, JSON.stringify({ publicUrl: url, ...config }));
    const own = ['--config', file, '--listen', `127.0.0.1:${port}`, '--log-level', 'error'];
    const child = spawn(process.execPath, ['--expose-gc', '--import', WATCH, MAIN, ...own], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    child.once(
      'exit',
      atExit(() => child.kill('SIGKILL')),
    );
    const gateway = new WatchedGateway(child, folder, url);
    try {
      await gateway.#untilUp();
    } catch (error) {
      await gateway.stop();
      throw error;
    }
    return gateway;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const gone = once(this.#child, 'exit');
      this.#child.kill('SIGKILL');
      await gone;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** What posting a body to one server's endpoint costs. @param pieceBytes the body is written in pieces of that size */
  async post(server: string, body: Buffer, headers: Record<string, string>, pieceBytes?: number): Promise<Cost> {
    const before = await this.#watch('reset');
    const answer = await this.#send(`/${server}/mcp`, body, headers, pieceBytes);
    const after = await this.#watch('read');
    return { ...answer, turnMs: after.cpuMs, grownBytes: after.peakRss - before.rss };
  }

  #send(path: string, body: Buffer, headers: Record<string, string>, pieceBytes: number | undefined) {
    return new Promise<Pick<Cost, 'answerBytes' | 'head'>>((resolve, reject) => {
      const length = pieceBytes === undefined ? { 'Content-Length': body.length } : {};
      const sent = request(
        `${this.url}${path}`,
        {
          method: 'POST',
          agent: false,
          headers: {
            'Content-Type': 'application/json',
            Accept: 'application/json, text/event-stream',
            ...length,
            ...headers,
          },
        },
        (answer) => {
          let answerBytes = 0;
          let head = '';
          answer.on('data', (chunk: Buffer) => {
            answerBytes += chunk.length;
            if (head.length < 1000) head += chunk.toString('latin1').slice(0, 1000);
          });
          answer.on('end', () => resolve({ answerBytes, head }));
          answer.on('error', reject);
        },
      );
      sent.on('error', reject);
      sent.setNoDelay(true);
      writeIn(sent, body, pieceBytes ?? body.length).catch(reject);
    });
  }

  async #watch(what: 'reset' | 'read'): Promise<Watched> {
    this.#child.send({ watch: what });
    const [{ watch }] = (await once(this.#child, 'message')) as [{ watch: Watched }];
    return watch;
  }

  async #untilUp(): Promise<void> {
    let output = '';
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        this.#child.stdout?.on('data', (chunk: Buffer) => {
          output += chunk.toString();
          if (output.includes(' is up')) resolve();
        });
        this.#child.once('exit', () => reject(new Error(`the gateway ended:\n${output}`)));
        timer = setTimeout(() => reject(new Error(`the gateway was not ready:\n${output}`)), START_MS);
      });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Writes a body in pieces, some of them in each turn of the event loop. */
export async function writeIn(
  target: { write(bytes: Buffer): boolean; end(): unknown },
  body: Buffer,
  pieceBytes: number,
): Promise<void> {
  for (let at = 0, pieces = 0; at < body.length; at += pieceBytes, pieces++) {
    target.write(body.subarray(at, at + pieceBytes));
    if (pieces % 256 === 255) await new Promise(setImmediate);
  }
  target.end();
}
