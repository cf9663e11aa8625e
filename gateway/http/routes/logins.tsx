import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { getCookie } from 'hono/cookie';
import { asGatewayError, GatewayError } from '../../errors.js';
import type { Log } from '../../ports/log.js';
import { type Browser, clientDocument, type Logins } from '../../upstream-auth/logins.js';
import { callerOf } from '../caller.js';
import { LoginEndPage, LoginPage } from '../pages/login-pages.js';
import { page } from '../pages/page-response.js';

export interface LoginDeps {
  logins: Logins;
  /** Whether people log in at any server of now. */
  areUsed: () => boolean;
  baseUrl: () => string;
  log: Log;
  refused: (error: GatewayError, request: IncomingMessage) => void;
}

type Env = { Bindings: HttpBindings };

/**
 * Ties a login to the browser that has begun it. With https under a name that a page of a neighbouring host cannot set
 * (RFC 6265bis §4.1.3.2): it could give a browser a cookie that it knows, and with it the end of a login that it has begun.
 */
const COOKIE = 'wharf-login';
const HOST_COOKIE = `__Host-${COOKIE}`;

/** Any other value is not Wharf's, and may not even stand in a header. */
const COOKIE_VALUE = /^[\w-]{43}$/;

/** As long as a login takes at most. */
const COOKIE_SECONDS = 600;

/** A person's own login at a server: the page with the link, and where the browser comes back to. */
export function logins({ logins: all, areUsed, baseUrl, log, refused }: LoginDeps): Hono<Env> {
  const app = new Hono<Env>();
  app.get('/oauth/login/:ticket', async (c) =>
    answered(c, async () => {
      const cookie = cookieIn(c, baseUrl()) ?? randomBytes(32).toString('base64url');
      const login = await all.open(c.req.param('ticket'), cookie, browserOf(c));
      if (!login) return unknown(c);
      const { server, principal, url } = login;
      return page(<LoginPage server={server} principal={principal} url={url} />, 200, {
        'set-cookie': cookieOf(cookie, baseUrl()),
      });
    }),
  );
  app.get('/oauth/callback', async (c) =>
    answered(c, async () => {
      const end = await all.finish(new URL(c.req.url).searchParams, cookieIn(c, baseUrl()), browserOf(c));
      if (end.kind === 'unknown') return unknown(c);
      if (end.kind === 'refused') return page(<LoginEndPage kind="refused" />, 403);
      if (end.kind === 'changed') {
        log.warn({ server: end.server }, 'a login at a server was given up: a reload has changed how people log in');
        return page(<LoginEndPage kind="changed" server={end.server} />, 409);
      }
      log.info({ server: end.server }, 'a person has logged in at a server');
      return page(<LoginEndPage kind="done" server={end.server} />, 200);
    }),
  );
  app.get('/.well-known/wharf-client.json', (c) =>
    areUsed() ? Response.json(clientDocument(baseUrl())) : c.notFound(),
  );

  function unknown(c: Context<Env>): Response {
    refused(new GatewayError('link_unknown', { reason: 'fileNotFound' }), c.env.incoming as IncomingMessage);
    return page(<LoginEndPage kind="unknown" />, 404);
  }

  async function answered(c: Context<Env>, answer: () => Promise<Response>): Promise<Response> {
    try {
      return await answer();
    } catch (thrown) {
      const error = asGatewayError(thrown);
      log.warn({ code: error.code, err: error.cause ?? error }, 'a login at a server failed');
      refused(error, c.env.incoming as IncomingMessage);
      return page(<LoginEndPage kind="failed" why={error.message} />, error.httpStatus as 502);
    }
  }
  return app;
}

function browserOf({ env }: Context<Env>): Browser {
  const { address, agent: client } = callerOf(env.incoming);
  return { address, client };
}

const isSecure = (base: string) => base.startsWith('https:');

function cookieIn(c: Context<Env>, base: string): string | undefined {
  const value = getCookie(c, isSecure(base) ? HOST_COOKIE : COOKIE);
  return value !== undefined && COOKIE_VALUE.test(value) ? value : undefined;
}

function cookieOf(value: string, base: string): string {
  const attributes = `HttpOnly; SameSite=Lax; Max-Age=${COOKIE_SECONDS}`;
  // such a name is good only for the whole host
  if (isSecure(base)) return `${HOST_COOKIE}=${value}; ${attributes}; Path=/; Secure`;
  const path = new URL(base).pathname.replace(/\/$/, '');
  return `${COOKIE}=${value}; ${attributes}; Path=${path}/oauth/`;
}
