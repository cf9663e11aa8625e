import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { boundAnswers, passOverLongPauses } from './answers.js';
import { boundSearch } from './credential-answers.js';
import { inTime, type RenewedCredentials } from './credentials.js';
import { nameRequests, statusOf, storeTimeout, toStoreError } from './errors.js';
import type { ConnectionLimits } from './requests.js';
import type { SignedRequests } from './signed.js';

/** The SDK's module, loaded when the adapter is made. */
type Sdk = typeof import('@aws-sdk/client-s3');

export interface Connection {
  readonly sdk: Sdk;
  readonly client: S3Client;
  /** The requests of every file, tried before the client's. */
  readonly signed: SignedRequests;
  readonly bucket: string;
  /** `signPayload` */
  readonly signsPayload: boolean;
  /** `timeouts.store` */
  readonly timeoutMs: number;
  /**
   * Runs one step against the store under its deadline; throws a GatewayError or the signal's reason.
   * @param ms less than `timeouts.store` when another step has used the rest
   */
  run<T>(step: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal, ms?: number): Promise<T>;
}

interface ConnectionSettings {
  region: string;
  endpoint?: string | undefined;
  forcePathStyle?: boolean | undefined;
  accessKeyId?: string | undefined;
  secretAccessKey?: string | undefined;
  sessionToken?: string | undefined;
  signPayload: boolean;
}

/** Recovers from two lost answers in a row; a third means that the store is down. */
const MAX_ATTEMPTS = 3;

/**
 * More than the number of files that `limits.partMemory` lets be written at once, so that no request queues inside the
 * SDK, where Wharf cannot see it.
 */
const MAX_SOCKETS = 1024;

/** A host that answers at all accepts a connection at once; this leaves time for a retry before the deadline. */
const LONGEST_CONNECT_MS = 5000;

/** The part of a step's time in which its credentials must be there: it is tried twice, and then says what was missing. */
const CREDENTIALS_PART = 3;

/** S3 refuses requests whose time differs by 15 minutes; a smaller change of the clock is not why it refuses one. */
const LEAST_SKEW_MS = 10 * 60_000;

/** Keeps the SDK from writing its warnings to the console. */
const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** @param timeoutMs `timeouts.store` */
export function connectionLimits(timeoutMs: number): ConnectionLimits {
  return { maxSockets: MAX_SOCKETS, connectMs: Math.min(LONGEST_CONNECT_MS, timeoutMs) };
}

/** @param timeoutMs `timeouts.store` */
export function makeClient(sdk: Sdk, settings: ConnectionSettings, timeoutMs: number): S3Client {
  const { maxSockets, connectMs } = connectionLimits(timeoutMs);
  const agent = { keepAlive: true, maxSockets };
  const config: S3ClientConfig = {
    region: settings.region,
    // With a host name such as http://s3:9000 the SDK would otherwise use http://bucket.s3:9000.
    forcePathStyle: settings.forcePathStyle ?? settings.endpoint !== undefined,
    maxAttempts: MAX_ATTEMPTS,
    // The SDK waits for ever by default, so one hanging store would hold all sockets.
    requestHandler: {
      connectionTimeout: connectMs,
      requestTimeout: timeoutMs,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
      logger: SILENT,
    },
    logger: SILENT,
    // Ceph before 18 refuses the checksum trailers that the SDK sends by default, and each byte would be hashed again.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // From 2 MiB on the SDK would send `Expect` before a body, on a new connection for every part.
    expectContinueHeader: false,
  };
  if (settings.endpoint !== undefined) config.endpoint = settings.endpoint;
  const { accessKeyId, secretAccessKey, sessionToken } = settings;
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    config.credentials = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  } else {
    // each client has a chain of its own, which searches only when it is asked, and reads a file of credentials as it is then
    const asked = { ...config, ignoreCache: true };
    const chain = () => boundSearch(new sdk.S3Client(asked).config.credentials);
    config.credentials = inTime(chain, timeoutMs / CREDENTIALS_PART);
  }
  const client = new sdk.S3Client(config);
  boundAnswers(client);
  nameRequests(client);
  passOverLongPauses(client, MAX_ATTEMPTS, timeoutMs);
  if (!settings.signPayload) leavePayloadUnsigned(client);
  return client;
}

/**
 * Otherwise the SDK hashes every part for its signature. CPU seconds per GiB in 5 MiB parts on one core of the
 * developers' machine: unsigned 0.7–1.0, signed 1.5–1.9, unsigned with Content-MD5 2.2–2.6. TLS protects the bytes
 * already. Without TLS, the signed hash is cheaper and stronger than the MD5, and every store checks it.
 */
function leavePayloadUnsigned(client: S3Client): void {
  client.middlewareStack.add(
    (next, context) => (args) => {
      if (context.commandName === 'PutObjectCommand' || context.commandName === 'UploadPartCommand') {
        const { headers } = args.request as { headers: Record<string, string> };
        headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
      }
      return next(args);
    },
    { step: 'build', name: 'leavePayloadUnsigned' },
  );
}

/** Adds `run`, which ends a step of the SDK in time and gives each failure its code. */
export function connect(parts: Omit<Connection, 'run'>, renewed: RenewedCredentials): Connection {
  const { timeoutMs } = parts;
  return {
    ...parts,
    async run(step, signal, ms = timeoutMs) {
      signal?.throwIfAborted();
      const controller = new AbortController();
      const deadline = setTimeout(() => controller.abort(storeTimeout(timeoutMs)), ms);
      const forward = () => controller.abort(signal?.reason);
      signal?.addEventListener('abort', forward, { once: true });
      // The SDK checks the signal between attempts only after its pause, so the wait is ended here.
      const aborted = new Promise<never>((_, reject) => {
        controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true });
      });
      try {
        const tried = renewed.around(() => afterClock(parts.client, () => step(controller.signal)));
        return await Promise.race([tried, aborted]);
      } catch (error) {
        if (controller.signal.aborted) throw controller.signal.reason;
        throw toStoreError(error, timeoutMs);
      } finally {
        clearTimeout(deadline);
        signal?.removeEventListener('abort', forward);
      }
    },
  };
}

/**
 * Makes a step again that was refused because this machine's clock was set. The SDK learns the time from the refusal and
 * does so itself, but not where it has to see the refusal's code: the answer to a HEAD has none.
 */
async function afterClock<T>({ config }: S3Client, step: () => Promise<T>): Promise<T> {
  const before = config.systemClockOffset;
  try {
    return await step();
  } catch (error) {
    if (statusOf(error) !== 403 || Math.abs(config.systemClockOffset - before) < LEAST_SKEW_MS) throw error;
    return step();
  }
}
