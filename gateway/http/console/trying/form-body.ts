import type { IncomingMessage } from 'node:http';
import type { HeldBudget } from '../../../budget/held.js';
import { GatewayError } from '../../../errors.js';
import type { FileRecord } from '../../../files/file.js';
import type { IngestDeps } from '../../../files/ingest/ingest.js';
import type { Library } from '../../../files/library.js';
import { storeFile } from '../../../files/store-file.js';
import { tooLarge } from '../../../files/tickets/upload-intent.js';
import { ReadAhead } from '../../../files/uploads/read-ahead.js';
import type { Limits, Timeouts } from '../../../policy/limits.js';
import type { Audit } from '../../../ports/audit.js';
import type { Identity } from '../../../ports/identity.js';
import type { RequestQuotas } from '../../../quotas/requests.js';
import { deadline } from '../../../relay/upstream/deadline.js';
import { bodyPace } from '../../body.js';
import { refuseCodings } from '../../codings.js';
import { Received } from '../../incoming/received.js';
import { type FormPart, readParts } from '../../multipart.js';
import { boundaryOf } from '../../multipart-head.js';
import type { SentFile } from './curl-call.js';
import type { Field } from './tool-form.js';

/** Most bytes of a form besides its files, most parts of it, and most files. */
const MAX_FORM = 1024 * 1024;
const MAX_PARTS = 300;
const MAX_FILES = 20;

/** The members of a form that are not arguments. */
const NAMES: readonly string[] = ['shape', 'confirm', 'others'];

export interface FormDeps {
  ingest: IngestDeps;
  library: Library;
  audit: Audit;
  held: HeldBudget;
  quotas: Pick<RequestQuotas, 'beginUpload'>;
  limits: Pick<Limits, 'file' | 'leastRate'>;
  timeouts: Pick<Timeouts, 'idle' | 'grace' | 'upload'>;
}

/** A form as it was sent. */
export interface SentForm {
  shape: string;
  isConfirmed: boolean;
  others: string;
  /** The text of each field, by its index; of a file, its handle. */
  values: ReadonlyMap<number, string>;
  /** The files that were stored for it. */
  files: readonly SentFile[];
  /** Takes the files back, for a call that is not made. */
  withdraw(): Promise<void>;
}

interface Sender {
  identity: Identity;
  server: string;
  address: string | undefined;
}

/**
 * Reads a form. A file goes into the store as it arrives, as an upload of its sender's, and its handle takes its place.
 * @throws GatewayError `unsupported_media_type`, `request_invalid`, `upload_malformed`, and those of storing a file; then no
 * file is kept
 */
export async function readForm(
  incoming: IncomingMessage,
  { fields, sender, gone }: { fields: readonly Field[]; sender: Sender; gone: AbortSignal },
  deps: FormDeps,
): Promise<SentForm> {
  const { held, limits, timeouts, quotas } = deps;
  refuseCodings(incoming);
  const boundary = boundaryOf(incoming.headers['content-type'] ?? '');
  if (boundary === undefined) throw new GatewayError('unsupported_media_type', { expected: 'multipart/form-data' });
  const late = () => new GatewayError('upload_timeout', { limit: 'timeouts.upload', allowed: timeouts.upload });
  const { principal } = sender.identity;
  const ended = await quotas.beginUpload(principal);
  // last of all that may refuse, because only `clear` ends it
  const { signal, clear } = deadline(gone, timeouts.upload, late);
  const bytes = new Received(incoming, {
    owner: { principal },
    ahead: new ReadAhead(held, { principal }),
    paceOf: (tooSlow) => bodyPace(incoming, { limits, timeouts }, tooSlow),
    signal,
  });
  const form = new FormReader(fields, sender, deps, signal);
  try {
    for await (const part of readParts(boundary, bytes, MAX_PARTS)) await form.take(part);
    return form.whole();
  } catch (error) {
    await form.withdraw();
    throw error;
  } finally {
    form.release();
    bytes.close();
    clear();
    ended();
  }
}

/** The part with a file. */
interface SentPart {
  filename: string;
  mimeType: string | undefined;
  content: AsyncIterable<Buffer>;
}

