import type { JsonPath } from '../ports/json.js';
import type { HeldMessage } from '../wire/json/reader.js';
import { type Edit, rangeAt, replaceRange } from './edits.js';
import type { MessageCuts } from './message-cuts.js';
import { RANGE } from './slots.js';
import type { Addressee } from './to-client.js';

/** One answer of a message on its way to the client, complete and with all that was cut out of it settled. */
export interface EditableAnswer {
  message: HeldMessage;
  cuts: MessageCuts;
  /** Where it stands: nothing, or its index in a batch. */
  base: JsonPath;
  to: Addressee;
}

/** Whatever is thrown becomes the answer's error. */
export type AnswerEdit = (answer: EditableAnswer) => Edit[] | Promise<Edit[]>;

const QUOTE = 0x22;
const COLON = 0x3a;
const SPACE = 0x20;

/** Makes an error of a result, or the reverse: the other key, and a value for it. */
export function replaceOutcome(
  { message, base }: Pick<EditableAnswer, 'message' | 'base'>,
  to: 'result' | 'error',
  json: string,
): Edit[] {
  const same = rangeAt(message, RANGE[to], [...base, to]);
  if (same) return [replaceRange(same, json)];
  const from = to === 'result' ? 'error' : 'result';
  const range = rangeAt(message, RANGE[from], [...base, from]);
  if (!range) return [];
  return [replaceRange({ start: keyBefore(message, range.start), end: range.end }, `"${to}":${json}`)];
}

/** Where the key of the value at `start` begins, however it is spelled: a key on the watch tree holds no quote. */
function keyBefore(message: HeldMessage, start: number): number {
  let at = start - 1;
  const skip = () => {
    while (byteAt(message, at) <= SPACE) at -= 1;
  };
  skip();
  if (byteAt(message, at) !== COLON) throw new Error('no key before a value');
  at -= 1;
  skip();
  at -= 1;
  while (byteAt(message, at) !== QUOTE) at -= 1;
  return at;
}

function byteAt(message: HeldMessage, at: number): number {
  if (at < 0) throw new Error('no key before a value');
  return message.slice(at, at + 1)[0] as number;
}
