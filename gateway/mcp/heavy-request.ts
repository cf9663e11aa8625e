import { breathe } from '../budget/turn.js';
import { GatewayError, tooDeep } from '../errors.js';
import { faultAtBegin, faultIn, SECOND_VALUE } from '../json/fault.js';
import type { Limits } from '../policy/limits.js';
import type { JsonValue } from '../ports/json.js';
import type { Owner } from '../ports/owner.js';
import { inkAt } from '../wire/blank.js';
import { WireError } from '../wire/errors.js';
import { parseJson } from '../wire/json/parse.js';
import { plainText } from '../wire/json/plain-text.js';
import { createReader, type WatchRange } from '../wire/json/reader.js';
import { compileWatchTree, type WatchNode } from '../wire/json/watch-tree.js';
import { JUDGED_KEYS, refuseOtherLetters } from './ambiguous.js';
import { invalid, oddMethod, type ReadMessage, refuseLongBatch, refuseOddId, refuseOddParams } from './read-message.js';

/** Bytes read in one step: some milliseconds, whatever their content. */
const STEP = 64 * 1024;

const QUOTE = 0x22;
/** Of `null`. */
const NULL = 0x6e;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/** The parts of a request's parameters that Wharf reads, whatever its method; only `arguments` may be large. */
const MEMBERS = [
  '_meta',
  'capabilities',
  'clientInfo',
  'digest',
  'inputResponses',
  'mimeType',
  'name',
  'protocolVersion',
  'requestId',
  'requestState',
  'size',
  'task',
  'taskId',
  'uri',
] as const;

const PART = {
  message: 'message',
  id: 'id',
  method: 'method',
  member: 'member',
  args: 'args',
  params: 'params',
  /** A member of which only the key matters. */
  other: 'other',
} as const;

const OTHER: WatchNode = { watch: PART.other };

const TREE = compileWatchTree({
  watch: PART.message,
  keys: {
    // so that a repeated one is noticed
    ...emptied(JUDGED_KEYS.message),
    id: { watch: PART.id },
    method: { watch: PART.method },
    params: {
      watch: PART.params,
      keys: {
        ...Object.fromEntries(MEMBERS.map((name) => [name, { watch: PART.member }])),
        arguments: { watch: PART.args },
        _meta: { watch: PART.member, keys: emptied(JUDGED_KEYS.meta), others: OTHER },
      },
      others: OTHER,
    },
  },
  others: OTHER,
});

function emptied(keys: readonly string[]): Record<string, WatchNode> {
  return Object.fromEntries(keys.map((key) => [key, {}]));
}

/**
 * Reads a body with very many values in steps, and creates only those that Wharf needs. From four megabytes of `[],[],`
 * V8 makes 60 MB, and serves no other client for more than a second.
 * @throws GatewayError `json_malformed`, `too_deep`, `batch_too_long`, `request_invalid`
 */
export async function readHeavy(
  bytes: Buffer,
  limits: Pick<Limits, 'depth' | 'values' | 'batch'>,
  owner?: Owner,
): Promise<{ messages: ReadMessage[]; isBatch: boolean }> {
  const parts = new Parts(bytes, limits);
  const reader = createReader('json', {
    tree: TREE,
    maxDepth: limits.depth,
    handler: {
      closed: (range, message) => {
        parts.take(range);
        message.forgetRange();
      },
      held: (_delta, { duplicates: [duplicate] }) => {
        // JSON parsers differ on which of two equal keys counts
        if (duplicate) throw invalid(`the object at ${duplicate.path || 'the top'} names "${duplicate.key}" twice`);
      },
      message: ({ malformed }) => parts.endValue(malformed && faultIn(malformed)),
    },
  });
  try {
    for (let at = 0; at < bytes.length; at += STEP) {
      reader.feed(bytes.subarray(at, at + STEP));
      await breathe(owner);
    }
    reader.end();
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    if (error.code === 'depth') throw tooDeep(limits.depth, error);
    throw malformed(bytes, error.message, error);
  }
  return parts;
}

/** Collects the messages of one body. */
class Parts {
  readonly messages: ReadMessage[] = [];
  readonly isBatch: boolean;
  readonly #bytes: Buffer;
  readonly #limits: Pick<Limits, 'values' | 'batch'>;
  /** Bytes before the value; ranges count from its first byte. */
  readonly #before: number;
  #current: ReadMessage = nothingYet();
  /** First byte of the current id. */
  #idBegins = 0;
  #isOver = false;

  constructor(bytes: Buffer, limits: Pick<Limits, 'values' | 'batch'>) {
    this.#bytes = bytes;
    this.#limits = limits;
    this.#before = inkAt(bytes);
    this.isBatch = bytes[this.#before] === OPEN_ARRAY;
  }

  /** Takes a complete part; a message comes after its parts. */
  take(range: WatchRange): void {
    const text = this.#bytes.subarray(this.#before + range.start, this.#before + range.end);
    const current = this.#current;
    switch (range.name) {
      case PART.id:
        this.#idBegins = text[0] as number;
        // an id that is an array or object is not that of a request
        current.id = plainText(text.toString('utf8', 0, isScalar(text) ? text.length : 1));
        return;
      case PART.method:
        if (text[0] === QUOTE) current.method = JSON.parse(text.toString('utf8')) as string;
        else if (text[0] !== NULL) throw oddMethod();
        return;
      case PART.member:
        this.#member(String(range.path.at(-1)), text, range.values);
        return;
      case PART.other:
        this.#refuseOtherLetters(range);
        return;
      case PART.params:
        if (text[0] !== OPEN_OBJECT) refuseOddParams(text[0] as number);
        return;
      case PART.args:
        if (text[0] === OPEN_OBJECT) current.heavyArguments = text;
        else this.#member('arguments', text, range.values);
        return;
      default:
        if (text[0] !== OPEN_OBJECT) throw invalid('a message is not a JSON object');
        if (current.method !== undefined && current.id !== undefined) refuseOddId(this.#idBegins);
        this.messages.push(current);
        this.#current = nothingYet();
        refuseLongBatch(this.messages.length, this.#limits);
    }
  }

  /** The top-level value is complete; there must be exactly one. */
  endValue(fault: string | undefined): void {
    if (this.#isOver) throw malformed(this.#bytes, SECOND_VALUE);
    if (fault !== undefined) throw malformed(this.#bytes, fault);
    this.#isOver = true;
  }

  #refuseOtherLetters({ path }: WatchRange): void {
    const own = (this.isBatch ? path.slice(1) : path) as string[];
    refuseOtherLetters(own.at(-1) as string, own.slice(0, -1));
  }

  #member(name: string, text: Buffer, values: number): void {
    const { values: most } = this.#limits;
    if (values > most) throw invalid(`params.${name} has ${values} values, and limits.values is ${most}`);
    this.#current.params[name] = parseJson(text.toString('utf8')) as JsonValue;
  }
}

function isScalar([first]: Buffer): boolean {
  return first !== OPEN_OBJECT && first !== OPEN_ARRAY;
}

function nothingYet(): ReadMessage {
  return { id: undefined, method: undefined, params: {} };
}

/** Of a fault that has been met: to look for it again takes as long as all else, 0.1 s for four megabytes, in one step. */
function malformed(bytes: Buffer, reason: string, cause?: unknown): GatewayError {
  return new GatewayError('json_malformed', { reason: faultAtBegin(bytes) ?? reason }, cause);
}
