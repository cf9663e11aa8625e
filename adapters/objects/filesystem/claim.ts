import { lstat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { socketPath } from '../../../gateway/socket-path.js';
import { errnoOf } from './writer.js';

const NAME = 'in-use.sock';

/** How long a process that holds a folder may take to say its name. One that is stopped holds it all the same. */
const WAIT_MS = 1000;
const LONGEST_NAME = 200;

/** Connections that ask at one time. */
const MOST_ASKING = 8;

interface Claim {
  /** The process that has the folder already; undefined: none, as far as that can be known. */
  holder?: string;
  release(): Promise<void>;
}

/**
 * Takes a folder for this process, until it ends. It is a socket that listens, because the system ends that with its
 * process, also after SIGKILL; an id in a file may be that of another process after a restart, and is 1 in each container.
 * Where no socket can be made, as on a network's disk, nothing is known.
 */
export async function claimFolder(folder: string): Promise<Claim> {
  const path = socketPath(folder, NAME);
  if (path === undefined) return { release: async () => {} };
  let server: Server | 'taken' | 'unknown' = 'taken';
  // asked first: a pipe of Windows may have several that listen
  for (let tries = 0; tries < 2 && server === 'taken'; tries++) {
    const holder = await holderAt(path);
    if (holder !== undefined) return { holder, release: async () => {} };
    server = await listenAt(path);
  }
  if (typeof server === 'string') return { release: async () => {} };
  const held = server;
  // closing it removes the socket's file
  return { release: () => new Promise((resolve) => held.close(() => resolve())) };
}

function listenAt(path: string): Promise<Server | 'taken' | 'unknown'> {
  return new Promise((resolve) => {
    const server = createServer((asking) => {
      asking.on('error', () => asking.destroy());
      // at once: an asking process that is stopped would keep the store from closing
      asking.end(`process ${process.pid} on ${hostname()}`, () => asking.destroy());
    });
    server.maxConnections = MOST_ASKING;
    server.once('error', (error) => resolve(errnoOf(error) === 'EADDRINUSE' ? 'taken' : 'unknown'));
    server.listen(path, () => resolve(server));
    server.unref();
  });
}

/** Removes what a process has left that was killed. @returns undefined if no process listens there */
async function holderAt(path: string): Promise<string | undefined> {
  const asked = connect(path);
  try {
    return await nameOf(asked);
  } catch (error) {
    const isLeft = errnoOf(error) === 'ECONNREFUSED' && (await lstat(path).catch(() => undefined))?.isSocket();
    if (isLeft) await unlink(path).catch(() => undefined);
    return undefined;
  } finally {
    asked.destroy();
  }
}

function nameOf(asked: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let name = '';
    const end = () => resolve(name.slice(0, LONGEST_NAME) || 'another process');
    asked.setEncoding('utf8').setTimeout(WAIT_MS, end);
    asked.on('data', (text: string) => {
      name += text;
      if (name.length >= LONGEST_NAME) end();
    });
    asked.once('end', end);
    asked.once('error', reject);
  });
}
