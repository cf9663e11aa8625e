import { asGatewayError, GatewayError } from '../../errors.js';
import type { Inquire } from '../../mcp/inquire.js';
import { sizeText } from '../../policy/amounts.js';
import type {
  FileFacts,
  OwnRequest,
  RemoteTransfer,
  TransferDescriptor,
  TransferRefusal,
} from '../../ports/dialect.js';
import type { Delivery } from '../../ports/file-slot.js';
import type { JsonValue } from '../../ports/json.js';
import type { Transfer } from '../../ports/transfer.js';
import { parseJson } from '../../wire/json/parse.js';
import type { CommonDeps } from '../common-deps.js';
import { brief, rulesFor, trimmed } from './transfer-rules.js';
import type { FirstAnswer, UnknownMethods } from './unknown-methods.js';

/**
 * How far a server's clock may differ from ours before its times are used against it. Clocks set over the network
 * differ by milliseconds, those of machines that have just woken up by seconds; the addresses live for minutes. An
 * address that expired more recently is tried, and reports that itself.
 */
const CLOCK_SKEW_MS = 30_000;

/** What is needed to upload a file to a server. */
export interface UploadDeps
  extends Pick<
    CommonDeps,
    'server' | 'dialects' | 'transfer' | 'limits' | 'timeouts' | 'upstreamOrigin' | 'fetchOrigins' | 'ownPorts'
  > {
  clock: Pick<CommonDeps['clock'], 'now'>;
  unknownMethods: UnknownMethods;
}

/** For whom, and how the server is asked. */
interface UploadContext {
  deps: UploadDeps;
  principal: string;
  /** Asks the server in the session of the current exchange. */
  inquire: Inquire;
  signal: AbortSignal;
}

/** A file that may have to be read more than once. */
interface UploadSource extends FileFacts {
  read(): AsyncIterable<Buffer>;
}

type Authorized = NonNullable<ReturnType<RemoteTransfer['readUpload']>>;

/** One file on its way to a server, and how its refusal is told. */
interface Sending {
  file: UploadSource;
  /** Of the dialect that the server takes it by. */
  revision: string;
  transfer: RemoteTransfer;
  /** Asks the server, in the session of the current exchange, by the first of these methods that it knows. */
  ask: (requests: readonly OwnRequest[]) => Promise<FirstAnswer>;
  /** The server, in texts. */
  server: string;
  refused: (text: string, refusal?: TransferRefusal, cause?: unknown) => GatewayError;
}

/**
 * Uploads a file to a server that has a protocol of its own for it.
 * @returns the argument's value afterwards; undefined when the server turns out not to know the protocol
 * @throws GatewayError `file_refused`
 */
export async function uploadToServer(
  file: UploadSource,
  delivery: Pick<Delivery & { kind: 'uploaded' }, 'dialect' | 'revision'>,
  argument: string,
  context: UploadContext,
): Promise<JsonValue | undefined> {
  const { deps, signal } = context;
  const sending = sendingOf(file, delivery, argument, context);
  const upload = await freshAddress(sending, deps);
  if (!upload) return undefined;
  const { server, transfer, refused } = sending;
  const { status, body } = await send(file, upload.descriptor, deps, signal).catch((thrown: unknown) => {
    signal.throwIfAborted();
    const error = asGatewayError(thrown);
    throw error.code.startsWith('fetch_') ? refused(trimmed(error.message), undefined, error) : error;
  });
  if (status < 200 || status > 299) {
    throw refused(`${server} answered HTTP ${status}`, refusalIn(body, transfer));
  }
  if (upload.complete) await complete(upload.complete, sending);
  return upload.argument;
}

function sendingOf(
  file: UploadSource,
  { dialect: name, revision }: Pick<Delivery & { kind: 'uploaded' }, 'dialect' | 'revision'>,
  argument: string,
  { deps, principal, inquire }: UploadContext,
): Sending {
  const transfer = deps.dialects.find((dialect) => dialect.name === name)?.transfer;
  if (!transfer) throw new Error(`the dialect ${name} has no transfer`);
  const methods = deps.unknownMethods.of(principal);
  return {
    file,
    revision,
    transfer,
    ask: (requests) => methods.first(requests, inquire),
    server: `the server "${deps.server}"`,
    refused: (text, { reason, ...sizes } = { reason: 'unreachable' }, cause) =>
      new GatewayError(
        'file_refused',
        { reason, argument, text: `Argument '${argument}' could not be uploaded: ${text}.`, ...sizes },
        cause,
      ),
  };
}

