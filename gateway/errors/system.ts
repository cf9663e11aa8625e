import { GatewayError } from '../errors.js';

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

/** Why a value of the state store cannot be used. It holds nothing of the value. */
export class NotWritten extends Error {
  constructor() {
    super('The state store holds a value that Wharf has not written there. Another program may use the same keys.');
  }
}
