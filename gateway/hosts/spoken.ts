import type { ClientFacts } from '../ports/client.js';
import type { Dialect, FilesForClients } from '../ports/dialect.js';

/** Whether a client speaks a dialect, or the operator says that it does. */
export function speaks(client: ClientFacts, { name, forClients }: Dialect): boolean {
  return forClients?.spokenBy(client) === true || client.dialects?.includes(name) === true;
}

/** How a client's files are written: in the first dialect of the list that it speaks. Every client speaks the last one. */
export function writerFor(client: ClientFacts, dialects: readonly Dialect[]): FilesForClients {
  for (const { forClients } of dialects) if (forClients?.spokenBy(client)) return forClients;
  throw new Error('no dialect is spoken by every client');
}
