import { GatewayError } from '../../../errors.js';
import { mayHoldWord } from '../../../json/may-hold-word.js';
import { isObject } from '../../../json/value.js';
import { RANGE, rangeAt } from '../../../mcp/ranges.js';
import { contrast } from '../../../policy/amounts.js';
import type { Limits } from '../../../policy/limits.js';
import type { JsonObject, JsonPatch, JsonValue } from '../../../ports/json.js';
import { parseJson } from '../../../wire/json/parse.js';
import { weigh } from '../../../wire/json/weigh.js';
import type { EditableAnswer } from '../../pending-request.js';
import { MOST_QUESTIONS } from '../rounds/wants-input.js';

export const INPUT_REQUESTS = 'inputRequests';

/** What is read of a task's questions. */
type QuestionLimits = Pick<Limits, 'depth' | 'values'>;

/** What the client of a task is to see instead of its server's own questions. */
export interface ShownTask {
  /** What it is asked; empty where it can only wait. */
  requests: JsonObject;
  /** What it waits for, where the server cannot know. */
  waitsFor?: string | undefined;
}

/** Whether a message may be about a task that wants input. */
export function mayBeTask(message: Buffer): boolean {
  return mayHoldWord(message, INPUT_REQUESTS);
}

/** The questions of a task in an answer about it; undefined where there are none. @throws GatewayError `upstream_invalid` */
export function questionsIn({ message, base }: EditableAnswer, limits: QuestionLimits): JsonObject | undefined {
  const range = rangeAt(message, RANGE.inputRequests, [...base, 'result', INPUT_REQUESTS]);
  if (!range) return undefined;
  refuseTwice(message.duplicates);
  return readQuestions(message.slice(range.start, range.end), limits);
}

/** JSON parsers take the last of several members, and readers of a text the first. @throws GatewayError `upstream_invalid` */
export function refuseTwice(duplicates: readonly { key: string }[]): void {
  const twice = duplicates.find(({ key }) => WATCHED.has(key));
  if (twice) throw new GatewayError('upstream_invalid', { reason: `it names "${twice.key}" of a task twice` });
}

const WATCHED = new Set(['result', 'params', INPUT_REQUESTS, 'status', 'statusMessage', 'taskId']);

/**
 * What a task asks, read.
 * @throws GatewayError `upstream_invalid` for what is too much, and could show the client an address of the server's
 */
export function readQuestions(json: Buffer, limits: QuestionLimits): JsonObject | undefined {
  // a request to the model may have long images
  if (json.length > MOST_QUESTIONS || weigh(json, limits) !== 'light') {
    if (!mayHoldWord(json, 'elicitation')) return undefined;
    const { allowed, actual } = contrast(MOST_QUESTIONS, json.length);
    const excess = json.length > MOST_QUESTIONS ? `${allowed}: ${actual}` : `limits.values = ${limits.values} values`;
    throw new GatewayError('upstream_invalid', { reason: `its task asks for input with more than ${excess}` });
  }
  const requests = parseJson(json.toString('utf8')) as JsonValue;
  return isObject(requests) ? requests : undefined;
}

/** The changes of a task that show it so. A task that its client can only wait for works, as far as the client sees. */
export function changesOf({ requests, waitsFor }: ShownTask): JsonPatch[] {
  if (Object.keys(requests).length > 0) return [{ path: [INPUT_REQUESTS], value: requests }];
  return [
    { path: [INPUT_REQUESTS], value: undefined },
    { path: ['status'], value: 'working' },
    ...(waitsFor === undefined ? [] : [{ path: ['statusMessage'], value: waitsFor }]),
  ];
}
