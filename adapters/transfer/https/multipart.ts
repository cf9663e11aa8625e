import { randomBytes } from 'node:crypto';
import { contentType } from './headers.js';

/** More than any upload form needs (S3's have about ten), with room for a policy in one field. */
const MAX_FIELDS = 100;
const MAX_FIELD_BYTES = 256 * 1024;

export interface Form {
  boundary: string;
  /** Before each file: the fields in order, the end of the part before it, and the head of its own. */
  before: readonly Buffer[];
  after: Buffer;
}

interface FormFile {
  name: string;
  mimeType: string;
}

/**
 * A multipart/form-data body (RFC 7578) around files. The boundary has 192 random bits, so the content cannot contain
 * it.
 */
export function form(fileField: string, fields: Readonly<Record<string, string>>, files: readonly FormFile[]): Form {
  const boundary = `wharf-${randomBytes(24).toString('hex')}`;
  const texts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}\r\n`,
  );
  const heads = files.map(({ name, mimeType }) => {
    const disposition = `form-data; name="${quoted(fileField)}"; filename="${quoted(name)}"`;
    return `--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${contentType(mimeType)}\r\n\r\n`;
  });
  return {
    boundary,
    before: heads.map((head, at) => Buffer.from(`${at === 0 ? texts.join('') : '\r\n'}${head}`)),
    after: Buffer.from(`\r\n--${boundary}--\r\n`),
  };
}

/** Why such a form must not be sent; undefined when it may. */
export function formProblem(fields: Readonly<Record<string, string>>): string | undefined {
  const entries = Object.entries(fields);
  if (entries.length > MAX_FIELDS) return `it wants more than ${MAX_FIELDS} form fields`;
  if (entries.some(([, value]) => typeof value !== 'string')) return 'it wants a form field that is not a string';
  const bytes = entries.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
  return bytes > MAX_FIELD_BYTES ? `it wants more than ${MAX_FIELD_BYTES} bytes of form fields` : undefined;
}

/**
 * As in browsers (WHATWG HTML, multipart/form-data): these three are percent-encoded, everything else is literal UTF-8.
 */
function quoted(text: string): string {
  return text.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22');
}
