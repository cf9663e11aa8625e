import { Server } from 'node:net';

/**
 * Preloaded into peers that have no option for it: they would listen on every interface, and a benchmark must not open
 * a port to the network.
 */
const listen = Server.prototype.listen;
Server.prototype.listen = function (this: Server, ...args: unknown[]): Server {
  if (typeof args[0] === 'number' && typeof args[1] !== 'string') args.splice(1, 0, '127.0.0.1');
  return Reflect.apply(listen, this, args) as Server;
};
