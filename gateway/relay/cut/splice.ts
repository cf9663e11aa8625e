import { GatewayError } from '../../errors.js';
import type { Library } from '../../files/library.js';
import type { Edit } from '../../json/edits.js';
import { addAll } from '../../wire/add-all.js';
import { Base64Encoder } from '../../wire/base64/encode.js';
import { ByteStore } from '../../wire/json/byte-store.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import { Cut, type PutBack } from './cut.js';
import { NestedCuts } from './nested-cuts.js';

/** A stretch of an outgoing message: bytes, or a file written back as base64 while it is read. */
export type Piece = Buffer | (() => AsyncIterable<Buffer>);

/**
 * The message with its edits: every byte outside them as it came. Strings that stayed inline are in their places
 * again, and so are those that left memory but turned out to be nobody's file.
 * @param keyOf where bytes of this digest are kept since they have become a file; their first object may be gone
 * @throws GatewayError `spool_full` when a string's own spelling is lost
 */
export function splice(
  message: HeldMessage,
  edits: readonly Edit[],
  library: Library,
  keyOf: (digest: string) => string | undefined,
  signal: AbortSignal,
): Piece[] {
  const pieces: Piece[] = [];
  const whole = (cut: Cut): readonly Piece[] => {
    if (cut.inline) return cut.inline;
    const back = cut.putBack();
    if (!back) throw lost(cut.value.path);
    const key = keyOf(back.stored.digest) ?? back.stored.key;
    return [() => encodeAgain(library, key, back.how, signal)];
  };
  for (const part of message.render([...edits])) {
    if (Buffer.isBuffer(part)) {
      pieces.push(part);
      continue;
    }
    const { attachment } = part;
    if (attachment instanceof Cut) addAll(pieces, whole(attachment));
    else if (attachment instanceof NestedCuts) {
      for (const inner of attachment.parts) {
        if (inner instanceof ByteStore) addAll(pieces, inner.pieces());
        else if (inner.replacement) pieces.push(inner.replacement);
        else addAll(pieces, whole(inner.cut));
      }
    } else throw lost(part.path);
  }
  return pieces;
}

function lost(path: readonly (string | number)[]): Error {
  return new Error(`the string at ${path.join('/')} was lost`);
}

async function* encodeAgain(library: Library, key: string, how: PutBack, signal: AbortSignal): AsyncGenerator<Buffer> {
  yield how.head;
  if (how.canonicalBytes > 0) {
    const read = await library.read(key, signal, { start: 0, end: how.canonicalBytes - 1 });
    if (read.kind !== 'found') throw new GatewayError('store_unavailable');
    const encoder = new Base64Encoder();
    for await (const chunk of read.body) yield encoder.push(chunk as Buffer);
    yield encoder.finish();
  }
  yield* how.spelling;
}
