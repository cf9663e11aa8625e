import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below those that systems give to connections, of which another test's would take one before it is listened on. */
const [FIRST, COUNT] = [20_000, 10_000];

/** Ports of 127.0.0.1 on which nothing listens right now; all different. Another process may still take one first. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Map<number, Server>();
  while (ports.size < count) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    const server = createServer();
    // taken: another one is tried
    const isFree = await once(server.listen(port, '127.0.0.1'), 'listening').then(
      () => true,
      () => false,
    );
    if (isFree) ports.set(port, server);
  }
  await Promise.all([...ports.values()].map((server) => new Promise((resolve) => server.close(resolve))));
  return [...ports.keys()];
}

export async function freePort(): Promise<number> {
  return (await freePorts(1))[0] as number;
}
