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

/** Codes for one whose time is over or has not begun, and what to do about it. */
const OF_TIME: ReadonlyMap<unknown, string> = new Map([
  ['CERT_HAS_EXPIRED', "Renew the certificate there, or one that it is signed by; or set this machine's clock by NTP."],
  ['CERT_NOT_YET_VALID', "Set this machine's clock by NTP, or wait until the certificate there counts."],
]);

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

/** The real error where a module of Wharf itself is gone when it is first needed. Undefined for any other error. */
export function installationChanged(error: unknown): GatewayError | undefined {
  return Object(error).code === 'ERR_MODULE_NOT_FOUND'
    ? new GatewayError('installation_changed', {}, error)
    : undefined;
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
    const ofTime = OF_TIME.get(code);
    if (ofTime !== undefined) return ofTime;
    // connecting to one of several addresses fails with the errors of all
    cause = next ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return undefined;
}

/** What to do about a connection that is not made, by Node's code for it. */
const ON_CONNECTION: ReadonlyMap<unknown, string> = new Map([
  ['ECONNREFUSED', 'Nothing listens there: check the host and the port, and that it runs.'],
  ['ENOTFOUND', 'This machine does not know the host: correct its name, or the DNS of this machine.'],
  ['EAI_AGAIN', 'This machine cannot ask for the address of the host now: check its DNS.'],
  ['EHOSTUNREACH', 'No way leads there from this machine: check the host, and the network.'],
  ['ENETUNREACH', 'No way leads there from this machine: check the host, and the network.'],
]);

/** What to do about a connection that the system could not open, by its errno; undefined for any other error. */
export function adviceOnConnection(error: unknown): string | undefined {
  return ON_CONNECTION.get(Object(error).code);
}

/** How TLS fails with a peer that answers in plain text. */
const PLAIN = /wrong version number|packet length too long/i;

const SPEAK_PLAIN =
  'What answers there speaks no TLS: let its URL begin with http:// (of a Redis: redis://), or name the port that does.';

/** What to do about a peer that was asked for TLS and answered in plain text; undefined for any other error. */
export function adviceOnPlain(error: unknown): string | undefined {
  let cause = error;
  for (let depth = 0; depth < MOST_CAUSES && typeof cause === 'object' && cause !== null; depth++) {
    const { message, cause: next } = cause as { message?: unknown; cause?: unknown };
    if (typeof message === 'string' && PLAIN.test(message)) return SPEAK_PLAIN;
    cause = next;
  }
  return undefined;
}

/** Why a value of the state store cannot be used. It holds nothing of the value. */
export class NotWritten extends Error {
  constructor() {
    super('The state store holds a value that Wharf has not written there. Another program may use the same keys.');
  }
}

/** Why a part cannot be used, and what to do about it. The message has both; the log and the doctor show them apart. */
export class AdvisedError extends Error {
  // not among its own properties: what an error of a peer may hold is listed by name
  readonly #why: string;
  readonly #todo: string;

  /** @param options `message` of an error that is a peer's, in its words: what to do then stands beside it */
  constructor(why: string, todo: string, options: ErrorOptions & { message?: string } = {}) {
    super(options.message ?? `${why} ${todo}`, options);
    this.#why = why;
    this.#todo = todo;
  }

  get why(): string {
    return this.#why;
  }

  get todo(): string {
    return this.#todo;
  }
}
