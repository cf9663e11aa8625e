import { spawn } from 'node:child_process';
import { isPathOnUnix, lackOfCommand } from './find-command.js';
import { groupGone, groupsToKillAtExit, signalGroup } from './process-group.js';
import type { Processes } from './system.js';
import { windowsProcesses } from './windows.js';

/** Linux and macOS: each program is the leader of a group of processes. */
const unixProcesses: Processes = {
  start: ([program, ...args], surroundings) =>
    spawn(program, args, {
      // its own session and process group, so that its children can be ended with it, and a terminal's Ctrl-C reaches
      // only Wharf, which then ends it in order
      detached: true,
      ...surroundings,
      stdio: ['pipe', 'pipe', 'pipe'],
    }),
  signal: signalGroup,
  gone: groupGone,
  toKillAtExit: groupsToKillAtExit,
  lackOf: (program, { PATH = '' }, cwd) => lackOfCommand(program, PATH, cwd),
  isPath: isPathOnUnix,
};

/** Those of the system on which Wharf runs. */
export const processes: Processes = process.platform === 'win32' ? windowsProcesses : unixProcesses;
