import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../../gateway/ports/log.js';
import type { PreviewLimits, PreviewRefusal, PreviewResult, PreviewSource } from '../../../gateway/ports/previewer.js';
import { frames } from './feed.js';
import { encodeFrame, FrameReader } from './frames.js';
import { kindOf, needsAll, type PreviewKind } from './kinds.js';
import type { Job, Outcome, Want } from './protocol.js';

interface ProcessOptions {
  /** Bytes of resident memory. */
  maxMemory: number;
  /** Bytes of the source image. */
  maxSource: number;
  /** Milliseconds from the start of a rendering to its result. */
  deadline: number;
  /** Seconds of processor time after which the process takes no further file, and those after which the system ends it. */
  processorTime: { most: number; end: number };
  inheritedEnv: Readonly<Record<string, string>>;
  log: Log;
}

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
/** The child's JavaScript holds little besides the source, which is outside its heap and released by `gc`. */
const NODE_FLAGS = ['--max-old-space-size=128', '--expose-gc'];
/** The part of the memory that PDFium may take: it runs inside V8, where the child's own watch cannot. */
const WASM_SHARE = 0.5;
const WASM_PAGE = 64 * 1024;
/**
 * One decoding thread, and malloc arenas for it and the main thread: more arenas only keep freed memory from the
 * system. For the same reason glibc maps every allocation from 1 MiB on separately. Buffers of one decode are smaller:
 * to map and return each of them takes 5 ms of a photograph's 65.
 */
const CHILD_ENV = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: String(1024 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(8 * 1024 * 1024),
  UV_THREADPOOL_SIZE: '2',
  VIPS_CONCURRENCY: '1',
};
/** The child checks its memory every 5 ms. Between two checks it grew by up to 19 MiB on a machine with a load of 12. */
const WATCH_MARGIN = 32 * 1024 * 1024;
/** Previews yield to exchanges when processor time is short. */
const NICENESS = 10;
/** How much of each piece of the child's output (libvips' warnings) goes to the log. */
const MAX_LOG_TEXT = 500;

/** A program and its arguments. */
type Command = readonly [program: string, ...args: string[]];

/** A file that a process is given. */
interface Served {
  source: PreviewSource;
  kind: PreviewKind;
  stop: AbortSignal;
}

interface Pending {
  settle(result: PreviewResult): void;
  /** Sends a range that the process asks for. */
  serve(want: Want): void;
  /** The result frame, while its image is still missing. */
  outcome?: Extract<Outcome, { kind: 'rendered' }>;
}

const refused = (reason: PreviewRefusal): PreviewResult => ({ kind: 'refused', reason });

