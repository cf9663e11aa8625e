import type {
  PixelExcess,
  PreviewImage,
  PreviewLimits,
  PreviewRefusal,
  RenderedPreview,
} from '../../../gateway/ports/previewer.js';
import type { PreviewKind } from './kinds.js';

/** The payload of a `job` frame. */
export interface Job extends PreviewLimits {
  kind: PreviewKind;
  /** Bytes of the file; needed only where the process asks for ranges. */
  size: number;
  /** Bytes of resident memory at which the process ends itself. */
  maxMemory: number;
  /** Seconds of processor time after which the process takes no further file. */
  processorTime: number;
}

/** The payload of a `want` frame: bytes of the file, all of which exist. */
export interface Want {
  start: number;
  length: number;
}

export type RenderResult = { kind: 'rendered'; preview: RenderedPreview } | Refused;

interface Refused {
  kind: 'refused';
  reason: PreviewRefusal;
  excess?: PixelExcess;
  detail?: string;
}

interface ProcessFacts {
  /** The process ends itself after this answer; do not send it another job. */
  last: boolean;
  /** Most bytes of resident memory since the process began. */
  peakRss: number;
}

/** The payload of a `result` frame; an `image` frame follows one with an image. */
export type Outcome = ProcessFacts &
  (({ kind: 'rendered'; image?: Omit<PreviewImage, 'data'> } & Omit<RenderedPreview, 'image'>) | Refused);
