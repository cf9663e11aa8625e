import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { Log } from '../../../gateway/ports/log.js';

/** What both kinds of exporters have. */
interface Exporter<Batch> {
  export(batch: Batch, done: (result: ExportResult) => void): void;
  shutdown(): Promise<void>;
  forceFlush?(): Promise<void>;
}

/** An exporter that logs once when the collector no longer takes anything, and once when it does again. */
export class Reported<Batch> implements Exporter<Batch> {
  readonly #exporter: Exporter<Batch>;
  readonly #what: string;
  readonly #log: Log;
  #isFailing = false;

  constructor(exporter: Exporter<Batch>, what: string, log: Log) {
    this.#exporter = exporter;
    this.#what = what;
    this.#log = log;
  }

  export(batch: Batch, done: (result: ExportResult) => void): void {
    this.#exporter.export(batch, (result) => {
      this.#note(result);
      // a failure is reported here; the SDK would print it again each time
      done({ code: ExportResultCode.SUCCESS });
    });
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  #note({ code, error }: ExportResult): void {
    const isFailing = code !== ExportResultCode.SUCCESS;
    if (isFailing === this.#isFailing) return;
    this.#isFailing = isFailing;
    const what = this.#what;
    if (isFailing)
      this.#log.warn({ what, err: withoutWords(error) }, 'the collector does not take telemetry; it is dropped');
    else this.#log.info({ what }, 'the collector takes telemetry again');
  }
}

/** Sends one batch. @throws why the collector does not take it */
export async function taken<Batch>(exporter: Exporter<Batch>, batch: Batch): Promise<void> {
  try {
    const { code, error } = await new Promise<ExportResult>((resolve) => exporter.export(batch, resolve));
    if (code !== ExportResultCode.SUCCESS) throw withoutWords(error) ?? new Error('the collector does not take it');
  } finally {
    await exporter.shutdown();
  }
}

/** A refusal's words are the collector's, or a proxy's, and may repeat a key that it was sent. */
function withoutWords(error: Error | undefined): Error | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'number' ? new Error(`the collector answers with HTTP ${code}`) : error;
}
