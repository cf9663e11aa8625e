import { z } from 'zod';
import type { ObjectRead, ObjectStore, ObjectStoreDeps } from '../../gateway/ports/object-store.js';
import { askForBucket, prepareBucket } from './s3/bucket.js';
import { connect, connectionLimits, makeClient } from './s3/connection.js';
import { RenewedCredentials } from './s3/credentials.js';
import { abortUploads, listObjects } from './s3/list.js';
import { readObject, readWhole, statObject } from './s3/read.js';
import { s3Resumable } from './s3/resumable.js';
import { SignedRequests } from './s3/signed.js';
import { S3Writer } from './s3/writer.js';

/** What else stands in an address would be left out of every request. */
function address() {
  return z.url({ protocol: /^https?$/ }).refine((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    return url === undefined || (!/[?#]/.test(text) && url.username + url.password === '');
  }, 'must have no user, no password, nothing behind ? or #: credentials are accessKeyId and secretAccessKey');
}

/** Any S3: AWS, Ceph, MinIO, R2 and the like. */
export const settings = z
  .strictObject({
    bucket: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
        'must be the name of a bucket: 3 to 63 small letters, digits, dots and dashes',
      )
      // it lists its objects in no order, and takes no signature but that of a session
      .refine(
        (name) => !name.endsWith('--x-s3'),
        'is a directory bucket, which Wharf cannot use; name a general purpose one',
      )
      .describe('Bucket; created when missing, if the credentials allow it.'),
    region: z.string().min(1).default('us-east-1').describe('Region, part of every signature. Default "us-east-1".'),
    endpoint: address().optional().describe('URL at which Wharf reaches the store. Default: AWS.'),
    publicEndpoint: address()
      .optional()
      .describe('URL at which clients reach the store, for presigned links. Default: `endpoint`.'),
    forcePathStyle: z
      .boolean()
      .optional()
      .describe('Put the bucket into the path instead of the host name. Default: true when `endpoint` is set.'),
    prefix: z
      .string()
      .max(100)
      .regex(/^(?:[\w.-]+\/)*$/, 'must be empty or end with "/", without "/" at its beginning')
      .default('')
      .describe('Prefix of every key, so that several products can share a bucket. Default none.'),
    accessKeyId: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Default: the AWS SDK's own chain (environment, profile, container or instance role). Where such credentials end before a presigned link should, Wharf gives a link of its own.",
      ),
    secretAccessKey: z.string().min(1).optional().describe('Belongs to `accessKeyId`.'),
    sessionToken: z
      .string()
      .min(1)
      .optional()
      .describe(
        'For temporary credentials, whose end Wharf does not know. Presigned links made with them expire with them.',
      ),
    lifecycle: z
      .boolean()
      .default(false)
      .describe(
        'Whether to keep a rule named "wharf" in the bucket, which lets the store itself remove unfinished uploads after a day. Default false.',
      ),
    expireAfterDays: z
      .number()
      .int()
      .positive()
      .optional()
      .describe(
        'With `lifecycle`: days after which the store removes a file, in use or not. Default never: Wharf removes files whose record has expired.',
      ),
    signPayload: z
      .boolean()
      .default(false)
      .describe(
        'Whether each part is hashed and the hash signed, so that the store refuses altered bytes, for connections without TLS. Default false; Wharf warns if `endpoint` is http:// on another machine.',
      ),
  })
  .refine((s) => (s.accessKeyId === undefined) === (s.secretAccessKey === undefined), {
    path: ['secretAccessKey'],
    message: 'accessKeyId and secretAccessKey go together',
  })
  .refine((s) => s.expireAfterDays === undefined || s.lifecycle, {
    path: ['expireAfterDays'],
    message: 'needs lifecycle: true',
  })
  .meta({
    examples: [
      {
        bucket: 'wharf',
        region: 'eu-central-1',
        endpoint: 'http://s3:9000',
        signPayload: true,
        publicEndpoint: 'https://files.example.com',
        accessKeyId: `\${S3_ACCESS_KEY_ID}`,
        secretAccessKey: `\${S3_SECRET_ACCESS_KEY}`,
      },
    ],
  });

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** What is allowed and unwise in these settings, for the log and `wharf check`. */
export function warnings(config: z.output<typeof settings>) {
  return [...alterable(config), ...withBucket(config, 'endpoint'), ...withBucket(config, 'publicEndpoint')];
}

/**
 * Consoles of stores show the address of a bucket, in which it stands already: requests would be for a bucket in it. Of hosts only
 * S3's own are meant: files.example.com is a good name for where the bucket "files" is.
 */
