import { GatewayError } from '../../errors.js';
import { type EncodedValue, encodeFile, roomFor } from '../../files/encode/index.js';
import type { FileRecord } from '../../files/file.js';
import type { TempFile, TempFiles } from '../../files/temp-files.js';
import { contrast, sizeText } from '../../policy/amounts.js';
import type { Limits } from '../../policy/limits.js';
import type { Delivery, FileSlot, ToolSettings } from '../../ports/file-slot.js';
import type { JsonValue } from '../../ports/json.js';
import { ENVELOPE_BYTES, isReference, maxSizeOf } from '../tools/max-size.js';
import type { IncomingFile, IncomingFileDeps } from './incoming-files.js';

export interface DeliveryDeps {
  owner: { principal: string; server: string };
  limits: Limits;
  /** Largest message the server takes, bytes. */
  accepts: number;
  settings: Readonly<Record<string, ToolSettings>>;
  incoming: IncomingFileDeps;
  tempFiles: TempFiles;
  /** Stores a file that came inside a call, where the server needs an address to fetch it from. */
  store: (file: IncomingFile, signal: AbortSignal) => Promise<FileRecord>;
  /**
   * Uploads a file to the server by a protocol of its own; gives what stands in the argument then, or undefined when
   * the server does not know that protocol.
   */
  upload: (
    file: IncomingFile,
    delivery: Delivery & { kind: 'uploaded' },
    argument: string,
  ) => Promise<JsonValue | undefined>;
  signal: AbortSignal;
}

/** Writes files in the form in which the server takes them, and removes afterwards what existed for that only. */
export class Deliveries {
  readonly #deps: DeliveryDeps;
  readonly #temporary: TempFile[] = [];
  /** Removes what existed for the call only. Nothing else of the call is kept by whoever keeps this. */
  readonly done: () => Promise<void>;

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
    this.done = removalOf(this.#temporary);
  }

  /** The most bytes a file in this slot may have, and what says so, by its name in the config. */
  maxSize(slot: FileSlot): { bytes: number; limit: string } {
    return maxSizeOf(slot, this.#deps);
  }

  /** The first way of handing the file over that the server survives. */
  choose(slot: FileSlot, file: IncomingFile, argument: string): Delivery {
    const { accepts, owner } = this.#deps;
    const fitting = slot.deliveries.find((delivery) => roomNeeded(delivery, file) + ENVELOPE_BYTES <= accepts);
    if (fitting) return fitting;
    const maxSize = maxSizeOf(slot, this.#deps).bytes;
    const sizes = contrast(maxSize, file.size);
    const text =
      `Argument '${argument}' is a file of ${sizes.actual}, which is too large for the messages that the server ` +
      `"${owner.server}" takes: at most ${sizes.allowed}.`;
    throw new GatewayError('file_refused', {
      reason: 'maxSizeExceeded',
      argument,
      text,
      maxSize,
      actualSize: file.size,
      limit: `servers.${owner.server}.accepts`,
      allowed: accepts,
      actual: file.size,
    });
  }

  /** @param delivery what `choose` chose of the slot */
  async write(slot: FileSlot, delivery: Delivery, file: IncomingFile, argument: string): Promise<EncodedValue> {
    if (delivery.kind === 'encoded') return this.#encode(delivery, file, argument);
    const uploaded = await this.#deps.upload(file, delivery, argument);
    if (uploaded !== undefined) return quoted(uploaded);
    const deliveries = slot.deliveries.slice(slot.deliveries.indexOf(delivery) + 1);
    if (deliveries.length === 0) {
      const text = `Argument '${argument}' is uploaded, and the server "${this.#deps.owner.server}" takes no uploads.`;
      throw new GatewayError('file_refused', { reason: 'unreachable', argument, text });
    }
    const rest = { ...slot, deliveries };
    return this.write(rest, this.choose(rest, file, argument), file, argument);
  }

  async #encode(delivery: Delivery & { kind: 'encoded' }, file: IncomingFile, argument: string): Promise<EncodedValue> {
    const { encoding } = delivery;
    switch (encoding) {
      case 'localPath':
      case 'fileUri': {
        const temporary = await this.#deps.tempFiles.write(
          file,
          { name: 'limits.file', bytes: this.#deps.limits.file, path: argument },
          this.#deps.signal,
        );
        this.#temporary.push(temporary);
        return quoted(encoding === 'localPath' ? temporary.path : temporary.uri);
      }
      case 'httpsUrl':
        return quoted((await this.#linkOf(file)).url);
      default: {
        const links = needsLink(delivery.template) ? await this.#linkOf(file) : undefined;
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

  /** The value of a short string that was written. */
  async asText(value: EncodedValue, maxBytes: number): Promise<string | undefined> {
    if (value.length > maxBytes) return undefined;
    const chunks: Buffer[] = [];
    for (const piece of value.pieces) {
      if (Buffer.isBuffer(piece)) chunks.push(piece);
      else for await (const chunk of piece()) chunks.push(chunk);
    }
    const parsed: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return typeof parsed === 'string' ? parsed : undefined;
  }

  async #linkOf(file: IncomingFile) {
    const { store, incoming, signal } = this.#deps;
    const record = file.record ?? (await store(file, signal));
    return incoming.library.refer(record);
  }
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

function needsLink(template: JsonValue | undefined): boolean {
  return template !== undefined && /\$(?:url|handle)\b/.test(JSON.stringify(template));
}

function quoted(value: JsonValue): EncodedValue {
  const bytes = Buffer.from(JSON.stringify(value));
  return { length: bytes.length, pieces: [bytes] };
}
