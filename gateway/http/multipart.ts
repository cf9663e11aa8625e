import { severalRefused } from '../files/tickets/several.js';
import type { UploadBody } from '../files/uploads/upload.js';
import { malformed, type PartHead, readPartHead } from './multipart-head.js';

/** Name of the part with the file. */
export const FILE_PART = 'file';

/** Limits: bytes of a part's head, bytes of a field's value, number of fields besides the file. */
const MAX_HEAD = 8 * 1024;
const MAX_FIELD = 64 * 1024;
const MAX_FIELDS = 32;

/** Most bytes by which a body can exceed the files in it. */
export function mostOverhead(files: number): number {
  return MAX_FIELDS * (MAX_HEAD + MAX_FIELD + 256) + files * (MAX_HEAD + 256);
}

const CRLF = Buffer.from('\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');
const LAST = Buffer.from('--');

/**
 * Passes on the one file in a multipart/form-data body as it arrives, holding at most a chunk of it. Everything that
 * other parsers silently skip, cut or repair is an error here, up to the last byte of the body.
 * @see https://www.rfc-editor.org/rfc/rfc7578
 */
export function readMultipart(boundary: string, body: AsyncIterable<Buffer>): UploadBody {
  let only: UploadBody | undefined;
  async function* bytes(): AsyncGenerator<Buffer> {
    for await (const file of readFiles(boundary, body, 1)) {
      only = file;
      yield* file.bytes;
    }
  }
  return { bytes: bytes(), claims: () => only?.claims() ?? {} };
}

/**
 * Passes on the files of such a body, one after the other: each must be read to its end before the next one. Only the end
 * of all of them says that the body is valid.
 */
export async function* readFiles(
  boundary: string,
  body: AsyncIterable<Buffer>,
  most: number,
): AsyncGenerator<UploadBody> {
  const parts = new Parts(body, boundary);
  try {
    yield* filesIn(parts, most);
  } finally {
    await parts.close();
  }
}

/** A part of a form. */
export interface FormPart extends PartHead {
  content: AsyncIterable<Buffer>;
}

/** Passes on the parts of such a body, one after the other: each must be read to its end before the next one. */
export async function* readParts(
  boundary: string,
  body: AsyncIterable<Buffer>,
  most: number,
): AsyncGenerator<FormPart> {
  const parts = new Parts(body, boundary);
  let count = 0;
  try {
    for (let head = await parts.first(); head !== undefined; head = await parts.next()) {
      count += 1;
      if (count > most) throw malformed(`it has more than ${most} parts`);
      yield { ...head, content: parts.content() };
    }
  } finally {
    await parts.close();
  }
}

async function* filesIn(parts: Parts, most: number): AsyncGenerator<UploadBody> {
  let fields = 0;
  let files = 0;
  for (let head = await parts.first(); head !== undefined; head = await parts.next()) {
    if (head.name === FILE_PART) {
      if (files === most) throw tooManyFiles(most);
      files += 1;
      const { filename, mimeType } = head;
      yield { bytes: contentOf(parts, head), claims: () => ({ name: filename, mimeType }) };
      continue;
    }
    if (head.filename && files > 0 && most === 1) throw tooManyFiles(most);
    if (head.filename) throw missingFile(`the file must be in the part "${FILE_PART}"`);
    fields += 1;
    if (fields > MAX_FIELDS) throw malformed(`it has more than ${MAX_FIELDS} fields`);
    let size = 0;
    for await (const piece of parts.content()) {
      size += piece.length;
      if (size > MAX_FIELD) throw malformed(`a field is longer than ${MAX_FIELD} bytes`);
    }
  }
  if (files === 0) throw missingFile(`it has no part "${FILE_PART}"`);
}

async function* contentOf(parts: Parts, { filename }: PartHead): AsyncGenerator<Buffer> {
  let isEmpty = true;
  for await (const piece of parts.content()) {
    isEmpty = false;
    yield piece;
  }
  // what a browser sends when no file was chosen
  if (isEmpty && filename === '') throw missingFile('no file was chosen');
}

function missingFile(detail: string) {
  return malformed(detail, 'missingFilePart');
}

function tooManyFiles(most: number) {
  if (most > 1) return severalRefused('tooManyFiles', most, most + 1);
  return malformed('it has more than one file', 'tooManyFiles');
}