/** One render process as seen by the gateway. It renders one image at a time, which the pool ensures. */
export class RenderProcess {
  readonly #options: ProcessOptions;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #reader = new FrameReader();
  readonly #closed: Promise<unknown>;
  /** Resolves when the process can take a file, or has failed: see `alive`. */
  readonly ready: Promise<void>;
  #isReady = (): void => {};
  #pending: Pending | undefined;
  #alive = true;
  /** The gateway itself has ended the process, which is not a fault of the process. */
  #isKilled = false;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.ready = new Promise((resolve) => {
      this.#isReady = resolve;
    });
    const pages = Math.floor((options.maxMemory * WASM_SHARE) / WASM_PAGE);
    const child = [process.execPath, ...NODE_FLAGS, `--wasm-max-mem-pages=${pages}`, CHILD] as const;
    const [program, ...args] = limited(child, options.processorTime.end);
    this.#child = spawn(program, args, {
      env: { ...options.inheritedEnv, ...CHILD_ENV },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#closed = once(this.#child, 'close').catch(() => {});
    const { pid } = this.#child;
    if (pid !== undefined) lowerPriority(pid);
    // A broken pipe also causes `close`.
    this.#child.stdin.on('error', () => {});
    this.#child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#child.stderr.on('data', (text: Buffer) =>
      options.log.debug({ text: text.toString('utf8', 0, MAX_LOG_TEXT) }, 'The render process printed something.'),
    );
    this.#child.on('error', (error) => this.#fail(error));
    this.#child.on('close', (code, signal) => this.#fail(new Error(`It ended with ${signal ?? `code ${code}`}.`)));
  }

  get alive(): boolean {
    return this.#alive;
  }

  async render(source: PreviewSource, limits: PreviewLimits, signal: AbortSignal): Promise<PreviewResult> {
    const startedAt = performance.now();
    const kind = kindOf(source.mimeType);
    if (kind === undefined) return refused('unsupported');
    const stop = new AbortController();
    const result = new Promise<PreviewResult>((resolve) => {
      this.#pending = { settle: resolve, serve: (want) => void this.#serve({ source, kind, stop: stop.signal }, want) };
    });
    const give = (reason: PreviewRefusal): void => {
      // The result is no longer wanted, and a running decode cannot be stopped otherwise.
      this.kill();
      this.#settle(refused(reason));
    };
    const timer = setTimeout(() => give('deadline'), this.#options.deadline);
    const onAbort = (): void => give('aborted');
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    else {
      const { maxMemory, processorTime } = this.#options;
      const most = { maxMemory: maxMemory - WATCH_MARGIN, processorTime: processorTime.most };
      const job: Job = { ...limits, kind, size: source.size, ...most };
      this.#child.stdin.write(encodeFrame('job', Buffer.from(JSON.stringify(job))));
      if (needsAll(kind)) void this.#serve({ source, kind, stop: stop.signal });
    }
    try {
      const settled = await result;
      const ms = Math.round(performance.now() - startedAt);
      this.#options.log.debug(
        { ms, outcome: settled.kind === 'rendered' ? 'rendered' : settled.reason },
        'Preview done.',
      );
      return settled;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      // A healthy process has read the whole image when it answers, and aborting would destroy its pipe.
      if (!this.#alive) stop.abort();
    }
  }

  /** Ends the process and refuses its rendering. Resolves when it is gone. */
  async kill(): Promise<void> {
    this.#alive = false;
    this.#isKilled = true;
    this.#child.kill('SIGKILL');
    await this.#closed;
  }

  /** Sends a file, or a range of it, at the process's pace. `stop` aborts when the process will not read the rest. */
  async #serve({ source, kind, stop }: Served, want?: Want): Promise<void> {
    const { stdin } = this.#child;
    let opened: Readable | undefined;
    const letGo = (): void => {
      // A later error has no reader left.
      opened?.on('error', () => {}).destroy();
    };
    stop.addEventListener('abort', letGo, { once: true });
    try {
      const range = want && { start: want.start, end: want.start + want.length - 1 };
      opened = await source.open(stop, range);
      if (stop.aborted) return;
      let reason: PreviewRefusal | undefined;
      const refuse = (refusal: PreviewRefusal): void => {
        reason = refusal;
      };
      const maxSource = want?.length ?? this.#options.maxSource;
      const feed = frames({ source: opened, kind, maxSource, release: source.release, refuse });
      // Not `pipeline`: with `end: false` it leaves listeners on the pipe, which outlives the job.
      for await (const frame of feed) await written(frame, stdin);
      // Only now, so that the next job's frames do not mix with this one's.
      if (reason !== undefined) this.#settle(refused(reason));
    } catch (error) {
      if (stop.aborted) return;
      if (opened !== undefined) {
        // `frames` handles failures of the source; this is a process that reads no more.
        this.#fail(error);
        return;
      }
      stdin.write(encodeFrame('cancel'));
      this.#settle(refused('aborted'));
    } finally {
      stop.removeEventListener('abort', letGo);
      letGo();
    }
  }

  #receive(chunk: Buffer): void {
    try {
      for (const { kind, payload } of this.#reader.push(chunk)) {
        if (kind === 'ready') this.#isReady();
        else if (kind === 'result') this.#outcome(JSON.parse(payload.toString()));
        else if (kind === 'want') this.#pending?.serve(JSON.parse(payload.toString()));
        else if (kind === 'image' && this.#pending?.outcome !== undefined) {
          const { facts, image } = this.#pending.outcome;
          if (image) this.#settle({ kind: 'rendered', preview: { facts, image: { ...image, data: payload } } });
        }
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  #outcome(outcome: Outcome): void {
    const { peakRss, last } = outcome;
    if (last) this.#alive = false;
    if (outcome.kind === 'rendered') {
      this.#options.log.debug({ peakRss }, 'The render process answered.');
      const { facts, image, text } = outcome;
      if (image === undefined) this.#settle({ kind: 'rendered', preview: { facts, ...(text && { text }) } });
      else if (this.#pending !== undefined) this.#pending.outcome = outcome;
      return;
    }
    const { reason, excess, detail } = outcome;
    this.#options.log.debug({ peakRss, reason, detail }, 'The render process refused a file.');
    this.#settle({ kind: 'refused', reason, ...(excess && { excess }) });
  }

  #fail(error: unknown): void {
    this.#alive = false;
    this.#isReady();
    if (this.#pending === undefined) return;
    if (!this.#isKilled) this.#options.log.warn({ err: error }, 'The render process failed.');
    void this.kill();
    this.#settle(refused('failed'));
  }

  #settle(result: PreviewResult): void {
    this.#pending?.settle(result);
    this.#pending = undefined;
  }
}

/**
 * Nothing else ends a process that draws a page while the gateway is killed: until PDFium returns, which can take half an
 * hour, it does not hear that its pipe is broken. Windows has no such limit.
 * @param seconds of processor time, in all its threads, after which the system ends the process
 */
function limited(command: Command, seconds: number): Command {
  if (process.platform === 'win32') return command;
  return ['/bin/sh', '-c', 'ulimit -t "$0" 2>&-; exec "$@"', String(seconds), ...command];
}

/** Writes a frame with one system call, and waits until the pipe has taken it, or is broken, which `close` tells. */
function written(frame: readonly Buffer[], pipe: Writable): Promise<unknown> {
  return new Promise((resolve) => {
    pipe.cork();
    for (const [at, buffer] of frame.entries()) pipe.write(buffer, at === frame.length - 1 ? resolve : undefined);
    pipe.uncork();
  });
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, NICENESS);
  } catch {
    // Not allowed here, or the process is gone already; previews work in either case.
  }
}
