import { timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { BODY_BYTES, CHECK_PATH, checkEvents, STREAM_HEADERS, TOKEN, TOKEN_MS } from '../../doctor/way-check.js';
import type { Clock } from '../../ports/clock.js';
import type { StateKeys } from '../../secrets/state-keys.js';

type Env = { Bindings: HttpBindings };

export interface WayCheckDeps {
  keys: Pick<StateKeys, 'seals'>;
  clock: Clock;
}

/** For `wharf doctor` alone, which has Wharf's secret: for every other caller these paths do not exist. */
export function wayCheck({ keys, clock }: WayCheckDeps): Hono<Env> {
  const app = new Hono<Env>();
  const isOurs = (token: string) => {
    const [, time = '', hmac = ''] = TOKEN.exec(token) ?? [];
    const given = Buffer.from(hmac, 'base64url');
    // every secret is compared, in constant time
    const fits = keys.seals('check', time).filter((own) => own.length === given.length && timingSafeEqual(own, given));
    return fits.length > 0 && Math.abs(clock.now() - Number(time)) <= TOKEN_MS;
  };
  const only = (answer: (c: Context<Env>) => Response | Promise<Response>) => (c: Context<Env>) =>
    isOurs(c.req.param('token') ?? '') ? answer(c) : c.notFound();
  app.get(
    `${CHECK_PATH}/:token`,
    only((c) => c.text(c.req.param('token') ?? '')),
  );
  app.get(
    `${CHECK_PATH}/:token/stream`,
    only(({ env }) => {
      const gone = new AbortController();
      env.outgoing.once('close', () => gone.abort());
      const events = checkEvents((ms) => sleep(ms, undefined, { signal: gone.signal }));
      return new Response(streamOf(events), { headers: STREAM_HEADERS });
    }),
  );
  app.post(
    `${CHECK_PATH}/:token`,
    only(async (c) => {
      let size = 0;
      for await (const piece of c.env.incoming as AsyncIterable<Buffer>) {
        size += piece.length;
        if (size > BODY_BYTES) break;
      }
      return c.text(String(size));
    }),
  );
  return app;
}

/** Ends quietly when the reader has gone. */
function streamOf(events: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const next = await events.next().catch(() => undefined);
      if (next === undefined || next.done) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await events.return(undefined);
    },
  });
}
