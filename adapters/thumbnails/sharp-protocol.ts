import type { Preview, PreviewLimits, PreviewRefusal } from '../../gateway/ports/thumbnailer.js';

/** The payload of a `job` frame. */
export interface Job extends PreviewLimits {
  /** Bytes of resident memory at which the process ends itself. */
  maxMemory: number;
}

interface ProcessFacts {
  /** The process ends itself after this answer; do not send it another job. */
  last: boolean;
  /** Most bytes of resident memory since the process began. */
  peakRss: number;
}

/** The payload of a `result` frame; an `image` frame follows a rendered one. */
export type Outcome = ProcessFacts &
  (({ kind: 'rendered' } & Omit<Preview, 'data'>) | { kind: 'refused'; reason: PreviewRefusal; detail?: string });
