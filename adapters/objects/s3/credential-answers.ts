import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';

/** An answer that gives credentials has some 2 KB: keys, a token, and when they end. */
const LONGEST_ANSWER = 1024 * 1024;

/** Node says there, before anything can come back, which request begins. */
const REQUEST_BEGINS = 'http.client.request.start';

/** What gives the credentials answers with more than credentials have. */
export class CredentialsTooLong extends Error {
  override readonly name = 'CredentialsTooLong';

  constructor() {
    super(`What gives the credentials answers with more than ${LONGEST_ANSWER} bytes.`);
  }
}

interface Search {
  /** Set when an answer was given up. */
  failure: CredentialsTooLong | undefined;
}

/** The search that a request belongs to. */
const searches = new AsyncLocalStorage<Search>();
let running = 0;

/**
 * A search for credentials that gives an answer up once it is longer than any that holds some. The SDK reads it to its end
 * before it understands it, and takes no client of Wharf's for it where a machine or a container gives the credentials: an
 * endpoint that sent 1.5 GB took the process 3.1 GB.
 */
export function boundSearch<Asked extends unknown[], Found>(
  search: (...asked: Asked) => Promise<Found>,
): (...asked: Asked) => Promise<Found> {
  return async (...asked) => {
    const begun: Search = { failure: undefined };
    if (running === 0) subscribe(REQUEST_BEGINS, onRequest);
    running += 1;
    try {
      return await searches.run(begun, () => search(...asked));
    } catch (error) {
      throw begun.failure ?? error;
    } finally {
      running -= 1;
      if (running === 0) stopLooking();
    }
  };
}

/** Node 22 tracks every promise of the process once a storage has run, until the storage is disabled. */
function stopLooking(): void {
  unsubscribe(REQUEST_BEGINS, onRequest);
  searches.disable();
}

function onRequest(message: unknown): void {
  const search = searches.getStore();
  if (!search) return;
  const { request } = message as { request: ClientRequest };
  request.prependOnceListener('response', (response) => bound(request, response, search));
}

function bound(request: ClientRequest, response: IncomingMessage, search: Search): void {
  let isCounted = false;
  let left = LONGEST_ANSWER;
  // beside the SDK's own listener: an earlier one would set the answer flowing before the SDK reads it
  response.on('newListener', (event: string) => {
    if (event !== 'data' || isCounted) return;
    isCounted = true;
    response.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left >= 0 || request.destroyed) return;
      search.failure = new CredentialsTooLong();
      request.destroy(search.failure);
    });
  });
}
