import { asksFor, encodingFacts } from '../../encodings.js';
import { GatewayError } from '../../errors.js';
import { type EncodedValue, encodeFile, roomFor } from '../../files/encode/index.js';
import type { TempFile } from '../../files/encode/temp-files.js';
import { contrast, sizeText } from '../../policy/amounts.js';
import type { Delivery, FileSlot } from '../../ports/file-slot.js';
import type { JsonValue } from '../../ports/json.js';
import { parseJson } from '../../wire/json/parse.js';
import { ENVELOPE_BYTES, isReference, maxSizeOf } from '../tools/max-size.js';
import { uploadToServer } from '../upstream/upload-to-server.js';
import type { CallContext } from './deps.js';
import type { IncomingFile } from './incoming-files.js';

/** Writes files in the form that the server takes, and afterwards removes what existed only for that. */
export class Deliveries {
  readonly #context: CallContext;
  readonly #temporary: TempFile[] = [];
  /** Removes what existed only for the call. Keeping this function keeps nothing else of the call in memory. */
  readonly done: () => Promise<void>;

  constructor(context: CallContext) {
    this.#context = context;
    this.done = removalOf(this.#temporary);
  }

  /** True while there is nothing to remove. */
  get isEmpty(): boolean {
    return this.#temporary.length === 0;
  }

  /** The first delivery of the file that the server survives. */
  choose(slot: FileSlot, file: IncomingFile, argument: string): Delivery {
    const { accepts, server, limits } = this.#context.deps;
    const fitting = slot.deliveries.find((delivery) => roomNeeded(delivery, file) + ENVELOPE_BYTES <= accepts);
    if (fitting) return fitting;
    const maxSize = maxSizeOf(slot, { limits, accepts, owner: { server } }).bytes;
    const sizes = contrast(maxSize, file.size);
    const text =
      `Argument '${argument}' is a file of ${sizes.actual}, which is too large for the messages that the server ` +
      `"${server}" takes: at most ${sizes.allowed}.`;
    throw new GatewayError('file_refused', {
      reason: 'maxSizeExceeded',
      argument,
      text,
      maxSize,
      actualSize: file.size,
      limit: `servers.${server}.accepts`,
      allowed: accepts,
      actual: file.size,
    });
  }

  /** @param delivery the result of `choose` for the slot */
  async write(slot: FileSlot, delivery: Delivery, file: IncomingFile, argument: string): Promise<EncodedValue> {
    if (delivery.kind === 'encoded') return this.#encode(delivery, file, argument);
    const uploaded = await uploadToServer(file, delivery, argument, this.#context);
    if (uploaded !== undefined) return quoted(uploaded);
    const deliveries = slot.deliveries.slice(slot.deliveries.indexOf(delivery) + 1);
    if (deliveries.length === 0) {
      const text = `Argument '${argument}' is uploaded, and the server "${this.#context.deps.server}" takes no uploads.`;
      throw new GatewayError('file_refused', { reason: 'unreachable', argument, text });
    }
    const rest = { ...slot, deliveries };
    return this.write(rest, this.choose(rest, file, argument), file, argument);
  }

  async #encode(delivery: Delivery & { kind: 'encoded' }, file: IncomingFile, argument: string): Promise<EncodedValue> {
    const { encoding } = delivery;
    const { address } = encodingFacts(encoding);
    switch (address) {
      case 'path':
      case 'uri': {
        const { deps, signal } = this.#context;
        const limit = { name: 'limits.file', bytes: deps.limits.file, path: argument };
        const temporary = await deps.tempFiles.write(file, limit, signal);
        this.#temporary.push(temporary);
        return quoted(address === 'path' ? temporary.path : temporary.uri);
      }
      case 'link':
        return quoted((await this.#linkOf(file)).url);
      default: {
        const links = asksFor('link', delivery.template) ? await this.#linkOf(file) : undefined;
        const options = { path: argument, template: delivery.template, url: links?.url, handle: links?.uri };
        try {
          return await encodeFile(encoding, file, options);
        } catch (thrown) {
          if (!(thrown instanceof GatewayError) || thrown.code !== 'file_not_text') throw thrown;
          const text = `Argument '${argument}' takes text, and the file (${file.mimeType}, ${sizeText(file.size)}) is not UTF-8.`;
          throw new GatewayError('file_refused', { reason: 'notText', argument, text }, thrown);
        }
      }
    }
  }

  async #linkOf(file: IncomingFile) {
    const { deps, principal, signal } = this.#context;
    const record = file.record ?? (await deps.storeInline(file, principal, signal));
    return deps.incoming.library.refer(record);
  }
}

/** The value of a short string that was written. */
export async function asText(value: EncodedValue, maxBytes: number): Promise<string | undefined> {
  if (value.length > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  for (const piece of value.pieces) {
    if (Buffer.isBuffer(piece)) chunks.push(piece);
    else for await (const chunk of piece()) chunks.push(chunk);
  }
  const parsed: unknown = parseJson(Buffer.concat(chunks).toString('utf8'));
  return typeof parsed === 'string' ? parsed : undefined;
}

function removalOf(files: TempFile[]): () => Promise<void> {
  return async () => {
    await Promise.all(files.splice(0).map((file) => file.remove()));
  };
}

function roomNeeded(delivery: Delivery, file: IncomingFile): number {
  if (delivery.kind === 'uploaded' || isReference(delivery)) return 0;
  return roomFor(delivery.encoding, file.size, delivery);
}

function quoted(value: JsonValue): EncodedValue {
  const bytes = Buffer.from(JSON.stringify(value));
  return { length: bytes.length, pieces: [bytes] };
}
