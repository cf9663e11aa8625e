interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
  expiration?: Date;
}

type Provider = () => Promise<Credentials>;

/** While a search for credentials hangs, another one is begun after this time. */
const AGAIN_MS = 60_000;

/** Searches that hang at one time: each keeps a connection, which nothing of the SDK's can end. */
const MOST_HANGING = 16;

/** What gives the credentials, such as the endpoint of a container or a machine, has not answered in time. */
export class CredentialsTimeout extends Error {
  override readonly name = 'CredentialsTimeout';

  constructor(ms: number) {
    super(`What gives the credentials has not answered within ${Math.round(ms / 100) / 10} s.`);
  }
}

/** It has answered, with something that holds none. */
export class CredentialsUnread extends Error {
  override readonly name = 'CredentialsUnread';

  constructor(cause: SyntaxError) {
    super(`What gives the credentials answers with something that is not JSON: ${cause.message}`, { cause });
  }
}

/** A chain, and whether its search is late. */
interface Search {
  provider: Provider;
  begunAt: number;
  hangs: boolean;
}

/**
 * Credentials of the SDK's own chain, in time. The SDK waits for an endpoint of credentials without end, and all who ask
 * later wait for the same answer: without a new search, Wharf would have to be started again.
 * @param chain makes a chain that has not searched yet
 * @param ticks milliseconds, of which only differences have a meaning
 */
export function inTime(chain: () => Provider, ms: number, ticks = () => performance.now()): Provider {
  const begin = (): Search => ({ provider: chain(), begunAt: ticks(), hangs: false });
  const hanging = new Set<Search>();
  let current = begin();
  return async () => {
    if (current.hangs && hanging.size < MOST_HANGING && ticks() - current.begunAt >= AGAIN_MS) current = begin();
    const search = current;
    // one more who waits for it would be kept as long as it hangs
    if (search.hangs) throw new CredentialsTimeout(ms);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        search.hangs = true;
        hanging.add(search);
        reject(new CredentialsTimeout(ms));
      }, ms);
    });
    const over = () => {
      clearTimeout(timer);
      search.hangs = false;
      hanging.delete(search);
    };
    const found = search.provider();
    found.then(over, over);
    return Promise.race([found, late]).catch((error: unknown) => {
      throw error instanceof SyntaxError ? new CredentialsUnread(error) : error;
    });
  };
}
