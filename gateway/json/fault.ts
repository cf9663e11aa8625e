import { withoutMark } from '../wire/byte-order-mark.js';
import { WireError } from '../wire/errors.js';
import { createReader } from '../wire/json/reader.js';
import { compileWatchTree } from '../wire/json/watch-tree.js';

/** Of a text that should be one value. */
export const SECOND_VALUE = 'something follows its first value';

const NOTHING_WATCHED = compileWatchTree({});

/**
 * What is wrong with a text that `JSON.parse` has refused, and where. V8's own message quotes the text, and a client's
 * content must not get into logs and answers.
 */
export function jsonFault(text: Buffer): string {
  const atBegin = faultAtBegin(text);
  if (atBegin !== undefined) return atBegin;
  let fault: string | undefined;
  let count = 0;
  const reader = createReader('json', {
    tree: NOTHING_WATCHED,
    handler: {
      message: ({ malformed }) => {
        count += 1;
        if (count > 1) fault ??= SECOND_VALUE;
        if (malformed) fault ??= faultIn(malformed);
      },
    },
  });
  try {
    reader.feed(text);
    reader.end();
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    fault ??= error.message;
  }
  return fault ?? 'it holds no value';
}

/** What is wrong with the first bytes of a text, if anything is. */
export function faultAtBegin(text: Buffer): string | undefined {
  if (text.length === 0) return 'it is empty';
  return withoutMark(text) === text ? undefined : 'it begins with a byte order mark';
}

/** What a reader has found, in words. */
export function faultIn({ reason, offset }: { reason: string; offset: number }): string {
  return `${reason} at byte ${offset}`;
}
