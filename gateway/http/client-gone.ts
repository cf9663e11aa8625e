import type { Socket } from 'node:net';
import { GatewayError } from '../errors.js';

/** The abort reason of work for a client whose connection has closed; no client sees it. */
export const CLIENT_GONE = new GatewayError('internal', {}, 'the client has gone');

/** Connections that Wharf itself has closed. */
const closed = new WeakMap<Socket, GatewayError>();

/** Before Wharf closes a connection on which requests run: its bytes are not HTTP, or the time of a drain is over. */
export function noteClosed(socket: Socket, error: GatewayError): void {
  closed.set(socket, error);
}

/** Why a connection has closed: its client has not gone where Wharf has closed it. */
export function whyClosed(socket: Socket): GatewayError {
  return closed.get(socket) ?? CLIENT_GONE;
}