/** An address for the file that has not expired. @returns undefined when the server does not know the protocol */
async function freshAddress(sending: Sending, deps: UploadDeps): Promise<Authorized | undefined> {
  let upload = await authorize(sending);
  // some servers return an address that they made earlier
  if (upload && expiryOf(upload, deps) !== undefined) upload = await authorize(sending);
  const expired = upload && expiryOf(upload, deps);
  if (expired !== undefined) {
    throw sending.refused(`${sending.server} gave an address for it, twice, that had expired (${expired})`);
  }
  return upload;
}

/** Asks the server where the file goes. @returns undefined when it does not know the protocol */
async function authorize({ file, revision, transfer, ask, server, refused }: Sending): Promise<Authorized | undefined> {
  const { name, mimeType, size, digest } = file;
  const answer = await ask(transfer.uploadRequests({ name, mimeType, size, digest }, revision));
  switch (answer.kind) {
    case 'unknown':
      return undefined;
    case 'silent':
      throw refused(`${server} did not say where to`);
    case 'refused':
      throw refused(`${server} refused: ${brief(answer.error.message)}`, transfer.readRefusal(answer.error.data));
  }
  const authorized = transfer.readUpload(answer.request, answer.result, revision);
  if (!authorized) throw refused(`${server} answered ${answer.request.method} with something else`);
  // the URI means the bytes of that digest: with another digest it is another file's
  if (authorized.digest !== undefined && authorized.digest !== digest) {
    throw refused(`${server} takes it for another file, of another digest`, { reason: 'digestMismatch' });
  }
  if (authorized.size !== undefined && authorized.size !== size) {
    throw refused(`${server} takes it for another file, of ${sizeText(authorized.size)}`, { reason: 'sizeMismatch' });
  }
  return authorized;
}

/** Tells the server that the upload is complete. */
async function complete(request: OwnRequest, { transfer, ask, server, refused }: Sending): Promise<void> {
  const completed = await ask([request]);
  const why = completed.kind === 'refused' ? transfer.readRefusal(completed.error.data) : undefined;
  // without a reason it may just not know the method: if the file is missing, the call will show it
  if (completed.kind === 'silent' || why) throw refused(`${server} did not complete it by ${request.method}`, why);
}

/** When an upload address expired, and our clock's time, in words; undefined while it is usable. */
function expiryOf({ descriptor: { expiresAt } }: Authorized, { clock }: Pick<UploadDeps, 'clock'>): string | undefined {
  const now = clock.now();
  if (expiresAt === undefined || expiresAt > now - CLOCK_SKEW_MS) return undefined;
  return `at ${new Date(expiresAt).toISOString()}, and it is ${new Date(now).toISOString()}`;
}

type UploadRequest = Parameters<Transfer['upload']>[0];

function send(file: UploadSource, descriptor: TransferDescriptor, deps: UploadDeps, signal: AbortSignal) {
  const { method, url, headers, multipart } = descriptor;
  const request: UploadRequest = {
    url,
    method: method === 'PUT' ? 'PUT' : 'POST',
    headers,
    ...(multipart && { multipart }),
    file: { name: file.name, mimeType: file.mimeType, size: file.size, read: () => file.read() },
    rules: rulesFor(deps),
  };
  return deps.transfer.upload(request, signal);
}

/** Reads `{"error":{"reason":…}}` from the answer to an upload. */
function refusalIn(body: Buffer, transfer: RemoteTransfer): TransferRefusal | undefined {
  try {
    const answer = parseJson(body.toString('utf8')) as { error?: JsonValue };
    return transfer.readRefusal(answer?.error ?? undefined);
  } catch {
    return undefined;
  }
}
