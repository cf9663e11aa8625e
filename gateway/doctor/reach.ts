import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Config } from '../config/config.js';
import type { Check, Finding } from './check.js';

const TODO = 'Check the proxy in front: it must pass publicUrl on to listen, with the path as it is below publicUrl.';

/** What Wharf says of a path that it does not have. */
const OWN_WORD = '"route_unknown"';

/** Whether publicUrl leads to Wharf: to the one that runs, or else to a listener in its place. */
export function reachChecks({ publicUrl, listen }: Pick<Config, 'publicUrl' | 'listen'>): Check[] {
  return [
    {
      group: 'publicUrl',
      title: 'leads to Wharf',
      todo: TODO,
      run: async (signal): Promise<Finding> => {
        if (publicUrl === undefined) return { state: 'skipped', text: 'Wharf is reached at listen alone' };
        const nonce = randomBytes(16).toString('hex');
        const own = await listenFor(nonce, listen);
        try {
          const answer = await fetch(`${publicUrl}/${nonce}`, { signal, redirect: 'manual' });
          const body = (await answer.text()).slice(0, 10_000);
          if (own ? body === nonce : body.includes(OWN_WORD)) return { state: 'ok', text: publicUrl };
          throw new Error(`something else answers at ${publicUrl}, with HTTP ${answer.status}`);
        } finally {
          own?.close();
          own?.closeAllConnections();
        }
      },
    },
  ];
}

/** A listener in Wharf's place; undefined when the place is taken, by Wharf itself as one hopes. */
async function listenFor(nonce: string, { host, port }: Config['listen']): Promise<Server | undefined> {
  const server = createServer((_, response) => response.end(nonce));
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
}
