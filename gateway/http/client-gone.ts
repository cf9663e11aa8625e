import type { Socket } from 'node:net';
import { GatewayError } from '../errors.js';

/** The abort reason of work for a client whose connection has closed; no client sees it. */
export const CLIENT_GONE = new GatewayError('internal', {}, 'the client has gone');

/** Connections that Wharf has closed because of what came on them. */
const refused = new WeakMap<Socket, GatewayError>();

/** Before a connection is closed because its bytes are not HTTP. */
export function noteRefused(socket: Socket, error: GatewayError): void {
  refused.set(socket, error);
}

/** Why a connection has closed: its client has not gone where it was refused. */
export function whyClosed(socket: Socket): GatewayError {
  return refused.get(socket) ?? CLIENT_GONE;
}
