import type { FileClaims, FileRecord } from '../files/file.js';
import { fileNameFor } from '../files/file-name.js';
import type { Stored } from '../files/ingest.js';
import type { Library } from '../files/library.js';
import { extensionOf, mediaTypeOf, sniff } from '../files/media-type.js';
import type { OutgoingFile, Preview } from '../ports/dialect.js';
import type { MessageCuts } from './message-cuts.js';

/** What tells a file's type. */
const HEAD_BYTES = 4100;

export interface Owner {
  principal: string;
  server: string;
}

export interface OutgoingFileDeps {
  library: Library;
  /** Renders a preview of an image, or nothing. Never throws. */
  previewOf: (record: FileRecord, head: Buffer, signal: AbortSignal) => Promise<Preview | undefined>;
}

/** The stored files of one message on their way to becoming links: each is published once, however often it stands. */
export class OutgoingFiles {
  readonly #deps: OutgoingFileDeps;
  readonly #owner: Owner;
  readonly #cuts: MessageCuts;
  readonly #signal: AbortSignal;
  readonly #byDigest = new Map<string, { file: OutgoingFile; key: string }>();
  #count = 0;
  #bytes = 0;

  constructor(deps: OutgoingFileDeps, owner: Owner, cuts: MessageCuts, signal: AbortSignal) {
    this.#deps = deps;
    this.#owner = owner;
    this.#cuts = cuts;
    this.#signal = signal;
  }

  /** Different files published. */
  get count(): number {
    return this.#byDigest.size;
  }

  /** Their bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  get(digest: string): OutgoingFile | undefined {
    return this.#byDigest.get(digest)?.file;
  }

  /** Key of the object that holds a published file's bytes; an older one than was stored now, if they were known. */
  keyOf(digest: string): string | undefined {
    return this.#byDigest.get(digest)?.key;
  }

  /**
   * Makes stored bytes a file with a link and, for an image, a preview.
   * @param subject the tool, prompt or method that gave it: nameless files are called after it
   */
  async publish(stored: Stored, claims: FileClaims, subject: string): Promise<OutgoingFile> {
    this.#count += 1;
    const known = this.#byDigest.get(stored.digest);
    if (known) return known.file;
    const sniffed = await sniff(stored.head);
    const mimeType = mediaTypeOf(claims.mimeType, sniffed);
    const name = fileNameFor({
      name: claims.name,
      uri: claims.uri,
      owner: subject,
      index: this.#count,
      ext: extensionOf(claims.mimeType, sniffed),
    });
    const { principal, server } = this.#owner;
    const record = await this.#deps.library.publish(stored, { principal, server, name, mimeType });
    this.#cuts.settled(stored);
    return this.#refer(record, stored.head);
  }

  /** A file that has its record already. */
  async add(record: FileRecord): Promise<OutgoingFile> {
    this.#count += 1;
    const known = this.#byDigest.get(record.digest);
    if (known) return known.file;
    const end = Math.min(record.size, HEAD_BYTES) - 1;
    const read = await this.#deps.library.read(record.key, this.#signal, { start: 0, end: Math.max(end, 0) });
    const head: Buffer[] = [];
    if (read.kind === 'found') for await (const chunk of read.body) head.push(chunk as Buffer);
    return this.#refer(record, Buffer.concat(head));
  }

  async #refer(record: FileRecord, head: Buffer): Promise<OutgoingFile> {
    const ref = await this.#deps.library.refer(record);
    const preview = await this.#deps.previewOf(record, head, this.#signal);
    const file: OutgoingFile = preview ? { ref, preview } : { ref };
    this.#byDigest.set(record.digest, { file, key: record.key });
    this.#bytes += record.size;
    return file;
  }
}
