import { asGatewayError, GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import type { Library } from '../../files/library.js';
import type { ServerFile } from '../../ports/file-question.js';
import type { CommonDeps } from '../common-deps.js';
import { ownCredentials, rulesFor } from './transfer-rules.js';

/** SEP-1306: what a form calls its file. */
const FILE_FIELD = 'file';

/** Once again, where the first time has failed in a way that may pass. */
const TRIES = 2;

/** What is needed to bring a file to a server. */
type DeliveryDeps = Pick<
  CommonDeps,
  | 'server'
  | 'transfer'
  | 'limits'
  | 'timeouts'
  | 'upstreamOrigin'
  | 'upstreamHeaders'
  | 'fetchOrigins'
  | 'ownPorts'
  | 'log'
> & { library: Pick<Library, 'read'> };

/** Stored files on their way to a server, all in one request. */
interface Delivery {
  files: readonly [FileRecord, ...FileRecord[]];
  endpoint: NonNullable<ServerFile['endpoint']>;
  /** Hears, each time, how many bytes of them have been read to be sent, and of which file the last ones were. */
  sent?: ((bytes: number, name: string) => void) | undefined;
}

/**
 * Uploads stored files, as a form, to the address that a server has named: exactly that one, and with the server's
 * credentials only on the server's own origin. Only the status says whether they were taken.
 * @throws GatewayError `upstream_refused`, `fetch_forbidden`, `fetch_failed`, and the errors of the store
 */
export async function deliverUpload(delivery: Delivery, deps: DeliveryDeps, signal: AbortSignal): Promise<void> {
  for (let tried = 1; ; tried++) {
    const failure = await send(delivery, deps, signal);
    if (!failure) return;
    const mayPass = failure.code === 'fetch_failed' || Number(failure.facts.status) >= 500;
    if (tried >= TRIES || !mayPass) throw failure;
    deps.log.info({ code: failure.code }, 'a file is uploaded to its server once more');
  }
}

async function send(
  { files, endpoint: { url, method }, sent }: Delivery,
  deps: DeliveryDeps,
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  let bytes = 0;
  async function* read(file: FileRecord) {
    const read = await deps.library.read(file, signal);
    if (read.kind !== 'found') throw new GatewayError('file_gone');
    for await (const chunk of read.body as AsyncIterable<Buffer>) {
      yield chunk;
      bytes += chunk.length;
      sent?.(bytes, file.name);
    }
  }
  const toSend = (file: FileRecord) => {
    const { name, mimeType, size } = file;
    return { name, mimeType, size, read: () => read(file) };
  };
  const [first, ...others] = files;
  const request = {
    url,
    method,
    headers: ownCredentials(url, deps),
    multipart: { fileField: FILE_FIELD, others: others.map(toSend) },
    file: toSend(first),
    rules: rulesFor(deps),
  };
  try {
    const { status } = await deps.transfer.upload(request, signal);
    if (status >= 200 && status <= 299) return undefined;
    return new GatewayError('upstream_refused', { server: deps.server, status });
  } catch (error) {
    signal.throwIfAborted();
    return asGatewayError(error);
  }
}
