import type { BucketLocationConstraint, LifecycleRule } from '@aws-sdk/client-s3';
import { AdvisedError, adviceOnCertificate, adviceOnPlain } from '../../../gateway/errors/system.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { Connection } from './connection.js';
import { isMissing, statusOf } from './errors.js';

interface BucketSettings {
  bucket: string;
  region: string;
  endpoint?: string | undefined;
  prefix: string;
  lifecycle: boolean;
  expireAfterDays?: number | undefined;
}

/** The rule's name in the bucket. Rules with other names are the operator's and stay. */
const RULE_ID = 'wharf';

/** A multipart upload lives as long as one message, far less than a day. */
const UNFINISHED_DAYS = 1;

const LOOK_ON_THE_WAY = 'Check objects.endpoint, what stands between it and Wharf, and the load of the store.';
const MAKE_ROOM = 'Make room in the store, or raise the quota of the bucket.';

/** @throws an Error that tells the operator which bucket, where, and what to do */
export async function prepareBucket(s3: Connection, settings: BucketSettings): Promise<void> {
  const where = `The bucket "${settings.bucket}" at ${settings.endpoint ?? `AWS S3 (${settings.region})`}`;
  const attempt = async <T>(
    what: string,
    advice: string,
    step: (abortSignal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    try {
      return await s3.run(step);
    } catch (cause) {
      const known = adviceOnCertificate(cause) ?? adviceOnPlain(cause) ?? adviceOnRegion(cause, settings.region);
      const todo = known ?? adviceOnCode(cause) ?? advice;
      throw new AdvisedError(`${where} ${what}: ${reasonOf(cause).replace(/\.$/, '')}.`, todo, { cause });
    }
  };

  const exists = await attempt(
    'cannot be reached',
    'Check objects.endpoint, objects.region, the credentials, and that they allow s3:ListBucket.',
    async (abortSignal) => {
      try {
        await askForBucket(s3, abortSignal);
        return true;
      } catch (error) {
        if (statusOf(error) === 404) return false;
        throw error;
      }
    },
  );
  if (!exists) {
    await attempt(
      'does not exist and cannot be created',
      'Create it, or give the credentials s3:CreateBucket.',
      (abortSignal) => createBucket(s3, settings, abortSignal),
    );
  }
  if (settings.lifecycle) {
    await attempt(
      'does not take a lifecycle rule',
      'Give the credentials s3:GetLifecycleConfiguration and s3:PutLifecycleConfiguration, or set objects.lifecycle to false and, if the store knows such rules, add this one yourself.',
      (abortSignal) => putLifecycle(s3, settings, abortSignal),
    );
  }
}

/**
 * The refusal of a HEAD has no body, and so no code: neither the operator nor the log could tell a wrong secret from a missing
 * permission or another region. The same refusal of a list has one.
 */
export async function askForBucket(
  { sdk, client, bucket: Bucket }: Connection,
  abortSignal: AbortSignal,
): Promise<void> {
  try {
    await client.send(new sdk.HeadBucketCommand({ Bucket }), { abortSignal });
  } catch (error) {
    const status = statusOf(error);
    const isRefusal = status >= 300 && status < 500 && status !== 404;
    if (isRefusal) await client.send(new sdk.ListObjectsV2Command({ Bucket, MaxKeys: 1 }), { abortSignal });
    throw error;
  }
}

async function createBucket(s3: Connection, settings: BucketSettings, abortSignal: AbortSignal): Promise<void> {
  const { sdk, client, bucket } = s3;
  // AWS requires a constraint for every region but its first; other stores use their own location names.
  const elsewhere = settings.endpoint === undefined && settings.region !== 'us-east-1';
  const constraint = elsewhere
    ? { CreateBucketConfiguration: { LocationConstraint: settings.region as BucketLocationConstraint } }
    : undefined;
  try {
    await client.send(new sdk.CreateBucketCommand({ Bucket: bucket, ...constraint }), { abortSignal });
  } catch (error) {
    // Another replica was faster. Stores say so by several codes, one of which also means a bucket of another account: a look tells.
    const isThere = await client.send(new sdk.HeadBucketCommand({ Bucket: bucket }), { abortSignal }).then(
      () => true,
      () => false,
    );
    if (!isThere) throw error;
  }
}

/** Adds our rule to those of the bucket: S3 can only replace them all. */
async function putLifecycle(s3: Connection, settings: BucketSettings, abortSignal: AbortSignal): Promise<void> {
  const { sdk, client, bucket: Bucket } = s3;
  let others: LifecycleRule[] = [];
  try {
    const { Rules } = await client.send(new sdk.GetBucketLifecycleConfigurationCommand({ Bucket }), { abortSignal });
    // A bucket without rules is answered for with 404. A page of a proxy, taken for none, would cost the bucket all it has.
    if (!Rules) throw new Error('it answers with something that is not a list of rules');
    others = Rules.filter((rule) => rule.ID !== RULE_ID);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const rule: LifecycleRule = {
    ID: RULE_ID,
    Status: 'Enabled',
    Filter: { Prefix: settings.prefix },
    AbortIncompleteMultipartUpload: { DaysAfterInitiation: UNFINISHED_DAYS },
    ...(settings.expireAfterDays === undefined ? {} : { Expiration: { Days: settings.expireAfterDays } }),
  };
  await client.send(
    new sdk.PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules: [...others, rule] } }),
    { abortSignal },
  );
}

/** Of what is not said by the store: that it is full or silent. */
function adviceOnCode(error: unknown): string | undefined {
  if (!(error instanceof GatewayError)) return undefined;
  if (error.code === 'store_full') return MAKE_ROOM;
  return error.code === 'store_timeout' ? LOOK_ON_THE_WAY : undefined;
}

function adviceOnRegion(error: unknown, region: string): string | undefined {
  const actual = (error as { cause?: { region?: unknown } }).cause?.region;
  return actual === undefined || actual === region
    ? undefined
    : `The bucket is in another region than "${region}": set objects.region to "${actual}".`;
}

/** The store's reason, for the operator: the time-out's setting, the S3 code and status, or the connection's error. */
function reasonOf(error: unknown): string {
  if (error instanceof GatewayError && error.code === 'store_timeout') {
    return `it did not answer within ${error.facts.limit} = ${error.facts.allowed} ms`;
  }
  const { message, cause } = error as { message: string; cause?: { name: string; message: string; code?: string } };
  if (cause === undefined) return message;
  const status = statusOf(cause);
  if (status === 0) return cause.code ?? cause.message;
  // where the list was not refused
  return cause.name === 'Unknown' ? `HTTP ${status}` : `${cause.name}, HTTP ${status}`;
}
