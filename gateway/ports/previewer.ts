import type { Readable } from 'node:stream';
import type { Log } from './log.js';
import type { ByteRange } from './object-store.js';
import type { Owner } from './owner.js';

/** How large a preview, and what it is made of, may be. */
export interface PreviewLimits {
  /** Longest edge in pixels. An image is never enlarged. */
  maxEdge: number;
  /** Largest size of the rendered image as base64, in bytes. */
  maxEncodedBytes: number;
  /**
   * Largest source image in pixels, read from its header before anything is decoded. A previewer may take more of a format
   * that it never holds as a whole.
   */
  maxPixels: number;
  /** Longest text, in UTF-16 code units. */
  maxText: number;
  /** Most lines of that text, each of which may be cut. */
  maxLines: number;
}

/** What a file's content says about itself. A member is absent when it does not apply or is not known. */
export interface ContentFacts {
  /** Of an image, upright. */
  pixels?: Size;
  /** Of a document. */
  pages?: number;
  /** Of an animation. */
  frames?: number;
  /** In a file of several images, such as a scan. */
  images?: number;
  /** Of audio and video, as their header says. */
  seconds?: number;
  /** Files and folders in an archive, as its directory says. */
  entries?: number;
  /** It cannot be read without a password. */
  isLocked?: true;
}

/** Pixels. */
export interface Size {
  width: number;
  height: number;
}

/** A picture that stands for a file. */
export interface PreviewImage extends Size {
  mimeType: 'image/png' | 'image/jpeg';
  data: Buffer;
}

/** A text that stands for a file. */
export interface PreviewText {
  /** The first lines of the file itself, or the first names in it, one a line. */
  of: 'lines' | 'names';
  text: string;
  /** The text is all there is. */
  isWhole: boolean;
}

/** What is known of a file, and at most one thing to show: an image or a text. */
export interface RenderedPreview {
  facts: ContentFacts;
  image?: PreviewImage;
  text?: PreviewText;
}

/** Why there is no preview. A closed list, so that it can be a metric's label. */
export type PreviewRefusal =
  /** The adapter makes none. */
  | 'disabled'
  /** Too many others wait, or the wait took too long. */
  | 'busy'
  /** Of a type that the adapter cannot preview. */
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

/** Of an image that is refused for its pixels: how many it has, upright, and how many it may have. */
export interface PixelExcess {
  pixels: Size;
  allowed: number;
}

/** A preview, or the reason why none was made. */
export type PreviewResult =
  | { kind: 'rendered'; preview: RenderedPreview }
  | { kind: 'refused'; reason: PreviewRefusal; excess?: PixelExcess };

/** Opens a file's bytes, or a range of them. Called only once a renderer is free, so that no connection to the store waits in a queue. */
export type OpenFile = (signal: AbortSignal, range?: ByteRange) => Promise<Readable>;

/** A file that may get a preview. */
export interface PreviewSource {
  /** Shown by the first bytes; for text, which has no signature, as declared. */
  mimeType: string;
  /** Bytes. */
  size: number;
  open: OpenFile;
  /** Takes a piece of the stream back, whole, that is needed no more: its memory is used again. */
  release?: ((piece: Buffer) => void) | undefined;
}

/** Makes previews of untrusted files. Never throws because of a file's content: it refuses. */
export interface Previewer {
  readonly name: string;
  /** True for a type of which this previewer can show something. */
  takes(mimeType: string): boolean;
  /** Bytes up to which it reads every byte of a file of this type; 0 for a type of which it reads parts, or nothing. */
  wholeUpTo(mimeType: string): number;
  /**
   * Reads the streams from `open` to their ends or destroys them. Never rejects.
   * @param owner the file's owner: owners take turns
   */
  render(source: PreviewSource, limits: PreviewLimits, signal: AbortSignal, owner?: Owner): Promise<PreviewResult>;
  /** Resolves when previews can be made; otherwise rejects with the reason. */
  check(): Promise<void>;
  /** Ends every process. Refuses the renderings under way. */
  close(): Promise<void>;
}

/** What a previewer gets besides its settings. */
export interface PreviewerDeps {
  log: Log;
  /** The environment of its child process; adapters never read the environment themselves. */
  inheritedEnv: Readonly<Record<string, string>>;
}
