import { GatewayError } from '../errors.js';

/** Node's codes for a certificate of a CA that this process does not know. */
const UNKNOWN_CA = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'INVALID_CA',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Codes for one that is for another name. */
const OTHER_NAME = new Set(['ERR_TLS_CERT_ALTNAME_INVALID', 'HOSTNAME_MISMATCH']);

/** More than any part of Wharf wraps an error in another. */
const MOST_CAUSES = 6;

const TRUST =
  'Wharf trusts the CAs that Node knows. Name one of your own in its environment, NODE_EXTRA_CA_CERTS=/path/ca.pem, or let it take ' +
  'those of the system: NODE_USE_SYSTEM_CA=1.';

const NAME_IT = 'Name the host as its certificate does, or have one made for this name.';

/**
 * The real error of a system call that failed because too many files are open; otherwise a server, a store or a disk
 * would be blamed. Undefined for any other error.
 * @param cause for the log, if it is not the error itself
 */
export function descriptorsExhausted(error: unknown, cause = error): GatewayError | undefined {
  const { code, errors } = (typeof error === 'object' && error !== null ? error : {}) as {
    code?: unknown;
    errors?: unknown;
  };
  // connecting to one of several addresses fails with all their errors
  const isSo =
    code === 'EMFILE' ||
    code === 'ENFILE' ||
    (Array.isArray(errors) && errors.some((one) => descriptorsExhausted(one)));
  return isSo ? new GatewayError('descriptors_exhausted', {}, cause) : undefined;
}

/**
 * What to do about a certificate that was refused; undefined for any other error. Node itself proposes an option of `node`, which
 * an operator of Wharf does not start.
 */
export function adviceOnCertificate(error: unknown): string | undefined {
  let cause = error;
  for (let depth = 0; depth < MOST_CAUSES && typeof cause === 'object' && cause !== null; depth++) {
    const { code, errors, cause: next } = cause as { code?: unknown; errors?: unknown; cause?: unknown };
    if (typeof code === 'string' && UNKNOWN_CA.has(code)) return TRUST;
    if (typeof code === 'string' && OTHER_NAME.has(code)) return NAME_IT;
    // connecting to one of several addresses fails with the errors of all
    cause = next ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return undefined;
}

/** Why a value of the state store cannot be used. It holds nothing of the value. */
export class NotWritten extends Error {
  constructor() {
    super('The state store holds a value that Wharf has not written there. Another program may use the same keys.');
  }
}

/** Why a part cannot be used, followed by what to do about it. The log shows both as one text, and the doctor apart. */
export class AdvisedError extends Error {
  readonly why: string;
  readonly todo: string;

  constructor(why: string, todo: string, options?: ErrorOptions) {
    super(`${why} ${todo}`, options);
    this.why = why;
    this.todo = todo;
  }
}
