import type { Redis, RedisOptions } from 'ioredis';
import { adviceOnCertificate, adviceOnConnection } from '../../gateway/errors/system.js';
import type { StateStoreDeps } from '../../gateway/ports/state-store.js';
import { adviceOnLogin, adviceOnTls } from './redis-url.js';
import { adviceOnWords, advisedOn, mayBeReplaced, withoutValues } from './redis-words.js';

/** Longest pause between two attempts to reconnect: Redis is used again at most this long after it came back. */
const LONGEST_RECONNECT_PAUSE_MS = 1000;

/** Shortest time-out for a connection. Steps do not wait for it any longer than for an answer. */
const LEAST_CONNECT_MS = 2000;

/** What to do about one that was there, and is not, where nothing says why. */
const LOOK_AT_REDIS =
  'Look whether Redis runs, at its log, and at what stands between it and Wharf: a balancer may have found no primary.';

/** A connection that is lost again and again is logged so often; an outage that lasts always is. */
const QUIET_MS = 60_000;

interface Watched {
  /** Why the connection is missing. */
  notReady: () => Error;
  /** Notes why Wharf itself ends the connection. */
  because: (error: Error) => void;
  /** Called before the connection is closed on purpose, which is not logged as a loss. */
  end: () => void;
}

/** A client of Redis that reconnects by itself, and says in the log when it has lost Redis and found it again. */
interface Connection extends Omit<Watched, 'because'> {
  /** Not connected yet. */
  client: Redis;
  /** How long a new connection may take, in milliseconds. */
  connectTimeout: number;
}

/** @param scripts become methods of the client */
export async function connectionTo(
  { url, keyPrefix }: { url: string; keyPrefix: string },
  scripts: NonNullable<RedisOptions['scripts']>,
  deps: Pick<StateStoreDeps, 'timeouts' | 'log' | 'clock'>,
): Promise<Connection> {
  const { Redis: Client } = await import('ioredis');
  const connectTimeout = Math.max(deps.timeouts.state, LEAST_CONNECT_MS);
  let leftAt = Number.NEGATIVE_INFINITY;
  const client = new Client(url, {
    keyPrefix,
    scripts,
    disableClientInfo: true,
    lazyConnect: true,
    connectTimeout,
    disconnectTimeout: deps.timeouts.state,
    // With the library's defaults, commands to an unresponsive Redis stay pending for ever, and 100,000 of them take
    // 196 MiB. A refused request is better than a hanging one.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    // If a GETDEL whose answer was lost were sent again, it would return nothing, and the value would be lost.
    autoResendUnfulfilledCommands: false,
    // A Redis that loads its data set says when it expects to be ready. The library would not ask again before that.
    maxLoadingRetryTime: LONGEST_RECONNECT_PAUSE_MS,
    retryStrategy: (times) =>
      Math.min(50 * 2 ** Math.min(times, 10), LONGEST_RECONNECT_PAUSE_MS) * (0.5 + Math.random() / 2),
    // A primary that was replaced only shows it on writes: reconnect to the server that the name points to now, which
    // may yet be the same one. Each time all commands under way fail, reads as well.
    reconnectOnError: (error) => {
      const now = deps.clock.ticks();
      if (!mayBeReplaced(error) || now - leftAt < LONGEST_RECONNECT_PAUSE_MS) return false;
      leftAt = now;
      watched.because(error);
      return true;
    },
  });
  const watched = watch(client, deps, (error, why, wasReady) => {
    // a password is changed while connections are open, and counts for the next one
    const login = adviceOnLogin(url, why);
    if (login !== undefined) return { login };
    const todo = adviceOnWords({ message: why }) ?? adviceOnConnection(error);
    if (todo !== undefined) return { todo };
    // a code says by itself what has happened on the way
    if (wasReady) return Object(error).code === undefined ? { todo: LOOK_AT_REDIS } : {};
    const certificate = adviceOnCertificate(error);
    return { hint: certificate === undefined ? adviceOnTls(url, why) : `. ${certificate}` };
  });
  leaveWrongDatabase(client);
  return { client, connectTimeout, notReady: watched.notReady, end: watched.end };
}

/**
 * A Redis that refuses the database of the URL leaves the connection in database 0, among the keys of others, and the
 * library goes on there. It is closed before anything is asked, and opened again.
 */
function leaveWrongDatabase(client: Redis): void {
  client.on('error', (error: { command?: { name?: unknown } }) => {
    if (error.command?.name === 'select') client.disconnect(true);
  });
}

/**
 * Logs one line when the connection is lost and one when it is back, however many attempts lie between. A Redis that ends
 * each connection soon after it was made would fill the log: such losses are logged once a minute.
 * @param advice is added to the reason for a missing connection; `wasReady`: there was one before
 */
function watch(
  client: Redis,
  { log, clock }: Pick<StateStoreDeps, 'log' | 'clock'>,
  advice: (error: unknown, why: string, wasReady: boolean) => { login?: string; todo?: string; hint?: string },
): Watched {
  let lost = false;
  let isTold = false;
  let reason: unknown;
  let toldAt = Number.NEGATIVE_INFINITY;
  /** Losses since the last line about one. */
  let losses = 0;
  let wasReady = false;
  const why = () => {
    const told = withoutValues(reason);
    const { login, todo, hint = '' } = advice(reason, told.message, wasReady);
    if (login !== undefined) return advisedOn(told, login, 'in its text');
    told.message += hint;
    return todo === undefined ? told : advisedOn(told, todo);
  };
  const isQuiet = () => clock.ticks() - toldAt < QUIET_MS;
  const tell = () => {
    if (!isTold) {
      log.warn({ err: why(), ...(losses > 1 && { losses }) }, 'the connection to the state store is lost');
      toldAt = clock.ticks();
      losses = 0;
    }
    isTold = true;
  };
  const onClose = () => {
    // the other side may close it without a word: why it stays away is known once it was tried again
    if (!lost) losses += 1;
    if (lost || (reason !== undefined && !isQuiet())) tell();
    lost = true;
  };
  const because = (error: unknown) => {
    // what follows it on the same connection is its consequence
    reason ??= error;
  };
  client.on('error', because);
  client.on('close', onClose);
  client.on('ready', () => {
    wasReady = true;
    if (lost && (isTold || !isQuiet())) {
      tell();
      log.info({}, 'the state store can be reached again');
    }
    lost = false;
    isTold = false;
    reason = undefined;
  });
  const notReady = () => {
    const state = `The connection to Redis is "${client.status === 'ready' ? 'closing' : client.status}"`;
    // it was closed without a word, as by a balancer that has found no primary
    if (reason === undefined) return wasReady ? advisedOn(new Error(state), LOOK_AT_REDIS) : new Error(state);
    const told = why();
    told.message = `${state}: ${told.message}`;
    return told;
  };
  return { notReady, because, end: () => client.off('close', onClose) };
}
