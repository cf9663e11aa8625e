import { type Ledger, refusalFacts } from '../../budget/ledger.js';
import { WaitQueue } from '../../budget/wait-queue.js';
import { asGatewayError, GatewayError } from '../../errors.js';
import type { Scan, Scanner, Verdict } from '../../ports/antivirus.js';
import type { Audit, AuditScan } from '../../ports/audit.js';
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
  /** SHA-256 of all its bytes, base64url, once they are known. Absent: they only look like a file. */
  digest?: () => string;
}

/** A file about which the antivirus has said something, and how many of its bytes are known. */
type Judged = Pick<ScannedFile, 'owner' | 'path' | 'digest'> & { size: number };

/** What the audit log says of it. */
type Said = Omit<AuditScan, 'database'> & { code?: string };

export interface ScansDeps {
  scanner: Scanner;
  /** Counts scans under way (`antivirus.scans`). */
  ledger: Ledger;
  /** `timeouts.queue` */
  queueMs: number;
  objects: Pick<ObjectStore, 'get'>;
  audit: Pick<Audit, 'isOn' | 'note'>;
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
    try {
      await this.#queue.take(1, file.owner, file.signal);
    } catch (error) {
      throw this.failed(error, file, size);
    }
    let scan: Scan | undefined;
    try {
      scan = await this.#deps.scanner.begin(file.signal);
      for await (const piece of read()) await scan.write(piece);
      return this.judge(await scan.end(), file, size);
    } catch (error) {
      throw this.failed(error, file, size);
    } finally {
      scan?.abort();
      this.free(file);
    }
  }

  /** Scans an object that is stored and has no record yet. @throws GatewayError as `scan`, and the store's errors */
  async stored({ key, size }: { key: string; size: number }, file: ScannedFile): Promise<ScanResult> {
    // there is nothing in an empty file
    if (size === 0) return 'clean';
    const { objects } = this.#deps;
    return this.scan(file, size, async function* read() {
      const found = await objects.get(key, { signal: file.signal });
      if (found.kind !== 'found')
        throw new GatewayError('store_unavailable', {}, new Error(`the object is ${found.kind}`));
      if (found.stat.size !== size) {
        found.body.destroy();
        throw new GatewayError('store_unavailable', {}, new Error('the object is not the one that was stored'));
      }
      yield* found.body as AsyncIterable<Buffer>;
    });
  }

  /** @throws GatewayError `file_infected`, `file_unscannable` */
  judge(verdict: Verdict, file: ScannedFile, size: number): ScanResult {
    if (verdict.kind === 'too-large') return this.tooLarge(file, size);
    if (verdict.kind === 'clean') {
      this.#count('clean');
      // of the many strings that are looked at, only those that are files
      if (file.digest) this.#note({ ...file, size }, { verdict: 'clean' });
      return 'clean';
    }
    const { signature } = verdict;
    this.#count('infected');
    this.#note({ ...file, size }, { verdict: 'infected', signature, code: 'file_infected' });
    // under `signature` the log would take it for that of a link, and blot it out
    this.#deps.log.warn({ ...file.owner, path: file.path, virus: signature, size }, 'an infected file was refused');
    throw new GatewayError('file_infected', { path: file.path, signature });
  }

  /**
   * @param isWhole false while more of its bytes may come
   * @throws GatewayError `file_unscannable`
   */
  tooLarge({ owner, path, digest }: ScannedFile, size: number, isWhole = true): ScanResult {
    const { larger, maxSize } = this.#deps.scanner;
    const judged = { owner, path, size, ...(isWhole && digest && { digest }) };
    if (larger === 'refuse') {
      this.#count('refused');
      this.#note(judged, { verdict: 'unscannable', code: 'file_unscannable' });
      throw new GatewayError('file_unscannable', {
        path,
        limit: 'antivirus.maxSizeMiB',
        allowed: maxSize,
        actual: size,
      });
    }
    this.#count('passed');
    if (isWhole) this.#note(judged, { verdict: 'passed' });
    this.#deps.log.warn({ ...owner, path, size }, 'a file was let through that the antivirus does not scan');
    return 'passed';
  }

  /** A file that was let through before its end has come to it. */
  passed(file: ScannedFile, size: number): void {
    this.#note({ ...file, size }, { verdict: 'passed' });
  }

  /**
   * Counts a failure, unless the caller has gone.
   * @param size absent while more of its bytes may come
   */
  failed(error: unknown, { owner, path, signal, digest }: ScannedFile, size?: number): unknown {
    const isOurs =
      error instanceof GatewayError && (error.code === 'file_infected' || error.code === 'file_unscannable');
    if (!isOurs && !signal.aborted) {
      this.#count('failed');
      const known = size !== undefined && digest ? { size, digest } : { size: size ?? 0 };
      this.#note({ owner, path, ...known }, { verdict: 'failed', code: asGatewayError(error).code });
    }
    return error;
  }

  #note({ owner, path, digest, size }: Judged, { code, ...said }: Said): void {
    const { audit, scanner } = this.#deps;
    if (!audit.isOn) return;
    const scan = { ...said, database: scanner.database?.() };
    const about = { what: 'scan', ...owner, subject: path, rule: 'antivirus', scan, code } as const;
    const allowed = said.verdict === 'clean' || said.verdict === 'passed';
    const files = size > 0 ? [{ digest: digest?.(), size }] : undefined;
    audit.note({ ...about, allowed, files });
  }

  #count(outcome: 'clean' | 'infected' | 'refused' | 'passed' | 'failed'): void {
    this.#deps.metrics.count('wharf_scans_total', { outcome });
  }
}
