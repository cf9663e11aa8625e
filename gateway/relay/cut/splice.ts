import { GatewayError } from '../../errors.js';
import type { StoredObject } from '../../files/file.js';
import type { Library } from '../../files/library.js';
import type { Span } from '../../json/edit.js';
import type { Piece } from '../../json/written.js';
import type { JsonPath } from '../../ports/json.js';
import { addAll } from '../../wire/add-all.js';
import { Base64Encoder } from '../../wire/base64/encode.js';
import { ByteStore } from '../../wire/json/byte-store.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import { Cut, type PutBack } from './cut.js';
import { TextParts } from './text-parts.js';

/** Where the bytes of strings that left memory are. */
interface Spliced {
  library: Library;
  /** Key of the object with these bytes, by digest, if they have become a file; their first object may be gone. */
  keyOf: (digest: string) => string | undefined;
  signal: AbortSignal;
  /** True where only the bytes matter: a stored file may be spelled otherwise than it came. */
  anySpelling?: boolean;
}

/**
 * The message with its edits, in order; every other byte is unchanged. Strings that stayed inline are back in their places, and
 * so are strings that left memory but turned out not to be files.
 * @throws GatewayError `spool_full` when a string's own spelling is lost
 */
export function splice(
  message: HeldMessage,
  spans: readonly Span[],
  { library, keyOf, signal, anySpelling }: Spliced,
): Piece[] {
  const out: Piece[] = [];
  const whole = (cut: Cut): readonly Piece[] => {
    if (cut.inline) return cut.inline;
    const back = (anySpelling && canonically(cut)) || cut.putBack();
    if (!back) throw lost(cut.value.path);
    const { stored } = back;
    const key = keyOf(stored.digest) ?? stored.key;
    const file = key === stored.key ? stored : { key, size: stored.size };
    return [() => encodeAgain(library, file, back.how, signal)];
  };
  // whatever is written into a message on its way to the client is in memory
  const held = ({ start, end, pieces }: Span) => ({ start, end, bytes: inOne(pieces as readonly Buffer[]) });
  for (const part of message.render(spans.map(held))) {
    if (Buffer.isBuffer(part)) {
      out.push(part);
      continue;
    }
    const { attachment } = part;
    if (attachment instanceof Cut) addAll(out, whole(attachment));
    else if (attachment instanceof TextParts) {
      for (const [index, inner] of attachment.parts.entries()) {
        if (inner instanceof ByteStore) addAll(out, beforeNext(inner, attachment.parts[index + 1]));
        else if (inner.replacement) out.push(inner.replacement);
        else addAll(out, whole(inner.cut));
      }
    } else throw lost(part.path);
  }
  return out;
}

/** A text with what replaces its strings, in the spelling of its message, if all of that is in memory. */
export function replacedText({ parts }: TextParts): readonly Buffer[] | undefined {
  const out: Buffer[] = [];
  for (const [index, part] of parts.entries()) {
    const pieces =
      part instanceof ByteStore
        ? beforeNext(part, parts[index + 1])
        : part.replacement
          ? [part.replacement]
          : part.cut.inline;
    if (!pieces) return undefined;
    addAll(out, pieces);
  }
  return out;
}

function inOne(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
}

/** A part of a text, without the head of the `data:` URI behind it that is replaced. */
function beforeNext(part: ByteStore, next: TextParts['parts'][number] | undefined): readonly Buffer[] {
  if (!next || next instanceof ByteStore || !next.replacement || next.head === 0) return part.pieces();
  return [part.slice(0, part.size - next.head)];
}

function canonically({ stored }: Cut): ReturnType<Cut['putBack']> {
  return stored && { stored, how: { head: Buffer.alloc(0), canonicalBytes: stored.size, spelling: [] } };
}

function lost(path: JsonPath): Error {
  return new Error(`the string at ${path.join('/')} was lost`);
}

async function* encodeAgain(
  library: Library,
  file: StoredObject,
  how: PutBack,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  yield how.head;
  if (how.canonicalBytes > 0) {
    const read = await library.read(file, signal, { start: 0, end: how.canonicalBytes - 1 });
    if (read.kind !== 'found') throw new GatewayError('store_unavailable');
    const encoder = new Base64Encoder();
    for await (const chunk of read.body) yield encoder.push(chunk as Buffer);
    yield encoder.finish();
  }
  yield* how.spelling;
}
