import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { Patience, type Wait } from '../../gateway/budget/patience.js';
import { Frames } from './redis-frames.js';

/**
 * After this many time-outs without the answer to a command, a connection is given up. A paused Redis could be waited for,
 * but a connection whose peer vanished looks the same, and every command sent to it stays queued in memory: also where
 * answers come, but more slowly than commands do.
 */
const TIMEOUTS_BEFORE_RECONNECT = 4;

/** The year 2001: no clock in use says less. */
const LEAST_SECONDS = 1_000_000_000;

/** What the answer to a command looks like. One that looks otherwise belongs to another command. */
export const ANSWER = {
  written: (answer: unknown) => answer === 'OK',
  mayBeWritten: (answer: unknown) => answer === 'OK' || answer === null,
  value: (answer: unknown) => typeof answer === 'string' || answer === null,
  text: (answer: unknown) => typeof answer === 'string',
  count: (answer: unknown) => typeof answer === 'number',
  tally: (answer: unknown) =>
    Array.isArray(answer) && typeof answer[0] === 'number' && typeof answer[1] === 'string' && answer.length === 3,
  /** Some servers that speak Redis's protocol give its numbers as such. */
  time: (answer: unknown) =>
    Array.isArray(answer) &&
    answer.length === 2 &&
    answer.every((part) => /^\d{1,15}$/.test(String(part))) &&
    // by a clock that was never set, nothing would ever expire
    Number(answer[0]) >= LEAST_SECONDS,
};

/**
 * Finds out whether answers still come, and still belong to their commands. What stands between may drop a command without
 * ending the connection; from then on each answer would be taken for that of an earlier command, and be of another caller's
 * key.
 * @param stepMs what a command's answer may take
 * @param handshakeMs how long each answer may take before a new connection is ready
 * @returns `look`: after a command without an answer; gives up a connection that is silent, or whose answers have shifted.
 * `giveUp`: after an answer that is another command's
 */
export function watchAnswers(
  client: Redis,
  { stepMs, handshakeMs }: { stepMs: number; handshakeMs: number },
): { look: () => void; giveUp: () => Error } {
  const answered = sift(client);
  watchHandshakes(client, handshakeMs, answered);
  // of these time-outs, one has passed before a look begins
  const patience = new Patience((TIMEOUTS_BEFORE_RECONNECT - 1) * stepMs);
  let isLooking = false;
  const look = () => {
    const { stream } = client;
    if (isLooking || client.status !== 'ready') return;
    isLooking = true;
    const sent = randomUUID();
    const silent = () => {
      const error = silence(TIMEOUTS_BEFORE_RECONNECT * stepMs);
      stream.destroy(error);
      return error;
    };
    patience
      .within(client.ping(sent), silent)
      .then((answer) => answer !== sent && client.disconnect(true))
      .catch(() => undefined)
      .finally(() => {
        isLooking = false;
      });
  };
  const giveUp = () => {
    const error = new Error('Redis has given an answer that is not one to this command.');
    client.stream.destroy(error);
    return error;
  };
  return { look, giveUp };
}

/**
 * Lets the library see nothing but answers, and no more of them than it waits for: it throws outside of every call, and so
 * ends the process, at an answer to nothing that is null, and at what it cannot read of what Redis sends by itself. Wharf
 * asks for nothing of that kind.
 * @returns how many answers have come on the connection of now
 */
function sift(client: Redis): () => number {
  let answers = 0;
  client.on('connect', () => {
    const { stream } = client;
    const frames = new Frames();
    answers = 0;
    const read = stream.listeners('data') as ((bytes: Buffer) => void)[];
    stream.removeAllListeners('data');
    stream.on('data', (bytes: Buffer) => {
      try {
        const { ended, parts } = frames.read(bytes);
        if (ended > client.commandQueue.length) throw new Error('Redis has sent an answer to nothing.');
        answers += ended;
        for (const part of parts) for (const one of read) one(part);
      } catch (error) {
        stream.destroy(error as Error);
      }
    });
  });
  return () => answers;
}

/**
 * The library waits for ever for the first answers on a connection that was accepted, and no command can be sent meanwhile:
 * a balancer accepts connections to a Redis that has gone. One that still loads its data set answers that it does. Bytes that
 * come are not enough: an answer of 7 KB, a byte now and then, takes hours.
 */
function watchHandshakes(client: Redis, ms: number, answered: () => number): void {
  const patience = new Patience(ms);
  let wait: Wait | undefined;
  const end = () => {
    if (wait) patience.end(wait);
    wait = undefined;
  };
  const begin = () => {
    const { stream } = client;
    const before = answered();
    wait = patience.begin(() => {
      if (answered() === before) stream.destroy(silence(ms));
      else begin();
    });
  };
  client.on('connect', begin);
  client.on('ready', end);
  client.on('close', end);
}

function silence(ms: number): Error {
  return new Error(`Redis did not answer within ${ms} ms.`);
}
