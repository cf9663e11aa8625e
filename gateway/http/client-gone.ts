import { GatewayError } from '../errors.js';

/** The abort reason of work for a client whose connection has closed; no client sees it. */
export const CLIENT_GONE = new GatewayError('internal', {}, 'the client has gone');
