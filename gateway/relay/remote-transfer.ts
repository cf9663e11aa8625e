import { GatewayError } from '../errors.js';
import type { Delivery } from '../ports/file-slot.js';
import type { JsonValue } from '../ports/json.js';
import type { Transfer, TransferRules } from '../ports/transfer.js';
import type { Ask } from './catalog.js';
import type { RelayDeps } from './exchange.js';
import type { IncomingFile } from './incoming-files.js';

export interface RemoteContext {
  deps: RelayDeps;
  ask: Ask;
  signal: AbortSignal;
}

/**
 * Uploads a file to a server that has a protocol of its own for it.
 * @returns what stands in the argument then
 * @throws GatewayError `file_refused`
 */
export async function uploadToServer(
  file: IncomingFile,
  { dialect: name, revision }: Delivery & { kind: 'uploaded' },
  argument: string,
  { deps, ask, signal }: RemoteContext,
): Promise<JsonValue> {
  const transfer = deps.dialects.find((dialect) => dialect.name === name)?.transfer;
  if (!transfer) throw new Error(`the dialect ${name} has no transfer`);
  const facts = { name: file.name, mimeType: file.mimeType, size: file.size, digest: file.digest };
  const refuse = (text: string, cause?: unknown) =>
    new GatewayError(
      'file_refused',
      { reason: 'unreachable', argument, text: `Argument '${argument}' could not be uploaded: ${text}.` },
      cause,
    );
  for (const request of transfer.uploadRequests(facts, revision)) {
    const result = await ask(request.method, request.params);
    if (!result) continue;
    const upload = transfer.readUpload(request, result, revision);
    if (!upload) throw refuse(`the server "${deps.server}" answered ${request.method} with something else`);
    await send(file, upload.descriptor, deps, signal).catch((error: unknown) => {
      throw refuse(error instanceof GatewayError ? error.message : 'its store failed', error);
    });
    if (upload.complete && !(await ask(upload.complete.method, upload.complete.params))) {
      throw refuse(`the server "${deps.server}" refused ${upload.complete.method}`);
    }
    return upload.argument;
  }
  throw refuse(`the server "${deps.server}" gives no place to upload it to`);
}

type UploadRequest = Parameters<Transfer['upload']>[0];

async function send(
  file: IncomingFile,
  descriptor: { method: string; url: string; headers: Record<string, string>; multipart?: UploadRequest['multipart'] },
  deps: RelayDeps,
  signal: AbortSignal,
): Promise<void> {
  const { method, url, headers, multipart } = descriptor;
  const request: UploadRequest = {
    url,
    method: method === 'PUT' ? 'PUT' : 'POST',
    headers,
    ...(multipart && { multipart }),
    file: { name: file.name, mimeType: file.mimeType, size: file.size, read: () => file.read() },
    rules: rulesFor(deps),
  };
  const { status } = await deps.transfer.upload(request, signal);
  if (status < 200 || status > 299) throw new GatewayError('fetch_failed', { status });
}

/** What may be asked of addresses that this server named. */
export function rulesFor(deps: Pick<RelayDeps, 'limits' | 'timeouts' | 'upstreamOrigin'>): TransferRules {
  const { limits, timeouts, upstreamOrigin } = deps;
  return {
    ...(upstreamOrigin && { ownOrigin: upstreamOrigin }),
    maxBytes: limits.file,
    timeouts: { connect: timeouts.store, idle: timeouts.idle, total: timeouts.upstream },
    redirects: 3,
  };
}
