import { RANGE, rangeAt } from '../../../mcp/ranges.js';
import type { ClientFacts } from '../../../ports/client.js';
import type { HolderKind, OutgoingFile } from '../../../ports/dialect.js';
import type { JsonPath } from '../../../ports/json.js';
import type { HeldMessage } from '../../../wire/json/reader.js';
import type { OutgoingFiles } from '../outgoing-files.js';
import { tellsEmbedded } from './embedded-text.js';
import type { ImageRoom } from './image-room.js';

/** Path of the result that contains the list item at this path, or a value inside the item. */
export function resultOf(path: JsonPath): JsonPath {
  return path.slice(0, path.findLastIndex((key) => typeof key === 'number') - 1);
}

/** True when the result at this path says that it is an error. */
export function isErrorAt(message: HeldMessage, result: JsonPath): boolean {
  const range = rangeAt(message, RANGE.isError, [...result, 'isError']);
  return range !== undefined && message.slice(range.start, range.end).toString('latin1') === 'true';
}

/** Files as the client's host shows them: a preview that its model cannot see, or must not get, is left out. */
export class ShownFiles {
  readonly #message: HeldMessage;
  readonly #client: ClientFacts;
  readonly #files: Pick<OutgoingFiles, 'withPreview'>;
  readonly #images: ImageRoom;

  constructor(
    message: HeldMessage,
    client: ClientFacts,
    { files, images }: { files: Pick<OutgoingFiles, 'withPreview'>; images: ImageRoom },
  ) {
    this.#message = message;
    this.#client = client;
    this.#files = files;
    this.#images = images;
  }

  /**
   * The file, and the client, for a block of this result. A resource is replaced by its address alone, except for a host
   * that reads links at once: it would show its model an empty picture.
   */
  async in(
    result: JsonPath,
    file: OutgoingFile,
    kind: HolderKind,
  ): Promise<{ file: OutgoingFile; client: ClientFacts }> {
    const client = this.clientIn(result);
    if (kind === 'resource') {
      const isPicture = client.host?.resourceLinks === 'no-images' && file.ref.mimeType.startsWith('image/');
      return { file: isPicture ? await this.#files.withPreview(file) : file, client };
    }
    const shown = await this.#files.withPreview(file);
    if (!shown.preview?.image) return { file: shown, client };
    const { image, ...preview } = shown.preview;
    const { images, imageTypes } = client.host ?? {};
    const isSeen = images !== 'drop' && imageTypes?.includes(image.mimeType) !== false;
    const hasRoom = isSeen && this.#images.take(result, Buffer.byteLength(image.base64, 'base64'));
    return { file: hasRoom ? shown : { ...file, preview }, client };
  }

  /** Begins the previews of files that are shown next, so that one is made while another one is. */
  begin(files: readonly OutgoingFile[]): void {
    // a failure is of the one that shows the file
    for (const file of files) this.#files.withPreview(file).catch(() => {});
  }

  /** True where the model gets the embedded texts of this result only as text blocks. */
  tellsEmbedded(result: JsonPath): boolean {
    return tellsEmbedded(this.#client.host, isErrorAt(this.#message, result));
  }

  /**
   * Many hosts make one text of an error, base64 and all, so it has text alone.
   * @param isReadWhole at its link the file is the text that this host has been spared: one that reads links gets none
   */
  clientIn(result: JsonPath, { isReadWhole = false } = {}): ClientFacts {
    const client = this.#client;
    const { host } = client;
    if (host?.errorImages !== 'keep' && isErrorAt(this.#message, result))
      return { ...client, host: { ...host, images: 'drop', resourceLinks: 'drop' } };
    const readsIt = isReadWhole && host?.resourceLinks === 'no-images';
    return readsIt ? { ...client, host: { ...host, resourceLinks: 'drop' } } : client;
  }
}
