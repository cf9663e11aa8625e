import { createServer } from 'node:net';
import { listen } from './loopback.js';

/** Ports of 127.0.0.1 on which nothing listens right now; all different. Another process may still take one first. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(servers.map(listen));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

export async function freePort(): Promise<number> {
  return (await freePorts(1))[0] as number;
}
