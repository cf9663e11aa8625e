/**
 * What an operator's proxy may do to requests and answers, tried by `wharf doctor`: it asks these paths through
 * publicUrl, and a Wharf with the same secret answers, or the doctor itself in Wharf's place.
 *
 *     GET  /check/TOKEN          the token
 *     GET  /check/TOKEN/stream   an event stream with a second, and then a silence, between its events
 *     POST /check/TOKEN          how many bytes arrived
 */
export const CHECK_PATH = '/check';

/** A token proves knowledge of Wharf's secret, for so long. */
export const TOKEN_MS = 60_000;

/** `1763860000000.<HMAC of that text>` */
export const TOKEN = /^(\d{13})\.([\w-]{43})$/;

/** Between the first two events: a proxy that gathers what it passes on makes them arrive together. */
export const PAUSE_MS = 1000;

/** Before the last event. Wharf writes a comment into a silent stream every 15 s, so that no silence is longer. */
export const SILENCE_MS = 15_500;

/** Size of the body that is sent on trial: five times nginx's default limit. */
export const BODY_BYTES = 5 * 1024 * 1024;

/** The events of the stream, each at its time. @param sleep resolves after so many milliseconds */
export async function* checkEvents(sleep: (ms: number) => Promise<unknown>): AsyncGenerator<Uint8Array> {
  const event = (name: string) => Buffer.from(`event: ${name}\ndata: {}\n\n`);
  yield event('first');
  await sleep(PAUSE_MS);
  yield event('second');
  await sleep(SILENCE_MS);
  yield event('last');
}

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  // nginx passes on at once what says so, as Wharf's streams do
  'x-accel-buffering': 'no',
  'cache-control': 'no-cache',
};
