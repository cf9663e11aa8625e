import { RANGE, rangeAt } from '../../../mcp/ranges.js';
import type { ClientFacts } from '../../../ports/client.js';
import type { OutgoingFile } from '../../../ports/dialect.js';
import type { JsonPath } from '../../../ports/json.js';
import type { HeldMessage } from '../../../wire/json/reader.js';
import { ImageRoom } from './image-room.js';

/** True when the result at this path says that it is an error. */
export function isErrorAt(message: HeldMessage, result: JsonPath): boolean {
  const range = rangeAt(message, RANGE.isError, [...result, 'isError']);
  return range !== undefined && message.slice(range.start, range.end).toString('latin1') === 'true';
}

/** Files as the client's host shows them: a preview that its model cannot see, or must not get, is left out. */
export class ShownFiles {
  readonly #message: HeldMessage;
  readonly #client: ClientFacts;
  readonly #images: ImageRoom;

  constructor(message: HeldMessage, client: ClientFacts, images = new ImageRoom(client)) {
    this.#message = message;
    this.#client = client;
    this.#images = images;
  }

  /** The file, and the client, for a block of this result. */
  in(result: JsonPath, file: OutgoingFile): { file: OutgoingFile; client: ClientFacts } {
    const client = this.#clientFor(result);
    if (!file.preview?.image) return { file, client };
    const { base64 } = file.preview.image;
    const isShown = client.host?.images !== 'drop' && this.#images.take(result, Buffer.byteLength(base64, 'base64'));
    if (isShown) return { file, client };
    const { image: _, ...preview } = file.preview;
    return { file: { ...file, preview }, client };
  }

  /** Many hosts make one text of an error, base64 and all, so it has text alone. */
  #clientFor(result: JsonPath): ClientFacts {
    const client = this.#client;
    if (client.host?.errorImages === 'keep' || !isErrorAt(this.#message, result)) return client;
    return { ...client, host: { ...client.host, images: 'drop', resourceLinks: 'drop' } };
  }
}
