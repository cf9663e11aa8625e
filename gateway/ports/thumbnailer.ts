import type { Readable } from 'node:stream';
import type { Log } from './log.js';
import type { Owner } from './owner.js';

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
  /** Pixels. */
  width: number;
  height: number;
  /** Pixels of the image itself, turned as the preview is. */
  source: { width: number; height: number };
}

/** Why there is no preview. A closed list, so that it can be a metric's label. */
export type PreviewRefusal =
  /** The adapter makes none. */
  | 'disabled'
  /** Too many others are waiting, or the wait took too long. */
  | 'busy'
  /** Not one of the raster formats that are decoded. */
  | 'unsupported'
  /** The file has more bytes than the adapter takes. */
  | 'too-large'
  | 'too-many-pixels'
  /** Damaged or truncated. */
  | 'invalid'
  /** No quality and size brings it under `maxEncodedBytes`. */
  | 'not-small-enough'
  | 'deadline'
  /** Decoding it takes more memory than the adapter allows. */
  | 'memory'
  /** The signal was aborted, or the source failed. */
  | 'aborted'
  /** The renderer itself failed; the log says more. */
  | 'failed';

export type PreviewResult = { kind: 'rendered'; preview: Preview } | { kind: 'refused'; reason: PreviewRefusal };

/** Opens the image's bytes. Called once a renderer is free, so that no connection to the store waits in a queue. */
export type OpenImage = (signal: AbortSignal) => Promise<Readable>;

/** Renders previews of images that nobody trusts. Never throws for what is in the image: it refuses. */
export interface Thumbnailer {
  readonly name: string;
  /**
   * Reads what `open` gives to its end or destroys it. Never rejects.
   * @param owner whose image it is: owners take turns
   */
  render(open: OpenImage, limits: PreviewLimits, signal: AbortSignal, owner?: Owner): Promise<PreviewResult>;
  /** Resolves when previews can be rendered, rejects with what hinders it. */
  check(): Promise<void>;
  /** Ends every process. Renderings under way are refused. */
  close(): Promise<void>;
}

/** What a thumbnailer is given. */
export interface ThumbnailerDeps {
  log: Log;
  /** The environment of its child process; adapters never read the environment themselves. */
  inheritedEnv: Readonly<Record<string, string>>;
}
