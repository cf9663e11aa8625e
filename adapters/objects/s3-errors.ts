import { GatewayError } from '../../gateway/errors.js';

/** What stores call "no room": Ceph, MinIO (disk, bucket quota), and the generic names others use. */
const FULL_CODES = new Set([
  'QuotaExceeded',
  'InsufficientStorage',
  'InsufficientCapacity',
  'XMinioStorageFull',
  'XMinioAdminBucketQuotaExceeded',
]);

/** The SDK calls a reset connection "TimeoutError" too; only the code tells them apart. */
const RESET_CODES = new Set(['ECONNRESET', 'EPIPE']);

/**
 * Members of an SDK error that may be kept. The rest is what a store put into its answer, and on a signature that does
 * not match that is the access key, the string to sign and the signature.
 */
const HARMLESS = new Set<PropertyKey>(['name', 'message', 'stack', 'code', '$fault', '$metadata']);

/** A failed request as the port's error, with the SDK's error, stripped, as its cause. */
export function toStoreError(error: unknown, timeoutMs: number): GatewayError {
  if (error instanceof GatewayError) return error;
  const { name, code, status } = factsOf(error);
  const cause = strip(error);
  if (name === 'TimeoutError' && !RESET_CODES.has(code)) return storeTimeout(timeoutMs, cause);
  if (status === 507 || FULL_CODES.has(name)) return new GatewayError('store_full', {}, cause);
  return new GatewayError('store_unavailable', {}, cause);
}

export function storeTimeout(timeoutMs: number, cause?: unknown): GatewayError {
  return new GatewayError('store_timeout', { limit: 'timeouts.store', allowed: timeoutMs }, cause);
}

/** The key does not exist. A missing bucket is a failure, not an answer about the key; HEAD cannot tell them apart. */
export function isMissing(error: unknown): boolean {
  const { name, status } = factsOf(error);
  return status === 404 && name !== 'NoSuchBucket';
}

/** Whether the store refused with this S3 error code, such as `NoSuchUpload`. */
export function isCode(error: unknown, code: string): boolean {
  return factsOf(error).name === code;
}

/** HTTP status of the store's answer, 0 when there was none. */
export function statusOf(error: unknown): number {
  return factsOf(error).status;
}

function factsOf(error: unknown): { name: string; code: string; status: number } {
  const { name, code, $metadata } = (error ?? {}) as {
    name?: unknown;
    code?: unknown;
    $metadata?: { httpStatusCode?: number };
  };
  return {
    name: typeof name === 'string' ? name : '',
    code: typeof code === 'string' ? code : '',
    status: $metadata?.httpStatusCode ?? 0,
  };
}

/** Takes everything off `error` that is not known to be harmless. */
function strip(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return undefined;
  for (const key of Reflect.ownKeys(error)) if (!HARMLESS.has(key)) Reflect.deleteProperty(error, key);
  return error;
}
