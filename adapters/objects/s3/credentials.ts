interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
  expiration?: Date;
}

/** What the SDK says to a provider whose credentials it wants anew. */
interface Asked {
  forceRefresh?: boolean;
}

type Provider = (asked?: Asked) => Promise<Credentials>;

/** While a search for credentials hangs, another one is begun after this time. */
const AGAIN_MS = 60_000;

/** Searches that hang at one time: each keeps a connection, which nothing of the SDK's can end. */
const MOST_HANGING = 16;

/** Other credentials than those that the store refuses are searched for once in this time. */
const RENEWED_MS = 10_000;

/** S3's codes for credentials that have ended, or were replaced, before the end that they name. */
const ENDED = new Set(['ExpiredToken', 'InvalidToken', 'InvalidAccessKeyId', 'SignatureDoesNotMatch']);

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
 * later wait for the same answer: without a new search, Wharf would have to be started again. `forceRefresh` begins one too:
 * a chain keeps credentials without an end, such as those of a profile, for ever.
 * @param chain makes a chain that has not searched yet
 * @param ticks milliseconds, of which only differences have a meaning
 */
export function inTime(chain: () => Provider, ms: number, ticks = () => performance.now()): Provider {
  const begin = (): Search => ({ provider: chain(), begunAt: ticks(), hangs: false });
  const hanging = new Set<Search>();
  let current = begin();
  return async ({ forceRefresh = false } = {}) => {
    const isDue = forceRefresh || (current.hangs && ticks() - current.begunAt >= AGAIN_MS);
    if (isDue && hanging.size < MOST_HANGING) current = begin();
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

/**
 * Credentials in place of those that the store refuses: a file of them was written anew, or a session was revoked. The SDK
 * keeps what it has found until five minutes before its end, even if the store refuses it.
 */
export class RenewedCredentials {
  readonly #providers: readonly Provider[];
  readonly #ticks: () => number;
  #begunAt = Number.NEGATIVE_INFINITY;
  #search: Promise<void> | undefined;
  #renewed = 0;

  /** @param providers those of the clients of one store, the first of which sends its requests */
  constructor(providers: readonly Provider[], ticks = () => performance.now()) {
    this.#providers = providers;
    this.#ticks = ticks;
  }

  /** Makes a step again if the store has refused its credentials, and there are others now. */
  async around<T>(step: () => Promise<T>): Promise<T> {
    const before = this.#renewed;
    try {
      return await step();
    } catch (error) {
      const { name } = (error ?? {}) as { name?: unknown };
      if (typeof name !== 'string' || !ENDED.has(name)) throw error;
      if (this.#renewed === before) await this.#renew();
      if (this.#renewed === before) throw error;
      return step();
    }
  }

  /** All that are refused at one time wait for one search. */
  async #renew(): Promise<void> {
    if (!this.#search && this.#ticks() - this.#begunAt >= RENEWED_MS) {
      this.#begunAt = this.#ticks();
      this.#search = this.#find().finally(() => {
        this.#search = undefined;
      });
    }
    await this.#search;
  }

  async #find(): Promise<void> {
    try {
      const [before] = await this.#ask({});
      const [after] = await this.#ask({ forceRefresh: true });
      if (before && after && !isSame(before, after)) this.#renewed += 1;
    } catch {
      // what the store has said of the credentials says more than that no others came
    }
  }

  #ask(asked: Asked): Promise<Credentials[]> {
    return Promise.all(this.#providers.map((provider) => provider(asked)));
  }
}

function isSame(one: Credentials, other: Credentials): boolean {
  return (
    one.accessKeyId === other.accessKeyId &&
    one.secretAccessKey === other.secretAccessKey &&
    one.sessionToken === other.sessionToken
  );
}
