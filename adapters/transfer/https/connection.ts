import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { type JoiningBody, pushJoined } from '../../../gateway/budget/short-chunks.js';
import type { Target } from '../../../gateway/policy/addresses.js';
import { connectionFailure, failed } from './failure.js';
import { pinnedLookup } from './resolve.js';
import type { Run } from './run.js';

/** Most bytes of an answer's head. */
const HEAD_BYTES = 32 * 1024;

/** Answers before the answer (103, and others of its class): servers send one or two, and nothing else would end them. */
const MOST_INTERIM = 32;

/** How long one address is tried before the next; node's 250 ms are too short for far ones. */
const ATTEMPT_MS = 1000;

interface Call {
  target: Target;
  /** The judged addresses. Only these are connected to. */
  addresses: readonly string[];
  method: 'GET' | 'PUT' | 'POST';
  /** Names and values alternating, without Host. */
  headers: string[];
  run: Run;
  /** True while the delay is not the peer's. */
  isWaiting(): boolean;
  /** Called once connected: writes the body and ends the request. */
  write(request: ClientRequest): void;
}

/**
 * Requests over node:http, each on a connection of its own: a connection pinned for one transfer is never used for
 * another. Redirects are returned like any other answer.
 */
export class Connections {
  readonly #ca: string | undefined;
  readonly #plain = new HttpAgent({ keepAlive: false });
  // without remembered sessions, every connection shows its certificate
  readonly #secure = new HttpsAgent({ keepAlive: false, maxCachedSessions: 0 });

  /** @param ca certificates to trust instead of the system's, PEM */
  constructor(ca: string | undefined) {
    this.#ca = ca;
  }

  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }

  /** Resolves with the head of the answer. Its body fails like this promise: with the error of `connectionFailure`. */
  send(call: Call): Promise<IncomingMessage> {
    const { target, run } = call;
    return new Promise((resolve, reject) => {
      run.signal.throwIfAborted();
      let answer: IncomingMessage | undefined;
      const request = this.#request(call);
      const abort = (): void => {
        (answer ?? request).destroy(asError(run.signal.reason));
      };
      run.signal.addEventListener('abort', abort);
      request.on('socket', (socket) => {
        socket.once(target.secure ? 'secureConnect' : 'connect', () => {
          run.connected();
          watchSilence(socket, run, call.isWaiting);
          call.write(request);
        });
      });
      let interim = 0;
      request.on('information', () => {
        if (++interim > MOST_INTERIM) run.stop(failed(target.authority, 'it does not come to its answer'));
      });
      request.on('response', (response) => {
        answer = response;
        joinShortChunks(response);
        // its reader gets the errors; one that comes before there is a reader must not end the process
        response.on('error', () => undefined);
        resolve(response);
      });
      request.on('error', (error) => {
        // Before node tells its parser that the connection has closed: for a body without a length, that would make a
        // reset look like the end.
        if (answer !== undefined && !answer.complete) answer.destroy(error);
        reject(connectionFailure(target.authority, error, run.signal));
      });
      request.on('close', () => {
        run.signal.removeEventListener('abort', abort);
        reject(connectionFailure(target.authority, { code: 'ECONNRESET' }, run.signal));
      });
    });
  }

  #request({ target, addresses, method, headers }: Call): ClientRequest {
    const options = {
      host: target.host,
      port: target.port,
      method,
      path: target.path,
      headers: ['Host', target.authority, ...headers],
      lookup: pinnedLookup(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
      maxHeaderSize: HEAD_BYTES,
    };
    if (!target.secure) return httpRequest({ ...options, agent: this.#plain });
    const trust = this.#ca === undefined ? {} : { ca: this.#ca };
    // explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect on hosts that a peer names
    return httpsRequest({ ...options, ...trust, agent: this.#secure, rejectUnauthorized: true });
  }
}

/** Before its first chunk: node makes the answers to requests of a class that cannot be chosen. */
function joinShortChunks(answer: IncomingMessage & Pick<JoiningBody, 'waiting'>): void {
  const push = answer.push.bind(answer);
  answer.push = (chunk: Buffer | null) => pushJoined(answer, chunk, push);
}

/** Bytes in either direction restart the time-out, and so does a wait that is not the peer's fault. */
function watchSilence(socket: Socket, run: Run, isWaiting: () => boolean): void {
  socket.setTimeout(run.idleMs);
  socket.on('timeout', () => {
    if (isWaiting()) socket.setTimeout(run.idleMs);
    else run.idle();
  });
}

/** A signal may abort with any value; a stream can only be destroyed with an Error. */
export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('the transfer was given up', { cause: reason });
}
