import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.js';
import { CHECK_PATH, checkEvents, STREAM_HEADERS } from './way-check.js';

/** The header `Server` of what answers in Wharf's place. */
export const DOCTOR = 'wharf-doctor';

/** What publicUrl should lead to. */
export interface Place {
  /** What its paths of `CHECK_PATH` take; undefined if a Wharf runs there and the config has no secret to prove it. */
  token: string | undefined;
  /** Whether this process answers there, because no Wharf runs. */
  isOwn: boolean;
  close(): Promise<void>;
}

/**
 * Takes Wharf's place if it is free; otherwise Wharf runs there, as one hopes.
 * @param proof makes a token that only a Wharf with the same secret takes
 */
export async function takePlace({ listen }: Pick<Config, 'listen'>, proof: () => string | undefined): Promise<Place> {
  const token = randomBytes(16).toString('hex');
  const server = await listenFor(token, listen);
  if (!server) return { token: proof(), isOwn: false, close: async () => {} };
  return {
    token,
    isOwn: true,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function listenFor(token: string, { host, port }: Config['listen']): Promise<Server | undefined> {
  const server = createServer((request, response) => void answer(token, request, response));
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
}

async function answer(token: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url } = request;
  response.setHeader('server', DOCTOR);
  if (url === `${CHECK_PATH}/${token}/stream`) {
    response.writeHead(200, STREAM_HEADERS);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const events = checkEvents((ms) => sleep(ms, undefined, { signal: gone.signal }));
    Readable.from(events)
      .on('error', () => response.destroy())
      .pipe(response);
    return;
  }
  let size = 0;
  try {
    for await (const piece of request as AsyncIterable<Buffer>) size += piece.length;
  } catch {
    // a proxy may end a body that it has begun to send: the check hears from it why
    return;
  }
  response.end(url !== `${CHECK_PATH}/${token}` ? 'another path' : method === 'POST' ? String(size) : token);
}