function withBucket(config: z.output<typeof settings>, key: 'endpoint' | 'publicEndpoint') {
  const { bucket, [key]: text } = config;
  if (text === undefined) return [];
  const { hostname, pathname } = new URL(text);
  const isInPath = pathname.replace(/\/$/, '').endsWith(`/${bucket}`);
  if (!isInPath && !hostname.startsWith(`${bucket}.s3`)) return [];
  const message = `names the bucket "${bucket}", which Wharf adds itself: leave it out, unless a proxy at that address takes it so`;
  return [{ path: [key], message }];
}

/** Without TLS and without a signature over the bytes, altering them on their way to the store goes unnoticed. */
function alterable({ endpoint, signPayload }: z.output<typeof settings>) {
  if (endpoint === undefined || signPayload) return [];
  const { protocol, hostname } = new URL(endpoint);
  if (protocol !== 'http:' || LOOPBACK.test(hostname)) return [];
  const message =
    'is false, and objects.endpoint has neither TLS nor an address of this machine: files can be altered on their way ' +
    'to the store, and neither Wharf nor the store notices. Set signPayload: true, or an https:// endpoint';
  return [{ path: ['signPayload'], message }];
}

/** "5 MiB to 5 GiB. There is no minimum size limit on the last part." (S3, multipart upload limits) */
const PART_SIZE = 5 * 1024 * 1024;

/** An object store in a bucket, for any number of replicas. */
export async function create(
  config: z.output<typeof settings>,
  deps: Pick<ObjectStoreDeps, 'timeouts'>,
): Promise<ObjectStore> {
  const timeoutMs = deps.timeouts.store;
  const [sdk, presigner, signature] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/s3-request-presigner'),
    import('@smithy/signature-v4'),
  ]);
  const client = makeClient(sdk, config, timeoutMs);
  // A signature covers host and port, so links for another address need a client that signs for that address.
  const signer =
    config.publicEndpoint === undefined
      ? client
      : makeClient(sdk, { ...config, endpoint: config.publicEndpoint }, timeoutMs);
  const { bucket, signPayload } = config;
  const modules = { client: sdk, presigner, signature };
  const limits = connectionLimits(timeoutMs);
  const signed = new SignedRequests(modules, client, bucket, limits);
  const links = signer === client ? signed : new SignedRequests(modules, signer, bucket, limits);
  const renewed = new RenewedCredentials([client.config.credentials, signer.config.credentials]);
  const s3 = connect({ sdk, client, signed, bucket, signsPayload: signPayload, timeoutMs }, renewed);
  const target = (key: string) => ({ Bucket: config.bucket, Key: config.prefix + key });

  const store: ObjectStore = {
    name: 's3',
    partSize: PART_SIZE,

    async create(key, signal) {
      signal.throwIfAborted();
      return new S3Writer(s3, { key: config.prefix + key, partSize: PART_SIZE }, signal);
    },

    resumable: s3Resumable(s3, config.prefix, PART_SIZE),

    async get(key, { range, signal }): Promise<ObjectRead> {
      const read = await readObject(s3, config.prefix + key, range, signal);
      if (read.kind === 'missing') return read;
      if (read.kind === 'found') return { kind: 'found', stat: { key, ...read.about }, body: read.body };
      const stat = await store.head(key);
      return stat === undefined ? { kind: 'missing' } : { kind: 'range-not-satisfiable', size: stat.size };
    },

    getWhole: (key, size, signal) => readWhole(s3, config.prefix + key, size, signal),

    async head(key) {
      const about = await statObject(s3, config.prefix + key);
      return about && { key, ...about };
    },

    async remove(key) {
      // S3 answers 204 whether or not the object existed.
      await s3.run((abortSignal) => client.send(new sdk.DeleteObjectCommand(target(key)), { abortSignal }));
    },

    async *list(prefix, signal) {
      for await (const { Key, Size = 0, LastModified } of listObjects(s3, { prefix: config.prefix + prefix }, signal)) {
        yield { key: Key.slice(config.prefix.length), size: Size, modifiedAt: LastModified?.getTime() ?? 0 };
      }
    },

    async keysAfter(prefix, after, most) {
      const keys: string[] = [];
      // "Amazon S3 starts listing after this specified key" (ListObjectsV2)
      const wanted = { prefix: config.prefix + prefix, after: config.prefix + after, most };
      for await (const { Key } of listObjects(s3, wanted)) {
        keys.push(Key.slice(config.prefix.length));
        if (keys.length === most) break;
      }
      return keys;
    },

    async presign(key, options) {
      return s3.run(() => links.link(config.prefix + key, options));
    },

    presignsUntil: () => s3.run(() => links.until()),

    removeUnfinished: (olderThan, signal) => abortUploads(s3, { prefix: config.prefix, olderThan }, signal),

    async prepare() {
      await prepareBucket(s3, config);
    },

    async check() {
      await s3.run((abortSignal) => askForBucket(s3, abortSignal));
    },

    async close() {
      signed.close();
      client.destroy();
      signer.destroy();
    },
  };
  return store;
}
