import { connect } from 'node:net';
import { rawPost, type Session } from './client.js';

const READ_BYTES = 1024;

/**
 * Sends a message and reads its answer slowly for a while, then hangs up.
 * @param bytesPerSecond reads of 1 KiB are spread evenly
 * @returns bytes read
 */
export function readSlowly(
  session: Session,
  message: unknown,
  options: { bytesPerSecond: number; seconds: number; before: (read: number) => Promise<void> },
): Promise<number> {
  return new Promise((resolve, reject) => {
    let read = 0;
    const pause = (READ_BYTES / options.bytesPerSecond) * 1000;
    const socket = connect({
      host: session.url.hostname,
      port: Number(session.url.port),
      onread: {
        buffer: Buffer.allocUnsafeSlow(READ_BYTES),
        callback: (count) => {
          read += count;
          setTimeout(() => socket.resume(), pause);
          return false;
        },
      },
    });
    socket.on('connect', () => socket.write(rawPost(session, message)));
    socket.on('error', reject);
    setTimeout(() => {
      options
        .before(read)
        .then(() => socket.destroy())
        .then(() => resolve(read), reject);
    }, options.seconds * 1000);
  });
}
