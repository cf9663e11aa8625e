import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { GatewayError } from '../../../gateway/errors.js';
import { INHERITED_WORDS } from '../../../gateway/inherited-env.js';
import type { Log } from '../../../gateway/ports/log.js';
import type { OutgoingMessage, SharedConnection, StreamedMessage } from '../../../gateway/ports/upstream.js';
import { feed } from '../common/feed.js';
import { ChildOutput } from './child-output.js';
import { NO_INTERPRETER } from './find-command.js';
import { LineWriter } from './line-writer.js';
import { notStarted } from './not-started.js';
import { processes } from './processes.js';
import { StderrLog, type StderrRoom } from './stderr-log.js';
import { Turns } from './turns.js';
import { missedVariable } from './withheld.js';

/** MCP 2025-11-25, stdio, shutdown: close stdin and wait, then SIGTERM and wait, then SIGKILL. Milliseconds. */
const AFTER_STDIN_MS = 2000;
const AFTER_SIGTERM_MS = 2000;
/** A killed process may still hang in the kernel, for instance on a dead network file system. */
const AFTER_SIGKILL_MS = 5000;

/** How long the event of an exit is waited for once no process of the group runs. */
const EXIT_TOLD_MS = 2000;

/** Text written to stderr just before the exit often arrives just after it. */
const LAST_STDERR_MS = 100;

/** How long after its end stderr is read on: a process that has left the group can keep it open for ever. */
const STDERR_MS = 2000;

/** A program that fetches itself first, as npx does, takes some seconds. Clients wait a minute for the first answer. */
const SILENT_MS = 10_000;

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
/** CAN ("the data before it is in error"): JSON does not allow it, so no parser accepts such a line as a message. */
const CANCEL = Buffer.from('\x18');

interface ChildOptions {
  /** The server's name in the config. */
  name: string;
  /** The program and its arguments; no shell is involved. */
  command: readonly string[];
  /** The child's whole environment. */
  env: Record<string, string>;
  /** Names of the variables that Wharf has and the child does not get. */
  withheld: ReadonlySet<string>;
  cwd: string | undefined;
  /** `timeouts.upstream`: how long a message may wait for the child to take it, in milliseconds. */
  takeMs: number;
  /** How long the child may write nothing after its start before the operator is told. */
  silentMs?: number;
  /** Of all processes of the server. */
  stderr: StderrRoom;
  log: Log;
}

/**
 * The message on one line. A line break in JSON is white space between tokens (a string must escape it), so a blank is
 * equivalent.
 */
function onOneLine(message: Buffer): Buffer {
  if (!message.includes(LF) && !message.includes(CR)) return message;
  const line = Buffer.from(message);
  for (let at = 0; at < line.length; at++) if (line[at] === LF || line[at] === CR) line[at] = SPACE;
  return line;
}

/** One child process, the leader of its own process group, as the channel of one session. */
export class Child implements SharedConnection {
  readonly kind = 'lines';
  readonly body: ChildOutput;
  readonly #name: string;
  readonly #takeMs: number;
  readonly #withheld: ReadonlySet<string>;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #group: number;
  readonly #stderr: StderrLog;
  /** Set by close(), so that the exit that follows is not a failure. */
  #closing = false;
  /** How the process ended, in words, once it has, and whether by itself. */
  #exit: string | undefined;
  #byItself = false;
  /** It is ended because it has not read its stdin for too long. */
  #isDeaf = false;
  #end: Promise<void> | undefined;
  readonly #exiting: Promise<void>;
  /** Resolves when the ending begins. */
  readonly #ending: Promise<undefined>;
  #beginEnding: () => void = () => undefined;
  readonly #turns = new Turns();
  readonly #lines: LineWriter;
  readonly #gone: () => void;

