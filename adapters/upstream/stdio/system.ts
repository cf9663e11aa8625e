import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Lack } from './find-command.js';

/** Where a program is started, and with what. */
export interface Surroundings {
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  cwd: string | undefined;
}

/**
 * How a program is started on this system, and ended with all that it has started itself. Both are named by the process id
 * of the program.
 */
export interface Processes {
  /**
   * Starts a program whose standard streams are pipes. Its arguments reach it as they are. A program without a process id
   * emits `error`. @throws the system's error
   */
  start(
    command: readonly [program: string, ...args: string[]],
    surroundings: Surroundings,
  ): ChildProcessWithoutNullStreams | Promise<ChildProcessWithoutNullStreams>;
  signal(id: number, signal: 'SIGTERM' | 'SIGKILL'): void;
  /** True as soon as none of them runs, false after so many milliseconds. */
  gone(id: number, ms: number): Promise<boolean>;
  /** Those that must not outlive this process. */
  toKillAtExit: { add(id: number): void; delete(id: number): void };
  /** Why a program cannot be started; undefined for one that can. */
  lackOf(program: string, env: Surroundings['env'], cwd: string): Promise<Lack>;
  /** Whether it is a path, and no name to look for. */
  isPath(program: string): boolean;
}
