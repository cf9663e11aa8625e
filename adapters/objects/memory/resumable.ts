import { randomBytes } from 'node:crypto';
import { GatewayError } from '../../../gateway/errors.js';
import type { ResumableWriter, ResumableWrites, ResumedWrite } from '../../../gateway/ports/object-store.js';

/** The store that the writes belong to. */
interface Store {
  now(): number;
  /** Counts bytes (or fewer of them). @throws GatewayError `store_full` */
  take(bytes: number): void;
  /** Makes an object of bytes that are already counted. @returns its mark */
  put(key: string, bytes: Buffer): string;
}

interface Write {
  parts: Buffer[];
  size: number;
  startedAt: number;
  /** The present writer: earlier ones can no longer write. */
  writer: ResumableWriter | undefined;
}

/** What a write costs besides its bytes: without it, very many of one byte each would be free. */
const COST = 1024;

interface Place {
  id: string;
  size: number;
}

/** Writes that a later writer in the same process can continue. */
export class MemoryResumable implements ResumableWrites {
  readonly #store: Store;
  readonly #writes = new Map<string, Write>();

  constructor(store: Store) {
    this.#store = store;
  }

  async begin(key: string, signal: AbortSignal): Promise<ResumableWriter> {
    signal.throwIfAborted();
    this.#store.take(COST);
    const id = randomBytes(16).toString('hex');
    const write: Write = { parts: [], size: 0, startedAt: this.#store.now(), writer: undefined };
    this.#writes.set(id, write);
    return this.#writerOf(key, id, write, signal);
  }

  async resume(key: string, place: string, signal: AbortSignal): Promise<ResumedWrite | undefined> {
    signal.throwIfAborted();
    const { id, size } = JSON.parse(place) as Place;
    const write = this.#writes.get(id);
    if (write === undefined || write.size < size) return undefined;
    this.#cutTo(write, size);
    return { writer: this.#writerOf(key, id, write, signal), rest: nothing(), restSize: 0 };
  }

  async discard(_key: string, place: string): Promise<void> {
    this.#forget((JSON.parse(place) as Place).id);
  }

  removeUnfinished(olderThan: number): number {
    const old = [...this.#writes].filter(([, { startedAt }]) => startedAt < olderThan);
    for (const [id] of old) this.#forget(id);
    return old.length;
  }

  clear(): void {
    this.#writes.clear();
  }

  #writerOf(key: string, id: string, write: Write, signal: AbortSignal): ResumableWriter {
    const add = (bytes: Buffer) => {
      signal.throwIfAborted();
      // removed meanwhile, or continued by another writer. S3 behaves the same: it no longer knows the upload's id
      if (this.#writes.get(id) !== write || write.writer !== writer) throw new GatewayError('store_unavailable');
      this.#store.take(bytes.length);
      write.parts.push(Buffer.from(bytes));
      write.size += bytes.length;
    };
    const writer: ResumableWriter = {
      write: async (part) => add(part),
      save: async (rest) => {
        add(rest);
        return JSON.stringify({ id, size: write.size } satisfies Place);
      },
      finish: async (last) => {
        add(last);
        this.#writes.delete(id);
        this.#store.take(-COST);
        return { isCertain: true, mark: this.#store.put(key, Buffer.concat(write.parts)) };
      },
      close: async () => undefined,
      abort: async () => this.#forget(id),
    };
    write.writer = writer;
    return writer;
  }

  #cutTo(write: Write, size: number): void {
    this.#store.take(size - write.size);
    while (write.size > size) {
      const last = write.parts.pop() as Buffer;
      write.size -= last.length;
      if (write.size >= size) continue;
      write.parts.push(Buffer.from(last.subarray(0, size - write.size)));
      write.size = size;
    }
  }

  #forget(id: string): void {
    const write = this.#writes.get(id);
    if (!write) return;
    this.#store.take(-(write.size + COST));
    this.#writes.delete(id);
  }
}

async function* nothing(): AsyncGenerator<Buffer> {}
