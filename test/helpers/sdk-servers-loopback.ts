/**
 * Preloaded into servers that listen on every interface and cannot be told not to:
 * `listen(port)` becomes `listen(port, '127.0.0.1')`.
 */
import { Server } from 'node:net';

type Listen = (this: Server, ...args: unknown[]) => Server;

const listen = Server.prototype.listen as Listen;
Server.prototype.listen = function listenOnLoopback(this: Server, port: unknown, ...rest: unknown[]) {
  const isPort = typeof port === 'number' || /^\d+$/.test(String(port));
  const [host, ...others] = rest;
  if (isPort && typeof host !== 'string') return listen.call(this, Number(port), '127.0.0.1', ...rest);
  return listen.call(this, port, ...(host === undefined ? [] : [host]), ...others);
} as Server['listen'];
