import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.js';

/**
 * A request's body as it arrives, at the reader's pace. It never ends early in silence, and when its reader stops
 * reading, an answer can still be sent.
 * @param begin called before the first byte is waited for
 * @throws GatewayError `upload_incomplete` when the client goes away, `idle_timeout` when it falls silent
 */
export async function* received(
  request: IncomingMessage,
  { idleMs, begin }: { idleMs: number; begin: () => void },
): AsyncGenerator<Buffer> {
  // Not the request's own iterator: that destroys the connection when it is left early.
  const chunks: Buffer[] = [];
  let isOver = request.readableEnded || request.destroyed;
  let wake = () => {};
  const onData = (chunk: Buffer) => {
    request.pause();
    chunks.push(chunk);
    wake();
  };
  const onOver = () => {
    isOver = true;
    wake();
  };
  /** @returns false when nothing came in time */
  const wait = () =>
    new Promise<boolean>((resolve) => {
      // only waiting for the client counts, not the reader's own pauses
      const timer = setTimeout(() => resolve(false), idleMs);
      wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
      request.resume();
    });
  const unlisten = listen(request, onData, onOver);
  try {
    begin();
    for (;;) {
      const chunk = chunks.shift();
      if (chunk) yield chunk;
      else if (isOver && request.complete) return;
      else if (isOver) throw new GatewayError('upload_incomplete', { reason: 'uploadIncomplete' });
      else if (!(await wait())) throw new GatewayError('idle_timeout', { limit: 'timeouts.idle', allowed: idleMs });
    }
  } finally {
    unlisten();
    request.pause();
  }
}

function listen(request: IncomingMessage, onData: (chunk: Buffer) => void, onOver: () => void): () => void {
  request.on('data', onData);
  // a body without bytes must be asked for too, or its end never comes
  request.pause();
  const events = ['end', 'error', 'close'] as const;
  for (const event of events) request.on(event, onOver);
  return () => {
    request.off('data', onData);
    for (const event of events) request.off(event, onOver);
  };
}
