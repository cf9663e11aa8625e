/** Where the tests' Redis and S3 are, as test/helpers/global-setup has found or started them. */

/** URL of a Redis that tests share: each test uses a key prefix of its own. */
export function redisUrl(): string {
  return required('WHARF_TEST_REDIS_URL');
}

/** Settings of the S3 adapter for the tests' store. Each test uses a bucket of its own, see `freshName`. */
export function s3Config(bucket: string) {
  return {
    bucket,
    region: 'us-east-1',
    endpoint: required('WHARF_TEST_S3_ENDPOINT'),
    forcePathStyle: true,
    accessKeyId: process.env.WHARF_TEST_S3_ACCESS_KEY ?? 'testaccesskey',
    secretAccessKey: process.env.WHARF_TEST_S3_SECRET_KEY ?? 'testsecretkey',
  };
}

/** A name that no other test, process or run uses; fits buckets, key prefixes and folders. */
export function freshName(what: string): string {
  return `wharf-${what}-${process.pid}-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;
}

function required(variable: string): string {
  const value = process.env[variable];
  if (value === undefined) throw new Error(`${variable} is not set; run the tests through jest's global setup.`);
  return value;
}
