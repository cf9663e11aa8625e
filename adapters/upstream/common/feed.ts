import type { Writable } from 'node:stream';
import { GatewayError } from '../../../gateway/errors.js';
import type { StreamedMessage } from '../../../gateway/ports/upstream.js';

/** Most bytes written at once, so that progress shows within a long piece of the source. */
const SLICE_BYTES = 64 * 1024;

/** The sending end of a connection to an upstream: node's Writable, or what stands for a part of it. */
export interface Sink extends Pick<Writable, 'destroyed' | 'closed'> {
  write(bytes: Buffer, done?: (error?: Error | null) => void): boolean;
  on(event: 'drain' | 'finish' | 'close', listener: () => void): unknown;
  off(event: 'drain' | 'finish' | 'close', listener: () => void): unknown;
}

interface FeedOptions {
  /** Longest time in which the sink takes nothing, in milliseconds. */
  stallMs: number;
  /** True when the rest is no longer wanted. */
  isOver: () => boolean;
  /** Changes a slice before it is written. */
  prepare?: (slice: Buffer) => Buffer;
}

/** How the feeding ended; `written` counts the bytes that went into the sink. */
type Fed =
  | { end: 'complete'; written: number }
  | { end: 'over'; written: number }
  | { end: 'stalled'; written: number }
  | { end: 'source failed'; written: number; error: unknown };

/**
 * Resolves true when one of the events occurs and false when none does in time. A sink that closes causes one of them,
 * so the wait always ends.
 */
function happens(sink: Sink, event: 'drain' | 'finish', ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (result: boolean): void => {
      clearTimeout(timer);
      sink.off(event, happened);
      sink.off('close', happened);
      resolve(result);
    };
    const happened = (): void => settle(true);
    const timer = setTimeout(() => settle(false), ms);
    sink.on(event, happened);
    sink.on('close', happened);
    if (sink.closed) happened();
  });
}

/**
 * Writes a streamed message into a sink at the sink's pace. Holds at most one piece of the source. The last byte waits
 * until the source has ended without an error: a receiver that counts must not accept a message that then turns out to
 * be bad.
 */
export async function feed(message: StreamedMessage, sink: Sink, options: FeedOptions): Promise<Fed> {
  const { stallMs, isOver, prepare } = options;
  const { length } = message;
  let last: Buffer | undefined;
  let written = 0;
  const wrongLength = (): Fed => {
    const cause = new Error(`a streamed message that says it has ${length} bytes has another length`);
    return { end: 'source failed', written, error: new GatewayError('internal', {}, cause) };
  };
  /** Undefined when all bytes were taken. */
  const write = async (bytes: Buffer): Promise<Fed | undefined> => {
    const sent = (error?: Error | null): void => {
      if (!error) message.release?.(bytes);
    };
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
      if (isOver()) return { end: 'over', written };
      const slice = bytes.subarray(at, at + SLICE_BYTES);
      written += slice.length;
      const isLast = at + SLICE_BYTES >= bytes.length;
      // a sink writes in order: after its last slice, all of a piece has been sent
      if (sink.write(prepare ? prepare(slice) : slice, isLast ? sent : undefined)) continue;
      if (!(await happens(sink, 'drain', stallMs))) return { end: isOver() ? 'over' : 'stalled', written };
    }
    return undefined;
  };
  try {
    for await (const piece of message.read()) {
      if (piece.length === 0) continue;
      if (written + piece.length > length || last) return wrongLength();
      if (written + piece.length === length) last = Buffer.from(piece.subarray(-1));
      const stopped = await write(last ? piece.subarray(0, -1) : piece);
      if (stopped) return stopped;
    }
  } catch (error) {
    return isOver() ? { end: 'over', written } : { end: 'source failed', written, error };
  }
  if (isOver()) return { end: 'over', written };
  if (!last) return written < length ? wrongLength() : { end: 'complete', written };
  return (await write(last)) ?? { end: 'complete', written };
}
