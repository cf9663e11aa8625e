import { z } from 'zod';
import { Ledger, refusalFacts } from '../../gateway/budget/ledger.js';
import { GatewayError } from '../../gateway/errors.js';
import { environmentOf } from '../../gateway/inherited-env.js';
import type { Limits, Timeouts } from '../../gateway/policy/limits.js';
import type { Log } from '../../gateway/ports/log.js';
import type { Owner, Sharing } from '../../gateway/ports/owner.js';
import type { SharedConnection, SharedUpstream } from '../../gateway/ports/upstream.js';
import { type Child, startChild } from './stdio/child.js';
import { isFolder, NO_INTERPRETER } from './stdio/find-command.js';
import { notStarted } from './stdio/not-started.js';
import { processes } from './stdio/processes.js';
import { StderrRoom } from './stdio/stderr-log.js';

/** execve(2) ends its strings at a NUL: the rest would silently be lost. */
const NO_NUL = /^[^\0]*$/;

const text = z.string().regex(NO_NUL, 'must not hold a NUL character');

export const settings = z.strictObject({
  command: z
    .array(text)
    .min(1, 'must name a program')
    .refine((command) => command[0] !== '', 'must name a program')
    .describe('The program and its arguments, as a list. They do not pass through a shell.'),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable'), text)
    .default({})
    .describe(
      'Environment of the process, in addition to HOME, LANG, PATH, TMPDIR and USER, which it inherits; on Windows to ' +
        'APPDATA, PATH, TEMP, USERPROFILE and what else the system itself sets.',
    ),
  cwd: text.min(1).optional().describe("Working directory of the process. Default: Wharf's own."),
});

/** The limit of the system that may leave room for fewer processes than `limits.processes`. */
const OPEN_FILES = 'ulimit -n';

interface StdioDeps {
  /** The server's name in the config. */
  name: string;
  limits: Readonly<Pick<Limits, 'processes'>>;
  timeouts: Readonly<Pick<Timeouts, 'upstream'>>;
  /** Processes for which the system allows enough open files now: a reload changes how many servers share those. */
  processesThatFit?: (() => number) | undefined;
  /** How `limits.processes` is shared. */
  sharing: Sharing;
  log: Log;
  /** The parent's environment; only what `inheritedFrom` names reaches the child. */
  inheritedEnv: Readonly<Record<string, string>>;
  /** Names of the parent's other variables. */
  withheldEnv?: readonly string[] | undefined;
}

class Stdio implements SharedUpstream {
  readonly channel = 'shared';
  readonly transport = 'stdio';
  readonly #options: z.output<typeof settings>;
  readonly #deps: StdioDeps;
  readonly #env: Record<string, string>;
  readonly #withheld: ReadonlySet<string>;
  readonly #children = new Set<Child>();
  readonly #stderr = new StderrRoom();
  /** Counts process groups that run, or are about to. */
  readonly #processes: Ledger;
  /** How the last process ended, if that was before it wrote anything. */
  #silentEnd: string | undefined;
  #hasStarted = false;
  #closed = false;

  constructor(options: z.output<typeof settings>, deps: StdioDeps) {
    this.#options = options;
    this.#deps = deps;
    const { limits, sharing } = deps;
    this.#processes = new Ledger({ limit: 'limits.processes', total: limits.processes, sharing });
    this.#env = environmentOf(deps.inheritedEnv, options.env);
    this.#withheld = new Set(deps.withheldEnv?.filter((name) => !(name in this.#env)));
  }

  async connect(signal: AbortSignal, principal?: string): Promise<SharedConnection> {
    const { name, log } = this.#deps;
    if (signal.aborted || this.#closed) throw this.#notOpened(signal);
    const owner = { principal };
    this.#takePlace(owner);
    let started: Child | undefined;
    const child = await startChild(
      {
        name,
        command: this.#options.command,
        env: this.#env,
        withheld: this.#withheld,
        cwd: this.#options.cwd,
        takeMs: this.#deps.timeouts.upstream,
        stderr: this.#stderr,
        log,
      },
      () => {
        this.#processes.give(1, owner);
        if (started !== undefined) this.#ended(started);
      },
    );
    started = child;
    this.#hasStarted = true;
    this.#children.add(child);
    if (signal.aborted || this.#closed) {
      await child.close();
      throw this.#notOpened(signal);
    }
    return child;
  }

  /** @throws GatewayError `process_limit` */
  #takePlace(owner: Owner): void {
    const { name, limits, processesThatFit } = this.#deps;
    const fitting = processesThatFit?.() ?? Number.POSITIVE_INFINITY;
    this.#processes.resize({ total: Math.min(limits.processes, fitting) });
    const refusal = this.#processes.take(1, owner);
    if (!refusal) return;
    const limit = fitting < limits.processes ? OPEN_FILES : refusal.limit;
    const facts = refusal.full === 'process' ? { allowed: refusal.allowed } : refusalFacts(refusal);
    throw new GatewayError('process_limit', { ...facts, limit, server: name });
  }

  get isUntried(): boolean {
    return !this.#hasStarted;
  }

  async check(): Promise<void> {
    const { name } = this.#deps;
    const { command, cwd = '.' } = this.#options;
    const [program = ''] = command;
    // without its folder no program is started
    const code = (await isFolder(cwd)) ? await processes.lackOf(program, this.#env, cwd) : 'ENOENT';
    if (code !== undefined) {
      const cause = Object.assign(new Error(`no executable file: ${program}`), { code });
      throw notStarted(name, this.#options.cwd, cause);
    }
    if (this.#silentEnd === undefined || [...this.#children].some((child) => child.hasWritten)) return;
    const reason = `its process ended with ${this.#silentEnd} before it wrote anything`;
    throw new GatewayError('upstream_unreachable', { server: name, reason });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#children].map((child) => child.close()));
  }

  #ended(child: Child): void {
    this.#children.delete(child);
    if (child.hasWritten) this.#silentEnd = undefined;
    else this.#silentEnd = child.silentEnd ?? this.#silentEnd;
  }

  #notOpened(signal: AbortSignal): GatewayError {
    const { reason } = signal;
    if (reason instanceof GatewayError) return reason;
    return new GatewayError('upstream_closed', { server: this.#deps.name }, reason);
  }
}

/** Checks that this machine has the program and the folder; uses neither. */
export async function preflight(
  { command, cwd, env }: z.output<typeof settings>,
  { inheritedEnv }: Pick<StdioDeps, 'inheritedEnv'>,
): Promise<{ path: (string | number)[]; message: string; value: unknown }[]> {
  if (cwd !== undefined && !(await isFolder(cwd)))
    return [{ path: ['cwd'], message: 'is not a folder of this machine', value: cwd }];
  const [program = ''] = command;
  const lack = await processes.lackOf(program, environmentOf(inheritedEnv, env), cwd ?? '.');
  if (lack === undefined) return [];
  if (lack === NO_INTERPRETER)
    return [
      {
        path: ['command', 0],
        message: 'is a script whose first line names a program that is not here',
        value: program,
      },
    ];
  const message = processes.isPath(program) ? 'is not a program that can be run here' : 'is not found in PATH';
  const hint = /\s/.test(program) ? '; it must be the program alone, and each argument an item of its own' : '';
  return [{ path: ['command', 0], message: message + hint, value: program }];
}

/**
 * An MCP server that is a program: one process per session, messages as lines on its stdin and stdout.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 */
export function create(options: z.output<typeof settings>, deps: StdioDeps): SharedUpstream {
  return new Stdio(options, deps);
}
