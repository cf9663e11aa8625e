import type { S3Client } from '@aws-sdk/client-s3';
import { AdvisedError, descriptorsExhausted } from '../../../gateway/errors/system.js';
import { GatewayError } from '../../../gateway/errors.js';
import { adviceOn, isRefusal } from './refusals.js';

/** Codes for a full store: Ceph, MinIO (disk, bucket quota), and generic ones. */
const FULL_CODES = new Set([
  'QuotaExceeded',
  'InsufficientStorage',
  'InsufficientCapacity',
  'XMinioStorageFull',
  'XMinioAdminBucketQuotaExceeded',
]);

/** The SDK calls a reset connection "TimeoutError" too; only the code distinguishes them. */
const RESET_CODES = new Set(['ECONNRESET', 'EPIPE']);

/** Turns a failed request into the port's error, with the harmless part of the SDK's error as its cause. */
export function toStoreError(error: unknown, timeoutMs: number): GatewayError {
  if (error instanceof GatewayError) return error;
  const facts = factsOf(error);
  const { name, code, status } = facts;
  const isFull = status === 507 || FULL_CODES.has(name);
  const cause = harmless(
    error,
    isFull ? undefined : adviceOn({ ...facts, status: status || (pageStatus(error) ?? 0) }),
  );
  const exhausted = descriptorsExhausted(error, cause);
  if (exhausted) return exhausted;
  if (name === 'TimeoutError' && !RESET_CODES.has(code)) return storeTimeout(timeoutMs, cause);
  if (isFull) return new GatewayError('store_full', {}, cause);
  return new GatewayError('store_unavailable', isRefusal(facts) ? { refused: true } : {}, cause);
}

/** @param timeoutMs `timeouts.store` */
export function storeTimeout(timeoutMs: number, cause?: unknown): GatewayError {
  return new GatewayError('store_timeout', { limit: 'timeouts.store', allowed: timeoutMs }, cause);
}

/** The key does not exist. A missing bucket is a failure, not an answer about the key: HEAD cannot tell them apart. */
export function isMissing(error: unknown): boolean {
  const { name, status } = factsOf(error);
  return status === 404 && name !== 'NoSuchBucket';
}

/** True when the store refused with this S3 error code, such as `NoSuchUpload`. */
export function isCode(error: unknown, code: string): boolean {
  return factsOf(error).name === code;
}

/** HTTP status of the store's answer, 0 when there was none. */
export function statusOf(error: unknown): number {
  return factsOf(error).status;
}

function factsOf(error: unknown): { name: string; code: string; status: number; region?: string | undefined } {
  const { name, code, $metadata } = (error ?? {}) as {
    name?: unknown;
    code?: unknown;
    $metadata?: { httpStatusCode?: number };
  };
  return {
    name: typeof name === 'string' ? name : '',
    code: typeof code === 'string' ? code : '',
    status: $metadata?.httpStatusCode ?? 0,
    region: regionOf(error ?? {}),
  };
}

/**
 * A copy of what the operator needs. The SDK's error also references the request with its Authorization header (in a
 * property that cannot be deleted) and quotes the store's answer: for a wrong signature that contains the access key,
 * the string to sign and the signature.
 */
function harmless(error: unknown, todo: string | undefined): Error | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { name, stack, code, $metadata } = error as Record<string, unknown>;
  const message = messageOf(error as { message?: unknown });
  const facts = Object.entries({ name, stack, code, $metadata, region: regionOf(error) }).filter(
    ([, value]) => value !== undefined,
  );
  const copy = todo === undefined ? new Error(message) : new AdvisedError(message, todo, { message });
  return Object.assign(copy, Object.fromEntries(facts));
}

/** Where the bucket is, by the store's refusal: AWS says so to who asks another region for it. */
function regionOf(error: object): string | undefined {
  const { $response } = error as { $response?: { headers?: Readonly<Record<string, unknown>> } };
  const region = $response?.headers?.['x-amz-bucket-region'];
  return typeof region === 'string' && /^[a-z\d-]{1,64}$/.test(region) ? region : undefined;
}

/** Codes of a request that a store does not know. */
const UNKNOWN_REQUEST = /^(?:NotImplemented|MethodNotAllowed)$/;

/**
 * The SDK calls an answer without a text "UnknownError", as each to a HEAD is: its status says more. A store that does not know a
 * request does not name it.
 */
function messageOf(error: { message?: unknown }): string {
  const { name, status } = factsOf(error);
  const { message } = error;
  const page = pageStatus(error);
  if (page !== undefined) return `HTTP ${page}, with a text that is not one of S3.`;
  if (message === 'UnknownError' && status > 0) return `HTTP ${status}${toRequest(error)}`;
  const text = typeof message === 'string' ? message : '';
  return UNKNOWN_REQUEST.test(name) ? `HTTP ${status}${toRequest(error)}. ${text}`.trimEnd() : text;
}

/**
 * The status of an answer that the SDK could not read, of which its error names only a property of its own. It is of what stands
 * before the store, so it says nothing about a key.
 */
function pageStatus(error: unknown): number | undefined {
  const { message, $response } = error as { message?: unknown; $response?: { statusCode?: unknown } };
  const isUnread =
    typeof message === 'string' && ['XML parse error', 'Deserialization error'].every((part) => message.includes(part));
  return isUnread && typeof $response?.statusCode === 'number' ? $response.statusCode : undefined;
}

/** What was asked of the store when an error came, by S3's name for it. */
const REQUEST = Symbol('request');

/** Notes in each error which request it answers: `AccessDenied` without a text leaves open which right is missing. */
export function nameRequests(client: S3Client): void {
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        try {
          return await next(args);
        } catch (error) {
          if (typeof error === 'object' && error !== null)
            Object.assign(error, { [REQUEST]: commandName.replace(/Command$/, '') });
          throw error;
        }
      },
    { step: 'initialize', name: 'nameRequests' },
  );
}

function toRequest(error: object): string {
  const { [REQUEST]: request } = error as { [REQUEST]?: string };
  return request === undefined ? '' : ` to ${request}`;
}
