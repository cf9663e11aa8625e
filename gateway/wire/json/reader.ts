import { LineReader } from '../lines.js';
import { SseReader } from '../sse/parse.js';
import type { MessageReader, ReaderOptions } from './handler.js';
import { JsonReader } from './json-reader.js';

export { withoutMark } from '../byte-order-mark.js';
export { MAX_CAPTURE } from './collector.js';
export type { MessageHandler, MessageReader, ReaderOptions, SlotSink } from './handler.js';
export {
  type Capture,
  countedBytes,
  type HeldEdit,
  HeldMessage,
  type SlotValue,
  type WatchRange,
} from './held-message.js';

/**
 * Reads a body message by message.
 * - `json`: one value, or several with whitespace between them
 * - `sse`: one message per frame
 * - `lines`: one message per line (stdio)
 */
export function createReader(kind: 'json' | 'sse' | 'lines', options: ReaderOptions): MessageReader {
  switch (kind) {
    case 'json':
      return new JsonReader(options);
    case 'sse':
      return new SseReader(options);
    case 'lines':
      return new LineReader(options);
  }
}
