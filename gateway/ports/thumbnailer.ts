import type { Readable } from 'node:stream';

export interface PreviewLimits {
  /** Longest edge in pixels. An image is never enlarged. */
  maxEdge: number;
  /** Most bytes of the rendered image once written as base64. */
  maxEncodedBytes: number;
  /** Most pixels of the source image, read from its header before anything is decoded. */
  maxPixels: number;
}

export interface Preview {
  mimeType: 'image/png' | 'image/jpeg';
  data: Buffer;
  width: number;
  height: number;
}

export type PreviewResult = { kind: 'rendered'; preview: Preview } | { kind: 'refused'; reason: string };

/** Renders previews of images that nobody trusts. Never throws for what is in the image: it refuses. */
export interface Thumbnailer {
  readonly name: string;
  /** Reads `source` to its end or destroys it. */
  render(source: Readable, limits: PreviewLimits, signal: AbortSignal): Promise<PreviewResult>;
  check(): Promise<void>;
  close(): Promise<void>;
}
