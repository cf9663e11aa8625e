import type { IncomingMessage } from 'node:http';
import type { HeldRequest } from '../budget/held.js';
import { readBuffered } from '../budget/memory/buffered.js';
import { Pace } from '../budget/pace.js';
import { beginStep, isTurnOver, nextTurn } from '../budget/turn.js';
import { GatewayError } from '../errors.js';
import { idIn, idInLong } from '../mcp/request-id.js';
import type { TooLongArgument } from '../mcp/shortened-body.js';
import type { Limits, Timeouts } from '../policy/limits.js';
import type { Owner } from '../ports/owner.js';
import { IncomingBody } from '../relay/client/incoming-body.js';
import { refuseCodings } from './codings.js';

interface BodyLimits {
  limits: Limits;
  timeouts: Pick<Timeouts, 'idle' | 'grace'>;
  /** Whose work it is. */
  owner: Owner;
  /** Counts against `limits.held`; the caller releases it when the exchange ends. */
  held: HeldRequest;
  /** Called with the id, as JSON text, of a request that is refused before all of it has arrived. */
  refused: (id: string | undefined) => void;
  /** Called once the body is wanted: its client may wait for that. */
  wanted: () => void;
}

/** The whole body of a POST. */
interface ReceivedBody {
  bytes: Buffer;
  /** An argument that was too long to be kept; it is empty in `bytes`. */
  tooLong: TooLongArgument | undefined;
}

/**
 * Reads the body of a POST.
 * @throws GatewayError `message_too_large`, `argument_too_large`, `too_deep`, `held_full`, `unsupported_media_type`,
 * `unsupported_coding`, `idle_timeout`, `body_too_slow`
 */
export async function readBody(request: IncomingMessage, given: BodyLimits): Promise<ReceivedBody> {
  const { limits, held } = given;
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new GatewayError('unsupported_media_type', { expected: 'application/json' });
  }
  refuseCodings(request);
  given.wanted();
  const body = new IncomingBody(limits, held);
  await restOfPacket();
  beginStep(given.owner);
  return request.complete ? takeComplete(request, body, given) : takeAsItComes(request, body, given);
}

/**
 * Node calls its handler before it parses the rest of the packet, and runs ticks and promises in between: a short message
 * is complete when what has been read is parsed.
 */
function restOfPacket(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Without a timer and listeners, which cost more than all else that is done for a short message. */
function takeComplete(request: IncomingMessage, body: IncomingBody, { refused }: BodyLimits): ReceivedBody {
  const bytes = readBuffered(request);
  try {
    if (bytes) body.take(bytes);
  } catch (error) {
    refused(idIn(body.pieces));
    throw error;
  }
  return { bytes: body.whole(), tooLong: body.tooLong };
}

function takeAsItComes(
  request: IncomingMessage,
  body: IncomingBody,
  { limits, timeouts, owner, held, refused }: BodyLimits,
): Promise<ReceivedBody> {
  if (request.destroyed) throw new GatewayError('request_invalid', { reason: 'the body broke off' });
  return new Promise((resolve, reject) => {
    let isOver = false;
    const refuse = (error: unknown) => {
      isOver = true;
      pace.end();
      body.clear();
      held.release();
      request.removeAllListeners('data');
      request.pause();
      reject(error);
    };
    const pace = bodyPace(request, { limits, timeouts }, refuse);
    const refuseRequest = async (error: unknown) => {
      pace.end();
      request.removeAllListeners('data');
      request.pause();
      refused(await idInLong(body.pieces, owner));
      refuse(error);
    };
    /** Takes up what has come in later turns, and only then more. */
    const goOnLater = async () => {
      request.pause();
      pace.rest();
      try {
        do {
          await nextTurn(owner);
          if (isOver) return;
        } while (!body.catchUp());
      } catch (error) {
        return refuseRequest(error);
      }
      pace.want();
      request.resume();
    };
    request.on('data', (chunk: Buffer) => {
      pace.took(chunk.length);
      beginStep(owner);
      try {
        body.add(chunk);
        // one read from the socket may deliver many of them
        if (body.catchUp() && !isTurnOver()) return;
      } catch (error) {
        void refuseRequest(error);
        return;
      }
      void goOnLater();
    });
    request.once('end', () => {
      isOver = true;
      pace.end();
      try {
        const bytes = body.whole();
        resolve({ bytes, tooLong: body.tooLong });
      } catch (error) {
        reject(error);
      }
    });
    request.once('error', () => refuse(new GatewayError('request_invalid', { reason: 'the body broke off' })));
    request.once('close', () => {
      if (!request.complete) refuse(new GatewayError('request_invalid', { reason: 'the body broke off' }));
    });
    pace.want();
  });
}

interface PaceLimits {
  limits: Pick<Limits, 'leastRate'>;
  timeouts: Pick<Timeouts, 'idle' | 'grace'>;
}

/** Watches a client that sends a body. @param tooSlow called once with `idle_timeout` or `body_too_slow` */
export function bodyPace(
  { headers }: Pick<IncomingMessage, 'headers'>,
  { limits: { leastRate }, timeouts: { idle, grace } }: PaceLimits,
  tooSlow: (error: GatewayError) => void,
): Pace {
  return new Pace({ idleMs: idle, leastRate, graceMs: grace }, (slowness) => {
    if (slowness.kind === 'silent') {
      const announced = Number(headers['content-length'] ?? Number.NaN);
      // a length in characters, where it should be in bytes, is shorter or longer than what comes
      const lack = announced > slowness.came ? { came: slowness.came, announced } : {};
      tooSlow(new GatewayError('idle_timeout', { limit: 'timeouts.idle', allowed: idle, ...lack }));
    } else
      tooSlow(
        new GatewayError('body_too_slow', { limit: 'limits.leastRate', allowed: leastRate, actual: slowness.rate }),
      );
  });
}
