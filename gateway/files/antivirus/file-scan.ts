import type { Scan } from '../../ports/antivirus.js';
import type { Tap } from '../tap.js';
import type { ScannedFile, ScanResult, Scans } from './scans.js';

/**
 * How long a place at the antivirus is kept for a file of which nothing comes. A sender that drips would otherwise hold
 * one for as long as its upload lasts, and clamd itself gives up after 30 s (`CommandReadTimeout`).
 */
const QUIET_MS = 3000;

/**
 * The scan of one file on its way into the store. It reads along if the antivirus has a place at once, and the bytes
 * come briskly. Otherwise the file is read from the store once it is complete, before it has a record: until then no
 * link and no handle leads to it. So no sender waits for a place while it holds a part's memory.
 */
export class FileScan implements Tap {
  readonly #scans: Scans;
  readonly #file: ScannedFile;
  #size = 0;
  #state: 'new' | 'along' | 'later' | 'over' = 'new';
  #scan: Promise<Scan> | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #result: ScanResult | undefined;
  /** It was let through before its end, because it is too large. */
  #passedEarly = false;

  constructor(scans: Scans, file: ScannedFile) {
    this.#scans = scans;
    this.#file = file;
  }

  take(bytes: Buffer): Promise<void> | undefined {
    this.#size += bytes.length;
    if (this.#state === 'over' || this.#state === 'later') return undefined;
    if (this.#size > this.#scans.maxSize) {
      this.#stop('over');
      this.#result = this.#scans.tooLarge(this.#file, this.#size, false);
      this.#passedEarly = true;
      return undefined;
    }
    if (this.#state === 'new') this.#begin();
    if (!this.#scan) return undefined;
    // one piece for each scan is copied at a time: the source waits for it
    return this.#write(this.#scan, Buffer.from(bytes));
  }

  async end(): Promise<void> {
    const scan = this.#scan;
    if (this.#state !== 'along' || !scan) return;
    clearTimeout(this.#quiet);
    try {
      const verdict = await (await scan).end();
      this.#result = this.#scans.judge(verdict, this.#file, this.#size);
    } catch (error) {
      // given up meanwhile, for another reason: the antivirus has not failed
      if (this.#state !== 'along') throw error;
      throw this.#scans.failed(error, this.#file, this.#size);
    } finally {
      this.#stop('over');
    }
  }

  abort(): void {
    this.#stop('over');
  }

  /**
   * The result for a file that is stored as a whole, with all taps ended.
   * @throws GatewayError as `Scans.scan`: the object must then be removed
   */
  async settle(stored: { key: string; size: number }): Promise<ScanResult> {
    // its line had to wait for its digest
    if (this.#passedEarly) this.#scans.passed(this.#file, stored.size);
    return this.#result ?? this.#scans.stored(stored, this.#file);
  }

  #begin(): void {
    this.#scan = this.#scans.tryBegin(this.#file);
    this.#state = this.#scan ? 'along' : 'later';
    // its failure shows at the next write
    this.#scan?.catch(() => undefined);
    if (this.#scan) this.#quiet = setTimeout(() => this.#stop('later'), QUIET_MS).unref();
  }

  async #write(scan: Promise<Scan>, bytes: Buffer): Promise<void> {
    clearTimeout(this.#quiet);
    try {
      await (await scan).write(bytes);
    } catch (error) {
      // given up meanwhile: what it does then is not a fault
      if (this.#state !== 'along') return;
      throw this.#scans.failed(error, this.#file);
    }
    if (this.#state === 'along') this.#quiet = setTimeout(() => this.#stop('later'), QUIET_MS).unref();
  }

  #stop(state: 'later' | 'over'): void {
    clearTimeout(this.#quiet);
    if (this.#state === 'along') {
      this.#scan?.then((scan) => scan.abort()).catch(() => undefined);
      this.#scans.free(this.#file);
    }
    this.#scan = undefined;
    this.#state = state;
  }
}
