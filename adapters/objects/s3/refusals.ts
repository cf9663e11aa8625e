import { adviceOnConnection } from '../../../gateway/errors/system.js';
import { CredentialsTooLong } from './credential-answers.js';
import { CredentialsTimeout, CredentialsUnread } from './credentials.js';

const KEYS =
  'objects.accessKeyId and objects.secretAccessKey, or without them what the AWS SDK finds in the environment';

const NEW_TOKEN =
  'The credentials have expired: renew objects.accessKeyId and objects.secretAccessKey and start Wharf again, or without them ' +
  'renew what the AWS SDK finds, which is read again by itself, except from variables of the environment.';

const LOOK_AT_CREDENTIALS =
  'Look at what the AWS SDK asks for credentials (such as AWS_CONTAINER_CREDENTIALS_FULL_URI, the metadata service of the machine, ' +
  'or credential_process), or set objects.accessKeyId and objects.secretAccessKey.';

const TOO_LONG =
  'Something before the store takes no body as long as a part of a file, 5 MiB: raise its limit (nginx: client_max_body_size).';

const FAILS = 'The store, or something before it, answers with an error of its own: look there.';

/** What to do about a success that no S3 gives. */
export const NOT_S3 =
  'What answers at objects.endpoint is not S3: name the port of its API. The console of MinIO, for example, has another one.';

const LACKS_A_REQUEST =
  'This store does not know a request that Wharf needs: take a store that knows it. STORAGE.md says what does not work without it.';

/** What to do about a refusal that goes on until an operator acts, by S3's code for it. */
const ON_REFUSAL: ReadonlyMap<string, string> = new Map([
  ['InvalidAccessKeyId', `The store does not know the access key: correct ${KEYS}.`],
  [
    'SignatureDoesNotMatch',
    'The secret is not that of the access key, or, where the store is Swift, the access key is unknown: correct objects.accessKeyId ' +
      'and objects.secretAccessKey. Or a proxy before the store ' +
      'changes what is signed: let it pass on the Host header and the path as they come (nginx: proxy_set_header Host $http_host, ' +
      'and no path in proxy_pass).',
  ],
  ['CredentialsProviderError', `There are no credentials: set ${KEYS}.`],
  ['ExpiredToken', NEW_TOKEN],
  ['InvalidToken', NEW_TOKEN],
  ['RequestTimeTooSkewed', 'The clocks of Wharf and of the store differ by more than 15 minutes: set both by NTP.'],
  ['NoSuchBucket', 'The bucket is gone, or objects.bucket names another one: create it.'],
  ['NotImplemented', LACKS_A_REQUEST],
  ['MethodNotAllowed', LACKS_A_REQUEST],
  ['NotFound', 'There is no bucket of this name: it is gone, or what answers at objects.endpoint is not S3.'],
]);

/** Which right is missing is known where it was needed: the doctor and the start say it. */
const LACKS_A_RIGHT = 'AccessDenied';

/** Without a code of S3's own: the answer to a HEAD has none, and some stores give none at all. */
const BARE_REFUSALS: ReadonlySet<number> = new Set([301, 400, 401, 403]);

interface Facts {
  /** The SDK's name for the error: S3's code, where there is one. */
  name: string;
  /** Node's code, or ''. */
  code: string;
  /** Of HTTP; 0 without an answer. */
  status: number;
  /** Where the bucket is, if the store has said so. */
  region?: string | undefined;
}

/** Of what gives the credentials. */
const ON_CREDENTIALS = new Set([CredentialsTimeout.name, CredentialsUnread.name, CredentialsTooLong.name]);

/** Whether the store answers, and refuses what Wharf asks until an operator acts. */
export function isRefusal({ name, status, region }: Facts): boolean {
  const isBare = /^(?:Unknown|Forbidden|UnknownError)$/.test(name) && BARE_REFUSALS.has(status);
  return (
    ON_REFUSAL.has(name) ||
    name === LACKS_A_RIGHT ||
    name === NotS3.name ||
    isBare ||
    (region !== undefined && status < 500 && status >= 300)
  );
}

/** What an operator does about a failed request; undefined where the error itself, or its place, says more. */
export function adviceOn(facts: Facts): string | undefined {
  const { name, status, region } = facts;
  if (region !== undefined) return undefined;
  if (name === NotS3.name) return NOT_S3;
  if (ON_CREDENTIALS.has(name)) return LOOK_AT_CREDENTIALS;
  if (status === 413) return TOO_LONG;
  return ON_REFUSAL.get(name) ?? (status >= 500 ? FAILS : adviceOnConnection(facts));
}

/** A success that no S3 gives: a page, such as that of a console or of a login in front of the store. */
export class NotS3 extends Error {
  override readonly name = 'NotS3';

  constructor(contentType: string) {
    super(`It answers with ${contentType}, which is a page and not an answer of S3.`);
  }
}
