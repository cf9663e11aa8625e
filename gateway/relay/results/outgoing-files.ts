import { GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import type { Stored } from '../../files/ingest/ingest.js';
import type { Library } from '../../files/library.js';
import { fileNameFor } from '../../files/names/file-name.js';
import { extensionOf, mediaTypeOf, SNIFF_BYTES, sniff } from '../../files/names/media-type.js';
import { writtenAs } from '../../files/names/text-hint.js';
import type { NamedType } from '../../files/names/told-name.js';
import type { PreviewAhead } from '../../files/previews/ahead.js';
import type { FileLabel } from '../../files/tickets/ticket.js';
import type { Audit, AuditCause } from '../../ports/audit.js';
import type { HandleUses, OutgoingFile, Preview } from '../../ports/dialect.js';
import type { FileClaims } from '../../ports/file.js';
import type { CallOwner } from '../../ports/owner.js';
import type { MessageCuts } from '../cut/message-cuts.js';

/** Takes the place of the tool where it is not known what an answer answers. */
export const NO_SUBJECT = 'file';

export interface OutgoingFileDeps {
  library: Library;
  /** For what else is done with files: refusals, and streams. */
  audit: Audit;
  /** Renders a preview of an image; undefined without one. Never throws. */
  previewOf: (record: FileRecord, head: Buffer, signal: AbortSignal) => Promise<Preview | undefined>;
}

interface Published {
  file: OutgoingFile;
  record: FileRecord;
  head: Buffer;
  /** The preview that was begun while the file was stored. */
  ahead: PreviewAhead | undefined;
  preview?: Promise<Preview | undefined>;
}

/** For whom the files of a message are published. */
interface Publishing {
  owner: CallOwner;
  /** The operator who has made the call, if one has. */
  by: AuditCause;
  signal: AbortSignal;
  /** Names of the tools whose results the message holds. */
  tools: ReadonlySet<string>;
  /** What a model can do with a handle; called when there is one. */
  uses: () => HandleUses | undefined;
}

/** Turns the stored files of one message into links. Each file is published once, however often it occurs. */
export class OutgoingFiles {
  readonly #deps: OutgoingFileDeps;
  readonly #owner: CallOwner;
  readonly #by: AuditCause;
  readonly #cuts: MessageCuts;
  readonly #signal: AbortSignal;
  readonly #uses: () => HandleUses | undefined;
  readonly #tools: ReadonlySet<string>;
  readonly #byDigest = new Map<string, Published>();
  #count = 0;
  #bytes = 0;

  constructor(deps: OutgoingFileDeps, cuts: MessageCuts, { owner, by, signal, tools, uses }: Publishing) {
    this.#tools = tools;
    this.#uses = uses;
    this.#deps = deps;
    this.#owner = owner;
    this.#by = by;
    this.#cuts = cuts;
    this.#signal = signal;
  }

  /** Number of different files published. */
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

  /**
   * Key of the object with a published file's bytes: an older object than the one just stored, if the bytes were known.
   */
  keyOf(digest: string): string | undefined {
    return this.recordOf(digest)?.key;
  }

  /** Record of a published file. */
  recordOf(digest: string): FileRecord | undefined {
    return this.#byDigest.get(digest)?.record;
  }

  /** A published file with its preview. Only what is shown needs one: it is made now, unless it has been begun. */
  async withPreview(file: OutgoingFile): Promise<OutgoingFile> {
    const published = this.#byDigest.get(digestIn(file));
    if (!published) return file;
    published.preview ??= this.#previewOf(published);
    const preview = await published.preview;
    return preview ? { ...file, preview } : file;
  }

  /**
   * Makes stored bytes a file with a link.
   * @param subject the tool, prompt or method that returned it: nameless files are named after it
   * @param told the name that the call or a text gives it
   */
  async publish(
    stored: Stored,
    claims: FileClaims,
    subject: string,
    told?: (type: NamedType) => string | undefined,
  ): Promise<OutgoingFile> {
    this.#count += 1;
    const known = this.#byDigest.get(stored.digest);
    if (known && !isNamed(claims) && claims.mimeType === undefined) return known.file;
    const sniffed = await sniff(stored.head);
    const type = { mimeType: mediaTypeOf(claims.mimeType, sniffed), ext: extensionOf(claims.mimeType, sniffed) };
    // what is empty, or of no known format, is whatever its server says each time
    if (known && !isNamed(claims) && type.mimeType === known.file.ref.mimeType) return known.file;
    const { name: given, uri } = claims;
    const index = this.#count;
    const name = fileNameFor({
      name: given,
      uri,
      told: told && (() => told(type)),
      owner: subject,
      index,
      ext: type.ext,
    });
    const label = { name, mimeType: type.mimeType };
    if (known) return this.#again(known, label);
    const { principal, server } = this.#owner;
    const tool = this.#tools.has(subject) ? { tool: subject } : {};
    const about = { principal, server, ...tool, ...label, ...writtenAs(type.mimeType, stored.head) };
    // the answer may be one that was sent before, when it was known what it answers
    const isNameless = subject === NO_SUBJECT && !isNamed(claims);
    const record = await this.#deps.library.publish(stored, about, { subject, by: this.#by, isNameless });
    this.#cuts.recorded(stored);
    return this.#refer(record, stored.head, stored.preview);
  }

  /** Adds a file that already has a record. */
  async add(record: FileRecord): Promise<OutgoingFile> {
    this.#count += 1;
    const known = this.#byDigest.get(record.digest);
    if (known) return this.#again(known, record);
    return this.#refer(record, await this.#headOf(record));
  }

  /** The first bytes; none of a file whose object is gone, or is another one now: its link says so. */
  async #headOf(record: FileRecord): Promise<Buffer> {
    const end = Math.max(Math.min(record.size, SNIFF_BYTES) - 1, 0);
    const head: Buffer[] = [];
    try {
      const read = await this.#deps.library.read(record, this.#signal, { start: 0, end });
      if (read.kind === 'found') for await (const chunk of read.body) head.push(chunk as Buffer);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'file_gone') throw error;
    }
    return Buffer.concat(head);
  }

  /** Equal bytes with another name are one file: one handle, and a link with that name. */
  async #again({ file, record }: Published, { name, mimeType }: FileLabel): Promise<OutgoingFile> {
    if (name === file.ref.name && mimeType === file.ref.mimeType) return file;
    return { ...file, ref: await this.#deps.library.refer(record, 'usual', { name, mimeType }) };
  }

  async #refer(record: FileRecord, head: Buffer, ahead?: PreviewAhead): Promise<OutgoingFile> {
    const ref = await this.#deps.library.refer(record);
    const uses = this.#uses();
    const file: OutgoingFile = { ref, ...(uses && { uses }) };
    this.#byDigest.set(record.digest, { file, record, head, ahead });
    this.#bytes += record.size;
    return file;
  }

  async #previewOf({ record, head, ahead }: Published): Promise<Preview | undefined> {
    const made = await ahead?.made;
    return made ? made.preview : this.#deps.previewOf(record, head, this.#signal);
  }
}

/** The digest of a file as its record has it. */
export function digestIn({ ref: { digest } }: OutgoingFile): string {
  return digest.slice(digest.indexOf(':') + 1);
}

/** True when the server names the file. */
function isNamed({ name, uri }: FileClaims): boolean {
  return name !== undefined || uri !== undefined;
}
