/** Node's codes for an open connection that the peer, or something on the way, has closed. */
export const CLOSED: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

/** Node's codes for a certificate that is not trusted. */
export const UNTRUSTED = /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT|HOSTNAME_MISMATCH|INVALID_CA)/;