class FormReader {
  readonly #fields: readonly Field[];
  readonly #sender: Sender;
  readonly #deps: FormDeps;
  readonly #signal: AbortSignal;
  readonly #texts = new Map<string, string>();
  readonly #stored: { index: number; record: FileRecord }[] = [];
  #size = 0;

  constructor(fields: readonly Field[], sender: Sender, deps: FormDeps, signal: AbortSignal) {
    this.#fields = fields;
    this.#sender = sender;
    this.#deps = deps;
    this.#signal = signal;
  }

  async take({ name, filename, mimeType, content }: FormPart): Promise<void> {
    const [, kind = '', number = ''] = /^([vf])(\d{1,3})$/.exec(name) ?? [];
    const field = this.#fields[Number(number)];
    if (kind === 'f' && field?.kind === 'file' && filename !== undefined) {
      await this.#file(Number(number), field, { filename, mimeType, content });
      return;
    }
    if (filename !== undefined || (kind === 'v' ? !field : !NAMES.includes(name)) || this.#texts.has(name))
      throw new GatewayError('request_invalid', { reason: 'the form is not one of this page' });
    this.#texts.set(name, await this.#text(content));
  }

  whole(): SentForm {
    const { library } = this.#deps;
    const files = this.#stored.map(({ record }) => {
      const { uri, name, mimeType } = library.describe(record);
      return { handle: uri, name, mimeType };
    });
    const values = new Map<number, string>();
    for (const index of this.#fields.keys()) {
      // a chosen file takes the place of the handle beside it
      const handles = this.#stored.flatMap((one, at) => (one.index === index ? [files[at]?.handle ?? ''] : []));
      values.set(index, handles.length > 0 ? handles.join('\n') : (this.#texts.get(`v${index}`) ?? ''));
    }
    return {
      shape: this.#texts.get('shape') ?? '',
      isConfirmed: this.#texts.get('confirm') === 'yes',
      others: this.#texts.get('others') ?? '',
      values,
      files,
      withdraw: () => this.withdraw(),
    };
  }

  async withdraw(): Promise<void> {
    await Promise.allSettled(this.#stored.map(({ record }) => this.#deps.library.withdraw(record)));
  }

  /** Its texts are held as long as it is read; then the call counts them. */
  release(): void {
    this.#deps.held.add(-this.#size, this.#owner);
    this.#size = 0;
  }

  get #owner() {
    return { principal: this.#sender.identity.principal };
  }

  async #text(content: AsyncIterable<Buffer>): Promise<string> {
    const pieces: Buffer[] = [];
    for await (const piece of content) {
      this.#size += piece.length;
      this.#deps.held.add(piece.length, this.#owner);
      if (this.#size > MAX_FORM)
        throw new GatewayError('request_invalid', { reason: `the form is longer than ${MAX_FORM} bytes` });
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString('utf8');
  }

  async #file(index: number, { label, most }: Field, { filename, mimeType, content }: SentPart): Promise<void> {
    if (filename === '') {
      // what a browser sends when no file was chosen
      for await (const piece of content)
        if (piece.length > 0) throw new GatewayError('request_invalid', { reason: 'a file has no name' });
      return;
    }
    if (this.#stored.length === MAX_FILES)
      throw new GatewayError('request_invalid', { reason: `the form has more than ${MAX_FILES} files` });
    const { ingest, library, limits, audit } = this.#deps;
    const { identity, server, address } = this.#sender;
    const isLess = most !== undefined && most < limits.file;
    const limit = { name: isLess ? 'maxSize' : 'limits.file', bytes: isLess ? most : limits.file, path: label };
    const { principal, actor } = identity;
    const claims = { name: filename, ...(mimeType !== undefined && { mimeType }) };
    const file = { bytes: upTo(limit, content), claims, principal, subject: 'file', limit };
    const record = await storeFile(file, { ingest, library }, this.#signal);
    this.#stored.push({ index, record });
    if (!audit.isOn) return;
    const about = { what: 'upload', allowed: true, principal, address, server, files: [record] } as const;
    await audit.record({ ...about, ...(actor !== undefined && { actor }) });
  }
}

/** @throws GatewayError `upload_too_large` */
async function* upTo(
  { name, bytes }: { name: string; bytes: number },
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const piece of content) {
    size += piece.length;
    if (size > bytes) throw tooLarge({ limit: name, allowed: bytes }, size, { isSoFar: true });
    yield piece;
  }
}
