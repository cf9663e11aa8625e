import { withoutMark } from '../wire/byte-order-mark.js';
import { WireError } from '../wire/errors.js';
import { createReader } from '../wire/json/reader.js';
import { compileWatchTree } from '../wire/json/watch-tree.js';

const NOTHING_WATCHED = compileWatchTree({});

/**
 * What is wrong with a text that `JSON.parse` has refused, and where. V8's own message quotes the text, and a client's
 * content must not get into logs and answers.
 */
export function jsonFault(text: Buffer): string {
  if (text.length === 0) return 'it is empty';
  if (withoutMark(text) !== text) return 'it begins with a byte order mark';
  let fault: string | undefined;
  let count = 0;
  const reader = createReader('json', {
    tree: NOTHING_WATCHED,
    handler: {
      message: ({ malformed }) => {
        count += 1;
        if (count > 1) fault ??= 'something follows its first value';
        if (malformed) fault ??= `${malformed.reason} at byte ${malformed.offset}`;
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
