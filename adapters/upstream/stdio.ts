import { z } from 'zod';
import { GatewayError } from '../../gateway/errors.js';
import type { Limits, Timeouts } from '../../gateway/policy/limits.js';
import type { Log } from '../../gateway/ports/log.js';
import type { SharedConnection, SharedUpstream } from '../../gateway/ports/upstream.js';
import { type Child, startChild } from './stdio/child.js';
import { findsCommand } from './stdio/find-command.js';

/** execve(2) ends its strings at a NUL: what follows would silently be lost. */
const NO_NUL = /^[^\0]*$/;

const text = z.string().regex(NO_NUL, 'must not hold a NUL character');

export const settings = z.strictObject({
  command: z
    .array(text)
    .min(1, 'must name a program')
    .refine((command) => command[0] !== '', 'must name a program')
    .describe('The program and its arguments, as a list. No shell interprets them.'),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable'), text)
    .default({})
    .describe('Environment of the process, beside HOME, LANG, PATH, TMPDIR and USER, which it inherits.'),
  cwd: text.min(1).optional().describe("Working directory of the process. Default: Wharf's own."),
});

/** What a server needs to start. Anything else of the parent's environment may be a secret that is not its own. */
const INHERITED = ['HOME', 'LANG', 'PATH', 'TMPDIR', 'USER'] as const;

export interface StdioDeps {
  /** The server's name in the config. */
  name: string;
  limits: Readonly<Pick<Limits, 'processes'>>;
  timeouts: Readonly<Pick<Timeouts, 'upstream'>>;
  log: Log;
  /** The parent's environment; only HOME, LANG, PATH, TMPDIR and USER of it reach the child. */
  inheritedEnv: Readonly<Record<string, string>>;
}

class Stdio implements SharedUpstream {
  readonly channel = 'shared';
  readonly transport = 'stdio';
  readonly #options: z.output<typeof settings>;
  readonly #deps: StdioDeps;
  readonly #env: Record<string, string> = {};
  readonly #children = new Set<Child>();
  /** Process groups that run, or are about to. */
  #running = 0;
  #closed = false;

  constructor(options: z.output<typeof settings>, deps: StdioDeps) {
    this.#options = options;
    this.#deps = deps;
    for (const name of INHERITED) {
      const value = deps.inheritedEnv[name];
      if (value !== undefined) this.#env[name] = value;
    }
    Object.assign(this.#env, options.env);
  }

  async connect(signal: AbortSignal): Promise<SharedConnection> {
    const { name, limits, log } = this.#deps;
    if (signal.aborted || this.#closed) throw this.#notOpened(signal);
    if (this.#running >= limits.processes) {
      throw new GatewayError('process_limit', { server: name, limit: 'limits.processes', allowed: limits.processes });
    }
    this.#running++;
    let started: Child | undefined;
    const child = await startChild(
      {
        name,
        command: this.#options.command,
        env: this.#env,
        cwd: this.#options.cwd,
        takeMs: this.#deps.timeouts.upstream,
        log,
      },
      () => {
        this.#running--;
        if (started !== undefined) this.#children.delete(started);
      },
    );
    started = child;
    this.#children.add(child);
    if (signal.aborted || this.#closed) {
      await child.close();
      throw this.#notOpened(signal);
    }
    return child;
  }

  async check(): Promise<void> {
    const { name } = this.#deps;
    const [program = ''] = this.#options.command;
    if (await findsCommand(program, this.#env.PATH ?? '', this.#options.cwd ?? '.')) return;
    throw new GatewayError('upstream_unreachable', { server: name }, new Error(`no executable file: ${program}`));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#children].map((child) => child.close()));
  }

  #notOpened(signal: AbortSignal): GatewayError {
    const { reason } = signal;
    if (reason instanceof GatewayError) return reason;
    return new GatewayError('upstream_closed', { server: this.#deps.name }, reason);
  }
}

/** An MCP server that is a program: one process per session, messages as lines on its stdin and stdout. */
export function create(options: z.output<typeof settings>, deps: StdioDeps): SharedUpstream {
  return new Stdio(options, deps);
}
