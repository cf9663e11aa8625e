import { type Ledger, refusalFacts } from '../../budget/ledger.js';
import { WaitQueue } from '../../budget/wait-queue.js';
import { asGatewayError, GatewayError } from '../../errors.js';
import type { Scan, Scanner, Verdict } from '../../ports/antivirus.js';
import type { Audit } from '../../ports/audit.js';
import type { Log } from '../../ports/log.js';
import type { Metrics } from '../../ports/metrics.js';
import type { ObjectStore } from '../../ports/object-store.js';
import type { Owner } from '../../ports/owner.js';

/** What is known of a file that may be read: `passed` is one that the antivirus could not scan, let through by policy. */
export type ScanResult = 'clean' | 'passed';

/** The facts about a file that its scan needs. */
export interface ScannedFile {
  owner: Owner;
  /** Its place in the message, or "the upload", for the error. */
  path: string;
  signal: AbortSignal;
}

export interface ScansDeps {
  scanner: Scanner;
  /** Counts scans under way (`antivirus.scans`). */
  ledger: Ledger;
  /** `timeouts.queue` */
  queueMs: number;
  objects: Pick<ObjectStore, 'get'>;
  audit: Pick<Audit, 'note'>;
  log: Log;
  metrics: Metrics;
}

/** Gives files to the antivirus, so many at a time, and turns what it says into whether the file may be read. */
export class Scans {
  readonly #deps: ScansDeps;
  readonly #queue: WaitQueue;

  constructor(deps: ScansDeps) {
    this.#deps = deps;
    const { ledger, queueMs, scanner } = deps;
    this.#queue = new WaitQueue({
      ledger,
      waitMs: queueMs,
      most: scanner.queue,
      full: (refusal, waited) => new GatewayError('antivirus_full', { ...refusalFacts(refusal), waited }),
    });
  }

  /** Files that wait for their turn now. */
  get waiting(): number {
    return this.#queue.length;
  }

  get maxSize(): number {
    return this.#deps.scanner.maxSize;
  }

  /** Begins a scan now, if a place is free; undefined otherwise. Each one is ended by `free`. */
  tryBegin({ owner, signal }: ScannedFile): Promise<Scan> | undefined {
    // those that wait come first
    if (this.#queue.length > 0 || this.#deps.ledger.take(1, owner)) return undefined;
    return this.#deps.scanner.begin(signal);
  }

  free({ owner }: ScannedFile): void {
    this.#queue.give(1, owner);
  }

  /**
   * Scans bytes in memory or in the store. Nothing is held while it waits for a place.
   * @throws GatewayError `file_infected`, `file_unscannable`, `antivirus_unavailable`, `antivirus_full`
   */
  async scan(
    file: ScannedFile,
    size: number,
    read: () => Iterable<Buffer> | AsyncIterable<Buffer>,
  ): Promise<ScanResult> {
    if (size > this.maxSize) return this.tooLarge(file, size);
    await this.#queue.take(1, file.owner, file.signal);
    let scan: Scan | undefined;
    try {
      scan = await this.#deps.scanner.begin(file.signal);
      for await (const piece of read()) await scan.write(piece);
      return this.judge(await scan.end(), file, size);
    } catch (error) {
      throw this.failed(error, file);
    } finally {
      scan?.abort();
      this.free(file);
    }
  }

  /** Scans an object that is stored and has no record yet. @throws GatewayError as `scan`, and the store's errors */
  stored({ key, size }: { key: string; size: number }, file: ScannedFile): Promise<ScanResult> {
    const { objects } = this.#deps;
    return this.scan(file, size, async function* read() {
      const found = await objects.get(key, { signal: file.signal });
      if (found.kind !== 'found')
        throw new GatewayError('store_unavailable', {}, new Error(`the object is ${found.kind}`));
      yield* found.body as AsyncIterable<Buffer>;
    });
  }

  /** @throws GatewayError `file_infected`, `file_unscannable` */
  judge(verdict: Verdict, file: ScannedFile, size: number): ScanResult {
    if (verdict.kind === 'too-large') return this.tooLarge(file, size);
    if (verdict.kind === 'clean') {
      this.#count('clean');
      return 'clean';
    }
    const { signature } = verdict;
    this.#count('infected');
    this.#note(file, 'file_infected', signature);
    this.#deps.log.warn({ ...file.owner, path: file.path, signature, size }, 'an infected file was refused');
    throw new GatewayError('file_infected', { path: file.path, signature });
  }

  /** @throws GatewayError `file_unscannable` */
  tooLarge({ owner, path }: ScannedFile, size: number): ScanResult {
    const { larger, maxSize } = this.#deps.scanner;
    if (larger === 'refuse') {
      this.#count('refused');
      this.#note({ owner, path }, 'file_unscannable', path);
      throw new GatewayError('file_unscannable', {
        path,
        limit: 'antivirus.maxSizeMiB',
        allowed: maxSize,
        actual: size,
      });
    }
    this.#count('passed');
    this.#deps.log.warn({ ...owner, path, size }, 'a file was let through that the antivirus does not scan');
    return 'passed';
  }

  /** Counts a failure, unless the caller has gone. */
  failed(error: unknown, { owner, path, signal }: ScannedFile): unknown {
    const isOurs =
      error instanceof GatewayError && (error.code === 'file_infected' || error.code === 'file_unscannable');
    if (!isOurs && !signal.aborted) {
      this.#count('failed');
      this.#note({ owner, path }, asGatewayError(error).code, path);
    }
    return error;
  }

  #note({ owner }: Omit<ScannedFile, 'signal'>, code: string, subject: string): void {
    this.#deps.audit.note({ what: 'scan', allowed: false, ...owner, subject, rule: 'antivirus', code });
  }

  #count(outcome: 'clean' | 'infected' | 'refused' | 'passed' | 'failed'): void {
    this.#deps.metrics.count('wharf_scans_total', { outcome });
  }
}