  /** @param gone called once, when the last process of the group has ended */
  constructor(child: ChildProcessWithoutNullStreams, group: number, options: ChildOptions, gone: () => void) {
    this.#name = options.name;
    this.#takeMs = options.takeMs;
    this.#withheld = options.withheld;
    this.#process = child;
    this.#group = group;
    this.#gone = gone;
    this.#ending = new Promise((resolve) => {
      this.#beginEnding = () => resolve(undefined);
    });
    processes.toKillAtExit.add(group);
    this.#lines = new LineWriter(child.stdin, { takeMs: options.takeMs, stalled: () => this.#stalled() });
    this.#stderr = new StderrLog(child.stderr, options.log.child({ pid: group }), options.stderr);
    this.body = new ChildOutput(child.stdout, () => this.#outputEnded());
    // EPIPE after the child closed its stdin; the failing write's callback reports it
    child.stdin.on('error', () => undefined);
    child.on('error', () => undefined);
    const silent = setTimeout(() => this.#silent(options.log), options.silentMs ?? SILENT_MS).unref();
    this.#exiting = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        clearTimeout(silent);
        this.#exited(code, signal);
        resolve();
      });
    });
  }

  /** A client only sees that it waits. */
  #silent(log: Log): void {
    if (this.#closing || this.hasWritten) return;
    log.warn(
      { pid: this.#group },
      'The server has written nothing since it started. A command such as npx may still be fetching its package, or ' +
        `cannot: it gets only ${INHERITED_WORDS}. Run it once by itself, and give it what else it needs, ` +
        'such as HTTPS_PROXY or NODE_EXTRA_CA_CERTS, by `env` of the server in a config, or --env NAME before the command.',
    );
  }

  send(message: OutgoingMessage): Promise<void> {
    if (Buffer.isBuffer(message)) return this.#turns.short(() => this.#endLine(onOneLine(message)));
    return this.#turns.long(() => this.#sendLong(message));
  }

  /**
   * Sends a line without ever holding all of it. When its source fails, the line is made invalid, and the next one
   * begins cleanly.
   */
  async #sendLong(message: StreamedMessage): Promise<void> {
    if (!this.#takes) throw this.#failure();
    this.#lines.flush();
    const options = { stallMs: this.#takeMs, isOver: () => !this.#takes, prepare: onOneLine };
    const fed = await Promise.race([feed(message, this.#process.stdin, options), this.#ending]);
    if (fed === undefined || fed.end === 'over') throw await this.#lastWords();
    if (fed.end === 'stalled') throw this.#stalled();
    if (fed.end === 'complete') return this.#endLine();
    if (fed.written > 0) this.#endLine(CANCEL).catch(() => undefined);
    throw fed.error;
  }

  /** Writes the rest of a line and its end; resolves when the child has taken them. */
  #endLine(rest?: Buffer): Promise<void> {
    if (!this.#takes) return Promise.reject(this.#failure());
    return new Promise((resolve, reject) => {
      this.#lines.end(rest, (error) => {
        if (!error) resolve();
        else if (error instanceof GatewayError) reject(error);
        else void this.#lastWords(error).then(reject);
      });
    });
  }

  /** False when nothing can be written from now on. */
  get #takes(): boolean {
    return !this.#closing && this.#exit === undefined && this.#process.stdin.writable;
  }

  /** Half a message may be in the pipe, and nothing valid can follow it. */
  #stalled(): GatewayError {
    this.#isDeaf = true;
    void this.#endGroup(0);
    return this.#failure();
  }

  close(): Promise<void> {
    this.#closing = true;
    return this.#endGroup(AFTER_STDIN_MS);
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    this.#exit = signal === null ? `exit code ${code}` : `signal ${signal}`;
    this.#byItself = !this.#closing;
    void this.#endGroup(0);
    this.#failSoon();
  }

  #failSoon(): void {
    if (!this.#closing) setTimeout(() => this.body.fail(() => this.#failure()), LAST_STDERR_MS);
  }

  /** Without its stdout the session is over, even if the process still runs. */
  #outputEnded(): void {
    if (this.#exit === undefined) void this.#endGroup(AFTER_STDIN_MS);
  }

  #endGroup(patienceMs: number): Promise<void> {
    this.#beginEnding();
    this.#end ??= this.#endGroupOnce(patienceMs);
    return this.#end;
  }

  async #endGroupOnce(patienceMs: number): Promise<void> {
    const group = this.#group;
    this.#lines.flush();
    this.#process.stdin.end();
    if (!(await processes.gone(group, patienceMs))) {
      processes.signal(group, 'SIGTERM');
      if (!(await processes.gone(group, AFTER_SIGTERM_MS))) {
        processes.signal(group, 'SIGKILL');
        await processes.gone(group, AFTER_SIGKILL_MS);
      }
    }
    // /proc shows an end earlier than Node reports it: on a busy machine 7 of 200 processes had lost their exit code
    await Promise.race([this.#exiting, wait(EXIT_TOLD_MS, undefined, { ref: false })]);
    processes.toKillAtExit.delete(group);
    this.#giveUpStderr();
    if (this.#closing) this.body.stop();
    else this.#failSoon();
    this.#gone();
  }

  #giveUpStderr(): void {
    const { stderr } = this.#process;
    const timer = setTimeout(() => stderr.destroy(), STDERR_MS).unref();
    if (stderr.closed) clearTimeout(timer);
    else stderr.once('close', () => clearTimeout(timer));
  }

  /**
   * A closed pipe is seen before the end of its process, on a busy machine by far, and before what that has last written
   * to stderr.
   */
  async #lastWords(error?: Error): Promise<GatewayError> {
    if (this.#isDeaf) return this.#failure(error);
    await Promise.race([this.#exiting, this.#closing ? undefined : wait(AFTER_STDIN_MS, undefined, { ref: false })]);
    await wait(LAST_STDERR_MS);
    return this.#failure(error);
  }

  /** Of all that a process has not answered that is ended, not only of what it was sent last. */
  #failure(error?: Error): GatewayError {
    if (this.#isDeaf) {
      const facts = { server: this.#name, limit: 'timeouts.upstream', allowed: this.#takeMs };
      return new GatewayError('upstream_timeout', facts);
    }
    const how = this.#exit ?? 'still running';
    const said = this.#stderr.tail;
    const words = said === '' ? 'it wrote nothing to standard error' : `its last words: ${said}`;
    const cause = new Error(`${how}; ${words}${missedVariable(said, this.#withheld)}`, { cause: error });
    const { silentEnd: reason } = this;
    return new GatewayError('upstream_closed', { server: this.#name, ...(reason !== undefined && { reason }) }, cause);
  }

  get pid(): number {
    return this.#group;
  }

  get hasWritten(): boolean {
    return (this.#process.stdout as Socket).bytesRead > 0;
  }

  /** How the process ended, if that was by itself and before it wrote anything: so ends one that cannot work. */
  get silentEnd(): string | undefined {
    return this.#byItself && !this.hasWritten ? this.#exit : undefined;
  }
}

/**
 * Starts a child and resolves when it runs.
 * @param gone called once, when the last process of the group has ended, or none could be started
 * @throws GatewayError `upstream_unreachable` when the program cannot be started
 */
export async function startChild(options: ChildOptions, gone: () => void): Promise<Child> {
  const [program = '', ...args] = options.command;
  const { env, cwd } = options;
  try {
    const starting = processes.start([program, ...args], { env, cwd });
    const child = starting instanceof Promise ? await starting : starting;
    if (child.pid !== undefined) return new Child(child, child.pid, options, gone);
    throw await new Promise((resolve) => child.once('error', resolve));
  } catch (cause) {
    gone();
    const lack = await processes.lackOf(program, env, cwd ?? '.');
    throw notStarted(options.name, cwd, cause, lack === undefined || lack === NO_INTERPRETER);
  }
}
