import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { GatewayError } from '../../errors.js';
import type { ConsoleUser } from '../../ports/console.js';
import { consolePage, KeyPage, ProblemPage } from '../console/console-layout.js';
import type { ConsoleLogins } from '../console/console-logins.js';
import { retryAfterOf } from '../error-response.js';
import { isPageVisit } from '../origin/browser-request.js';

export type ConsoleEnv = { Bindings: HttpBindings };
export type ConsoleContext = Context<ConsoleEnv>;

/** What a page is made as: its content, or a whole answer. */
type Made = Response | { toString(): string };

/** Who may see and do what at the console. */
export class ConsoleAccess {
  readonly #logins: ConsoleLogins;

  constructor(logins: ConsoleLogins) {
    this.#logins = logins;
  }

  /** @throws GatewayError `console_login`, `console_tries` */
  userOf({ env, req }: ConsoleContext): ConsoleUser {
    return this.#logins.find(
      { cookie: req.header('cookie'), authorization: req.header('authorization') },
      env.incoming.socket.remoteAddress ?? '',
    );
  }

  /** A user who may do more than look. @throws GatewayError `console_role`, and those of `userOf` */
  operatorOf(c: ConsoleContext): ConsoleUser {
    const user = this.userOf(c);
    this.#checkRole(user, c);
    return user;
  }

  /** A page for a user; for another caller the page that asks for a key. */
  shown(make: (user: ConsoleUser, c: ConsoleContext) => Promise<Made>) {
    return async (c: ConsoleContext): Promise<Response> => {
      let user: ConsoleUser;
      try {
        user = this.userOf(c);
      } catch (error) {
        if (!isVisit(c)) throw error;
        return keyPage(error, { to: placeOf(c) });
      }
      try {
        const made = await make(user, c);
        return made instanceof Response ? made : consolePage(made);
      } catch (error) {
        return problemPage(error, user, c);
      }
    };
  }

  /** What an operator does by a form. A page stays open longer than its login lasts: then nothing is done, and it says so. */
  done(make: (user: ConsoleUser, c: ConsoleContext) => Promise<Response>) {
    return async (c: ConsoleContext): Promise<Response> => {
      let user: ConsoleUser;
      try {
        user = this.userOf(c);
      } catch (error) {
        if (!isForPerson(c)) throw error;
        return keyPage(error, { problem: ENDED, to: placeBefore(c) });
      }
      try {
        this.#checkRole(user, c);
        return await make(user, c);
      } catch (error) {
        return problemPage(error, user, c);
      }
    };
  }

  /** @throws GatewayError `console_role` */
  #checkRole(user: ConsoleUser, { env, req }: ConsoleContext): void {
    this.#logins.checkRole(user, env.incoming.socket.remoteAddress ?? '', req.path);
  }

  /** Data for any user. */
  told(make: (c: ConsoleContext, user: ConsoleUser) => unknown) {
    return async (c: ConsoleContext): Promise<Response> => {
      const user = this.userOf(c);
      return c.json(await make(c, user), 200, { 'cache-control': 'no-store' });
    };
  }
}

/** Whether a person opens a page. */
export const isVisit = ({ env }: ConsoleContext): boolean => isPageVisit(env.incoming.method, env.incoming.headers);

/** Whether a browser asks, also by a form. */
const isForPerson = ({ req }: ConsoleContext): boolean => /\btext\/html\b/i.test(req.header('accept') ?? '');

/** What a part of Wharf lacks now, on a page for a person. @throws what is a fault, or goes to a program */
function problemPage(thrown: unknown, user: ConsoleUser, c: ConsoleContext): Response {
  const error = problemFor(thrown, c);
  return failurePage(<ProblemPage user={user} path={c.req.path} problem={error.forOperator} />, error);
}

/** The page that asks for a key again, with what became of a login. @throws what is a fault, or goes to a program */
export function loginPage(thrown: unknown, c: ConsoleContext, to: string | undefined): Response {
  if (isAboutKey(thrown)) return keyPage(thrown, { problem: 'This key is not one of a user of the console.', to });
  const error = problemFor(thrown, c);
  return failurePage(<KeyPage problem={error.message} to={to} />, error);
}

function failurePage(content: { toString(): string }, error: GatewayError): Response {
  const retryAfter = retryAfterOf(error);
  return consolePage(content, error.httpStatus, retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) });
}

/** @throws what a page for a person does not show */
function problemFor(thrown: unknown, c: ConsoleContext): GatewayError {
  if (!isForPerson(c) || !(thrown instanceof GatewayError) || thrown.code === 'internal') throw thrown;
  return thrown;
}

function isAboutKey(thrown: unknown): thrown is GatewayError {
  return thrown instanceof GatewayError && thrown.code.startsWith('console_');
}

/** To a person whose login has ended meanwhile. */
const ENDED = 'Your login has ended, and nothing was done. Log in, and do it again.';

/** Longest address of a page that a login leads back to. */
const MAX_PLACE = 1024;

/** The page that was asked for, with its filters, to be shown after a login. */
function placeOf({ req }: ConsoleContext): string | undefined {
  const { pathname, search } = new URL(req.url);
  return `${pathname}${search}`.length > MAX_PLACE ? undefined : `${pathname}${search}`;
}

/** The page on which a form was. */
function placeBefore({ req }: ConsoleContext): string | undefined {
  const page = req.header('referer') ?? '';
  if (!URL.canParse(page)) return undefined;
  const { pathname, search } = new URL(page);
  return placeAfter(`${pathname}${search}`);
}

/** Where a login leads. A form may name any address: only a page of the console is taken. */
export function placeAfter(to: string | null): string {
  return to !== null && to.length <= MAX_PLACE && /^\/(?![/\\])[\x21-\x7e]*$/.test(to) ? to : '/';
}

/** The page that asks for a key, and says why. @throws what is not about that */
function keyPage(thrown: unknown, { problem, to }: { problem?: string; to?: string | undefined } = {}): Response {
  if (!isAboutKey(thrown)) throw thrown;
  const isLocked = thrown.code === 'console_tries';
  const said = isLocked ? `Too many wrong keys. Try again in ${thrown.facts.retryAfter} s.` : problem;
  const headers = isLocked ? { 'retry-after': String(thrown.facts.retryAfter) } : undefined;
  return consolePage(<KeyPage problem={said} to={to} />, thrown.httpStatus, headers);
}
