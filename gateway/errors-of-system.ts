import { GatewayError } from './errors.js';

/**
 * What a failed system call really says where there are too many open files, whatever the call was for: else a server,
 * a store or a disk would be blamed. Undefined for any other error.
 * @param cause what the log may be told, where that is not the error itself
 */
export function descriptorsExhausted(error: unknown, cause = error): GatewayError | undefined {
  const { code, errors } = (typeof error === 'object' && error !== null ? error : {}) as {
    code?: unknown;
    errors?: unknown;
  };
  // connecting to one of several addresses fails with the errors of all
  const isSo =
    code === 'EMFILE' ||
    code === 'ENFILE' ||
    (Array.isArray(errors) && errors.some((one) => descriptorsExhausted(one)));
  return isSo ? new GatewayError('descriptors_exhausted', {}, cause) : undefined;
}
