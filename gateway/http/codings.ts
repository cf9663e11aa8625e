import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.js';

/** Characters of a coding that its refusal repeats; the names in use have eight at most. */
const MAX_SHOWN = 64;

/**
 * Refuses transfer and content codings by name. Node decodes only `chunked` and passes others on undecoded, and a
 * server behind Wharf would read such bytes as something else.
 * @throws GatewayError `unsupported_coding`
 */
export function refuseCodings({ headers }: IncomingMessage): void {
  const transfer = headers['transfer-encoding'];
  if (transfer !== undefined && transfer.trim().toLowerCase() !== 'chunked')
    throw new GatewayError('unsupported_coding', { coding: shown(transfer) });
  const content = headers['content-encoding'];
  if (content !== undefined && content.trim().toLowerCase() !== 'identity')
    throw new GatewayError('unsupported_coding', { coding: shown(content) });
}

function shown(coding: string): string {
  return coding.length > MAX_SHOWN ? `${coding.slice(0, MAX_SHOWN)}…` : coding;
}
