import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type Inflate,
  type InflateRaw,
} from 'node:zlib';
import { type Ledger, refusalFacts } from '../../../gateway/budget/ledger.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { Answer } from '../../http/answer.js';
import { CountedWindow } from './window.js';

/** Up to this many decoded bytes any ratio passes: short JSON full of blanks is harmless. */
const FREE_BYTES = 1024 * 1024;

/** The low half of zlib's first byte, which names its method. Raw deflate would have to fill up a byte with other bits than 0. */
const ZLIB_METHOD = 8;
const METHOD_BITS = 0x0f;

/**
 * `deflate` is deflate inside of zlib (RFC 9110), but many servers send it bare, and browsers and curl take both. Which of
 * them it is, its first byte says.
 */
class EitherInflate extends Transform {
  #inner: Inflate | InflateRaw | undefined;

  /** Bytes that are decoded so far. */
  get bytesWritten(): number {
    return this.#inner?.bytesWritten ?? 0;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    if (chunk.length === 0) callback();
    else {
      this.#inner ??= this.#begin(chunk[0] as number);
      this.#inner.write(chunk, callback);
    }
  }

  override _flush(callback: TransformCallback): void {
    if (!this.#inner) callback();
    else this.#inner.once('end', callback).end();
  }

  override _read(size: number): void {
    this.#inner?.resume();
    super._read(size);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#inner?.destroy();
    callback(error);
  }

  #begin(first: number): Inflate | InflateRaw {
    const inner = (first & METHOD_BITS) === ZLIB_METHOD ? createInflate() : createInflateRaw();
    inner.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) inner.pause();
    });
    inner.on('error', (error) => this.destroy(error));
    // Node's decoder ends before its input where something follows the compressed bytes, and then takes no more
    inner.on('end', () => this.push(null));
    return inner;
  }
}

const DECODERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: () => new EitherInflate(),
  br: createBrotliDecompress,
} as const;

type Decoder = ReturnType<(typeof DECODERS)[keyof typeof DECODERS]>;

function isKnown(coding: string): coding is keyof typeof DECODERS {
  return Object.hasOwn(DECODERS, coding);
}

/** zlib's codes for input that ended too soon, from inflate and from brotli. */
function isCutShort(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR' || error.message === 'unexpected end of file';
}

/** What bounds the decoding of an answer. */
interface Bounds {
  /** The server's name in the config. */
  server: string;
  /** Whose answer it is. */
  principal?: string | undefined;
  /** `limits.codingRatio`: decoded bytes per encoded byte, checked after the first 1 MiB. */
  ratio: number;
  /** Counts what decoders keep of what they have decoded, where it is much; absent where one answer is asked for. */
  windows?: Ledger | undefined;
}

/** Compares the size of a decoder's output with its input, and turns the decoder's errors into their public form. */
class DecodedGuard extends Transform {
  readonly #server: string;
  readonly #decoder: Decoder;
  readonly #ratio: number;
  readonly #window: CountedWindow | undefined;
  #decoded = 0;

  constructor({ server, ratio }: Bounds, decoder: Decoder, window: CountedWindow | undefined) {
    super();
    this.#server = server;
    this.#decoder = decoder;
    this.#ratio = ratio;
    this.#window = window;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    this.#decoded += chunk.length;
    const encoded = Math.max(1, this.#decoder.bytesWritten);
    const refusal = this.#window?.grow(this.#decoded);
    if (refusal) callback(new GatewayError('held_full', refusalFacts(refusal)));
    else if (this.#decoded <= FREE_BYTES || this.#decoded <= encoded * this.#ratio) callback(null, chunk);
    else {
      const facts = { limit: 'limits.codingRatio', allowed: this.#ratio, actual: Math.ceil(this.#decoded / encoded) };
      callback(new GatewayError('upstream_coding_limit', { server: this.#server, ...facts }));
    }
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#window?.release();
    callback(error === null || error instanceof GatewayError ? error : this.#failure(error));
  }

  #failure(error: Error): GatewayError {
    if (isCutShort(error)) return new GatewayError('upstream_closed', { server: this.#server }, error);
    const reason = 'its answer does not have the content coding it names';
    return new GatewayError('upstream_invalid', { server: this.#server, reason }, error);
  }
}

/** The only content coding of an answer, lower-case; undefined for none. */
export function codingOf(answer: Answer): string | undefined {
  const header = answer.headers['content-encoding'] as string | undefined;
  if (header === undefined) return undefined;
  const coding = header.trim().toLowerCase();
  return coding === '' || coding === 'identity' ? undefined : coding;
}

/**
 * The decoded body. Wharf requests `identity`, but accepts an upstream that compresses anyway with one known coding. A
 * chain of codings would multiply what a few bytes can become.
 * @throws GatewayError `upstream_coding`; the stream fails with `upstream_coding_limit`, `held_full`, `upstream_closed`,
 * `upstream_invalid`
 */
export function decodeBody(answer: Answer, coding: string, bounds: Bounds): Readable {
  const { server, principal, windows } = bounds;
  if (!isKnown(coding)) {
    answer.destroy();
    throw new GatewayError('upstream_coding', { server, coding: coding.slice(0, 64) });
  }
  const decoder = DECODERS[coding]();
  // the others keep 32 KiB
  const window = coding === 'br' && windows ? new CountedWindow(windows, { server, principal }) : undefined;
  const guard = new DecodedGuard(bounds, decoder, window);
  // the guard is the last of them and passes every error to its reader
  const steps = [answer.body, ...(window ? [window.seen()] : []), decoder, guard];
  pipeline(steps, () => undefined);
  return guard;
}
