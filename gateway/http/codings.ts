import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.js';

/**
 * Node undoes no coding but `chunked`, and hands the rest on as they are: what a server behind Wharf would read as
 * something else is refused by name.
 * @throws GatewayError `unsupported_coding`
 */
export function refuseCodings({ headers }: IncomingMessage): void {
  const transfer = headers['transfer-encoding'];
  if (transfer !== undefined && transfer.trim().toLowerCase() !== 'chunked')
    throw new GatewayError('unsupported_coding', { coding: transfer });
  const content = headers['content-encoding'];
  if (content !== undefined && content.trim().toLowerCase() !== 'identity')
    throw new GatewayError('unsupported_coding', { coding: content });
}
