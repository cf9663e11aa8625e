import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Config } from '../config/config.js';
import type { Check, Finding } from './check.js';

const ADVICE = 'Check the proxy in front: it must pass publicUrl on to listen, with the path as it is below publicUrl.';

/** Characters of an answer that are looked at. */
const MOST_READ = 10_000;

/** What Wharf says of a path that it does not have. */
const OWN_WORD = '"route_unknown"';

/** Whether publicUrl leads to Wharf: to the one that runs, or else to a listener in its place. */
export function reachChecks({ publicUrl, listen }: Pick<Config, 'publicUrl' | 'listen'>): Check[] {
  return [
    {
      group: 'publicUrl',
      title: 'leads to Wharf',
      todo: ADVICE,
      run: async (signal): Promise<Finding> => {
        if (publicUrl === undefined) return { state: 'skipped', text: 'Wharf is reached at listen alone' };
        const nonce = randomBytes(16).toString('hex');
        const own = await listenFor(nonce, listen);
        try {
          const answer = await fetch(`${publicUrl}/${nonce}`, { signal, redirect: 'manual' });
          const body = await beginningOf(answer);
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

/** The first bytes of an answer: another program may answer there, with any number of them. */
async function beginningOf({ body }: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  // leaving the loop ends the answer
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(piece, { stream: true });
    if (text.length >= MOST_READ) break;
  }
  return text.slice(0, MOST_READ);
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
