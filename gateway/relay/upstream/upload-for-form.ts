import { GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import type { Library } from '../../files/library.js';
import type { Inquire } from '../../mcp/inquire.js';
import { type UploadDeps, uploadToServer } from './upload-to-server.js';

/** A stored file for a field of a server's form. */
interface FormUpload {
  file: FileRecord;
  /** The field. */
  argument: string;
  principal: string;
  inquire: Inquire;
}

/**
 * Uploads a stored file to a server whose form takes its URI.
 * @returns the URI
 * @throws GatewayError `file_refused`, and the errors of the store
 */
export async function uploadForForm(
  { file, argument, principal, inquire }: FormUpload,
  deps: UploadDeps & { library: Pick<Library, 'read'> },
  signal: AbortSignal,
): Promise<string> {
  const { name, mimeType, size, digest } = file;
  async function* read() {
    const read = await deps.library.read(file, signal);
    if (read.kind !== 'found') throw new GatewayError('file_gone');
    yield* read.body as AsyncIterable<Buffer>;
  }
  const dialect = deps.dialects.find(({ transfer }) => transfer);
  const delivery = dialect?.transfer && { dialect: dialect.name, revision: dialect.transfer.ofForms };
  const source = { name, mimeType, size, digest, read };
  const uri = delivery && (await uploadToServer(source, delivery, argument, { deps, principal, inquire, signal }));
  if (typeof uri === 'string') return uri;
  const text = `The file for '${argument}' is uploaded, and the server "${deps.server}" takes no uploads.`;
  throw new GatewayError('file_refused', { reason: 'unreachable', argument, text });
}
