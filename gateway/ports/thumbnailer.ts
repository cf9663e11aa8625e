import type { Readable } from 'node:stream';
import type { Log } from './log.js';
import type { Owner } from './owner.js';

export interface PreviewLimits {
  /** Longest edge in pixels. An image is never enlarged. */
  maxEdge: number;
  /** Largest size of the rendered image as base64, in bytes. */
  maxEncodedBytes: number;
  /** Largest source image in pixels, read from its header before anything is decoded. */
  maxPixels: number;
}

export interface Preview {
  mimeType: 'image/png' | 'image/jpeg';
  data: Buffer;
  /** Pixels. */
  width: number;
  height: number;
  /** Pixels of the original image, rotated like the preview. */
  source: { width: number; height: number };
}

/** Why there is no preview. A closed list, so that it can be a metric's label. */
export type PreviewRefusal =
  /** The adapter renders none. */
  | 'disabled'
  /** Too many others wait, or the wait took too long. */
  | 'busy'
  /** Not a supported raster format. */
  | 'unsupported'
  /** The file is larger than the adapter accepts. */
  | 'too-large'
  | 'too-many-pixels'
  /** Damaged or truncated. */
  | 'invalid'
  /** No quality and size fits into `maxEncodedBytes`. */
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

/** Renders previews of untrusted images. Never throws because of an image's content: it refuses. */
export interface Thumbnailer {
  readonly name: string;
  /**
   * Reads the stream from `open` to its end or destroys it. Never rejects.
   * @param owner the image's owner: owners take turns
   */
  render(open: OpenImage, limits: PreviewLimits, signal: AbortSignal, owner?: Owner): Promise<PreviewResult>;
  /** Resolves when previews can be rendered; otherwise rejects with the reason. */
  check(): Promise<void>;
  /** Ends every process. Refuses the renderings under way. */
  close(): Promise<void>;
}

/** What a thumbnailer gets besides its settings. */
export interface ThumbnailerDeps {
  log: Log;
  /** The environment of its child process; adapters never read the environment themselves. */
  inheritedEnv: Readonly<Record<string, string>>;
}
