// node forward.mjs PORT=HOST:PORT… : passes connections to loopback ports of this container on to others.
import { connect, createServer } from 'node:net';

for (const way of process.argv.slice(2)) {
  const [, port, host, target] = /^(\d+)=([^:]+):(\d+)$/.exec(way) ?? [];
  if (target === undefined) throw new Error(`${way} is not PORT=HOST:PORT`);
  createServer((from) => {
    const to = connect(Number(target), host);
    const end = () => {
      from.destroy();
      to.destroy();
    };
    from.on('error', end).on('close', end).pipe(to);
    to.on('error', end).on('close', end).pipe(from);
  }).listen(Number(port), '127.0.0.1');
}
process.once('SIGTERM', () => process.exit(0));