/** Splits a body at its delimiters. After `first` or `next`, read the part's `content` to its end. */
class Parts {
  readonly #body: AsyncIterator<Buffer>;
  /** A line break belongs to the delimiter after it, not to the content before it. */
  readonly #delimiter: Buffer;
  #window: Buffer = CRLF;

  constructor(body: AsyncIterable<Buffer>, boundary: string) {
    this.#body = body[Symbol.asyncIterator]();
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  /** RFC 2046 allows text before the first delimiter. Clients send none, and it would be dropped silently. */
  async first(): Promise<PartHead | undefined> {
    const found = await this.#fill(this.#delimiter.length);
    if (!found || this.#window.indexOf(this.#delimiter) !== 0) throw malformed('it does not begin with its boundary');
    this.#drop(this.#delimiter.length);
    return this.next();
  }

  /** The next part's head; undefined after the last part, when the body has ended too. */
  async next(): Promise<PartHead | undefined> {
    if (!(await this.#fill(2))) throw malformed('it ends in the middle of a delimiter');
    const mark = this.#window.subarray(0, 2);
    if (mark.equals(LAST)) return this.#end();
    if (!mark.equals(CRLF)) throw malformed('its boundary occurs inside a part');
    this.#drop(2);
    for (;;) {
      const end = this.#window.indexOf(HEAD_END);
      if (end > MAX_HEAD || (end < 0 && this.#window.length > MAX_HEAD + HEAD_END.length))
        throw malformed(`the head of a part is longer than ${MAX_HEAD} bytes`);
      if (end >= 0) {
        const head = this.#window.subarray(0, end);
        // some parsers treat a head line that begins with the delimiter as a delimiter
        if (Buffer.concat([CRLF, head]).includes(this.#delimiter)) throw malformed('the boundary occurs in a head');
        this.#drop(end + HEAD_END.length);
        return readPartHead(head);
      }
      if (!(await this.#more())) throw malformed('it ends in the head of a part');
    }
  }

  /** The bytes up to the next delimiter, which is consumed too. */
  async *content(): AsyncGenerator<Buffer> {
    // Together with the line break that ends the head, some parsers read it as a delimiter and others as content.
    const dashed = this.#delimiter.subarray(CRLF.length);
    await this.#fill(dashed.length);
    if (this.#window.subarray(0, dashed.length).equals(dashed)) throw malformed('a part begins with the boundary');
    for (;;) {
      const at = this.#window.indexOf(this.#delimiter);
      const end = at >= 0 ? at : this.#startOfDelimiter();
      if (end > 0) {
        const piece = this.#window.subarray(0, end);
        this.#drop(end);
        yield piece;
      }
      if (at >= 0) {
        this.#drop(this.#delimiter.length);
        return;
      }
      if (!(await this.#more())) throw malformed('it ends before its last delimiter');
    }
  }

  /** Stops reading. */
  async close(): Promise<void> {
    await this.#body.return?.();
  }

  /** After the last delimiter at most a line break may follow. */
  async #end(): Promise<undefined> {
    this.#drop(2);
    while (this.#window.length <= CRLF.length && (await this.#more()));
    if (this.#window.length > 0 && !this.#window.equals(CRLF)) throw malformed('something follows its last delimiter');
    return undefined;
  }

  /** Where the beginning of a delimiter may start at the end of the window. */
  #startOfDelimiter(): number {
    const { length } = this.#window;
    for (let at = Math.max(0, length - this.#delimiter.length + 1); at < length; at++) {
      at = this.#window.indexOf(0x0d, at);
      if (at < 0) return length;
      if (this.#delimiter.subarray(0, length - at).equals(this.#window.subarray(at))) return at;
    }
    return length;
  }

  #drop(bytes: number): void {
    this.#window = this.#window.subarray(bytes);
  }

  async #fill(bytes: number): Promise<boolean> {
    while (this.#window.length < bytes) if (!(await this.#more())) return false;
    return true;
  }

  async #more(): Promise<boolean> {
    const { value, done } = await this.#body.next();
    if (done) return false;
    this.#window = this.#window.length === 0 ? value : Buffer.concat([this.#window, value]);
    return true;
  }
}
