import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { basename, dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { socketPath } from '../../gateway/socket-path.js';

/** A turn takes a millisecond or two. */
const TURN_MS = 2000;
const LOOK_AGAIN_MS = 20;

/** What a process holds until it ends, in whatever way. */
export interface FileLock {
  release(): Promise<void>;
}

/** The system, or the disk, knows no such sockets: the file is as unprotected as it would be without a lock. */
const UNLOCKED: FileLock = { release: async () => {} };

/**
 * Keeps a file for this process: it listens on a socket beside the file. A process that was killed leaves its socket, but
 * does not answer there.
 * @returns undefined if another process has the file
 */
export async function lockFile(path: string): Promise<FileLock | undefined> {
  const socket = socketPath(dirname(path), `.${basename(path)}.lock`);
  if (socket === undefined) return UNLOCKED;
  // first: a pipe of Windows may have several that listen
  if (await answers(socket)) return undefined;
  for (let tries = 0; tries < 2; tries++) {
    try {
      return await listenOn(socket);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return UNLOCKED;
    }
    if (await answers(socket)) return undefined;
    await takeOut(socket);
  }
  return undefined;
}

/**
 * Removes the socket of a process that was killed. Two processes may have found it dead, and the later one must not remove
 * the socket on which the earlier one listens by then. So one process at a time removes it, after asking once more.
 */
export async function takeOut(socket: string): Promise<void> {
  const turn = `${socket}.turn`;
  await takeTurn(turn);
  try {
    if (!(await answers(socket))) await rm(socket, { force: true });
  } finally {
    await rm(turn, { force: true });
  }
}

async function takeTurn(turn: string): Promise<void> {
  for (const until = performance.now() + TURN_MS; ; await wait(LOOK_AGAIN_MS)) {
    try {
      return await (await open(turn, 'wx', 0o600)).close();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    // left by one that was killed in its turn
    if (performance.now() > until) await rm(turn, { force: true });
  }
}

async function listenOn(path: string): Promise<FileLock> {
  const server: Server = createServer((caller) => caller.destroy());
  server.listen(path);
  await once(server, 'listening');
  server.unref();
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const caller = connect(path, () => resolve(true));
    caller.once('error', () => resolve(false));
    caller.once('close', () => resolve(false));
  });
}
