import { jsonIn } from '../../json/text.js';
import { isObject } from '../../json/value.js';
import type { SharedConnection } from '../../ports/upstream.js';
import { isSpace, OPEN_ARRAY, OPEN_OBJECT } from '../../wire/json/chars.js';
import { BEGINNING_BYTES, beginningOf } from '../upstream/beginning.js';
import type { ChannelDeps } from './deps.js';

const ADVICE = {
  lines:
    'The server prints to standard output what is not a message of MCP. Its clients do not get it. Let it, or the command ' +
    'that starts it, print to standard error.',
  sse: 'The server sends an event that is not a message of MCP. Its clients do not get it.',
} as const;

type NoiseDeps = Pick<ChannelDeps, 'server' | 'log' | 'fewLines' | 'metrics'>;

/** What a server writes on its channel besides messages, such as prints and JSON logs: it is counted and dropped. */
export class Noise {
  readonly #deps: NoiseDeps;
  readonly #connection: Pick<SharedConnection, 'kind' | 'pid'>;
  /** The log has a warning about this channel. Most servers that print at all print at each call. */
  #isTold = false;

  constructor(deps: NoiseDeps, connection: Pick<SharedConnection, 'kind' | 'pid'>) {
    this.#deps = deps;
    this.#connection = connection;
  }

  /** @param bytes of the whole, as far as they are known */
  note(beginning: Buffer, bytes = beginning.length): void {
    const { server, log, fewLines, metrics } = this.#deps;
    const { kind, pid } = this.#connection;
    metrics.count('wharf_dropped_messages_total', { server, reason: 'no_message' });
    const level = this.#isTold ? 'debug' : 'warn';
    const leftOut = fewLines.take(`${level} noise ${server}`);
    if (!leftOut) return;
    this.#isTold = true;
    const fields = { pid, bytes, line: shown(beginning), ...leftOut };
    if (level === 'warn') log.warn(fields, ADVICE[kind]);
    else log.debug(fields, 'the server wrote something that is not a message');
  }
}

/** Names of members that a line of the log repeats. */
const MOST_NAMES = 10;

/**
 * What the log repeats. JSON may be a message that has gone wrong, with what a caller has sent: of that only the names of its
 * members, by which an operator knows a logger. Any other text is the server's own words, as those on standard error are.
 */
function shown(beginning: Buffer): string | undefined {
  const first = beginning.find((byte) => !isSpace(byte));
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return beginningOf(beginning);
  if (beginning.length >= BEGINNING_BYTES) return undefined;
  const value = jsonIn(beginning.toString('utf8'));
  if (!isObject(value)) return undefined;
  const names = Object.keys(value);
  return beginningOf(
    Buffer.from(`{${names.slice(0, MOST_NAMES).join(', ')}${names.length > MOST_NAMES ? ', …' : ''}}`),
  );
}
