import type { Owner } from '../../ports/owner.js';
import type { StateStore } from '../../ports/state-store.js';

/** How long a mark is there after a process that has crashed, and how often one that lives renews it. */
const LASTS_MS = 60_000;
const RENEWED_MS = 20_000;

/**
 * Files that are on their way in one request, told to every replica: until it ends, the state store has nothing else of
 * them. A mark is a hint. Where the store does not take it, the upload goes on without.
 */
export class Arrivals {
  readonly #state: Pick<StateStore, 'create' | 'extend' | 'read' | 'remove'>;

  constructor(state: Pick<StateStore, 'create' | 'extend' | 'read' | 'remove'>) {
    this.#state = state;
  }

  async has(fileId: string): Promise<boolean> {
    return (await this.#state.read(keyOf(fileId))) !== undefined;
  }

  /** Marks a future file. @returns what ends that */
  begin(fileId: string, owner: Owner): () => void {
    const key = keyOf(fileId);
    const mark = async () => {
      if (!(await this.#state.create(key, '', LASTS_MS, owner))) await this.#state.extend(key, LASTS_MS);
    };
    let marked = mark().catch(() => {});
    const renewal = setInterval(() => {
      marked = marked.then(mark).catch(() => {});
    }, RENEWED_MS).unref();
    return () => {
      clearInterval(renewal);
      void marked.then(() => this.#state.remove(key)).catch(() => {});
    };
  }
}

function keyOf(fileId: string): string {
  return `arriving:${fileId}`;
}
