import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { unreachable } from '../common/unreachable.js';

/** Readiness is checked every few seconds: a slower answer counts as a failure. */
const REACH_MS = 5000;

/**
 * Resolves when a connection to the origin can be made. Sends no request, because any request could have an effect.
 * @throws GatewayError `upstream_unreachable`
 */
export function reach(server: string, origin: URL): Promise<void> {
  const secure = origin.protocol === 'https:';
  const host = origin.hostname.replace(/^\[|\]$/g, '');
  const port = Number(origin.port) || (secure ? 443 : 80);
  return new Promise((resolve, reject) => {
    const done = (): void => {
      socket.destroy();
      resolve();
    };
    const fail = (cause: Error): void => {
      socket.destroy();
      reject(unreachable(server, cause));
    };
    // An SNI name must not be an address (RFC 6066 §3); tls.connect omits it without `servername`.
    const socket: Socket = secure ? connectTls({ host, port }, done) : connectTcp({ host, port }, done);
    socket.on('error', fail);
    socket.setTimeout(REACH_MS, () =>
      fail(Object.assign(new Error(`not connected after ${REACH_MS} ms`), { code: 'ETIMEDOUT' })),
    );
  });
}
